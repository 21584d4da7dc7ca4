import type { ChannelClient } from '../../comm/client';
import type { NotebookRef } from '../../generated/wire';
import { externalAgent, isConnected } from '../externalagent';
import { pendingAsk, takesText } from '../pendingask';
import { modelSetup } from '../modelsetup';
import type { AgentStore } from '../store';
import type { IDraft, PanelState } from './panelstate';
import { alongWith } from './attachments';

/**
 * What becomes of a message that is sent now.
 */
export type Destination =
  | { readonly kind: 'newTask' }
  | {
      /**
       * It answers what the agent asked.
       */
      readonly kind: 'answer';
      readonly taskId: string;
      readonly ts: number;
    }
  | {
      /**
       * It waits until the agent has time, and approves nothing.
       */
      readonly kind: 'queue';
      readonly taskId: string;
    }
  | {
      /**
       * It wakes a conversation that rests.
       */
      readonly kind: 'goOn';
      readonly taskId: string;
    }
  | {
      /**
       * Another agent gets it with the result of its next step.
       */
      readonly kind: 'agent';
      readonly taskId: string;
    };

/**
 * What becomes of a message that is sent now.
 */
export function destination(store: AgentStore): Destination {
  const taskId = store.state?.currentTaskId;
  if (!taskId) {
    return { kind: 'newTask' };
  }
  if (externalAgent(store) !== null) {
    return { kind: 'agent', taskId };
  }
  const ask = pendingAsk(store);
  if (ask && takesText(ask)) {
    return { kind: 'answer', taskId, ts: ask.ts };
  }
  return ask !== null || isWorking(store)
    ? { kind: 'queue', taskId }
    : { kind: 'goOn', taskId };
}

/**
 * Whether there is something to stop in the conversation on screen.
 */
export function isWorking({ state }: AgentStore): boolean {
  switch (state?.currentTaskStatus) {
    case 'running':
    case 'interactive':
      return true;
    default:
      // It waits for its subtask, which may be stopped through it.
      return state?.currentTaskItem?.status === 'delegated';
  }
}

/**
 * Why nothing can be sent; `null` if something can.
 */
export type SendBlocker =
  | { readonly kind: 'offline' }
  | { readonly kind: 'noModel' }
  | {
      /**
       * The other agent whose conversation it is has left.
       */
      readonly kind: 'agentGone';
      readonly agent: string;
    }
  | { readonly kind: 'forbidden'; readonly provider: string };

/**
 * Why nothing can be sent; `null` if something can.
 */
export function sendBlocker(store: AgentStore): SendBlocker | null {
  const { connection, state } = store;
  if (connection.phase !== 'open' || state === null) {
    return { kind: 'offline' };
  }
  const agent = externalAgent(store);
  if (agent !== null) {
    return isConnected(store) ? null : { kind: 'agentGone', agent };
  }
  const setup = modelSetup(state);
  if (setup.kind === 'none') {
    return { kind: 'noModel' };
  }
  return setup.allowed ? null : { kind: 'forbidden', provider: setup.provider };
}

/**
 * Whether there is nothing in a draft that could be sent.
 */
export function isBlank({ text, images, attachments }: IDraft): boolean {
  return text.trim() === '' && images.length === 0 && attachments.length === 0;
}

/**
 * What sends a draft.
 */
export interface ISender {
  readonly client: Pick<ChannelClient, 'request'>;
  readonly store: AgentStore;
  readonly state: PanelState;
}

/**
 * Send what is typed in the conversation on screen.
 *
 * @param notebook - What a conversation that begins with it works on.
 *
 * #### Notes
 * The field is empty at once. What could not be sent is put back, and the
 * promise is rejected.
 *
 * @returns The conversation in which what was typed since is; `null` is one
 * that is yet to begin.
 */
export async function sendDraft(
  { client, store, state }: ISender,
  notebook: NotebookRef | null
): Promise<string | null> {
  const to = destination(store);
  const from = to.kind === 'newTask' ? null : to.taskId;
  let into = from;
  const draft = state.takeDraft(from);
  try {
    const taskId = await client.request(
      Private.message(to, draft, notebook, state.approvalChoice)
    );
    if (to.kind === 'newTask') {
      state.approvalChoice = null;
      state.notebookChoice = { kind: 'front' };
      if (typeof taskId === 'string') {
        // What was typed since belongs to the conversation that has begun.
        state.moveDraft(null, taskId);
        into = taskId;
      }
    }
  } catch (reason) {
    state.returnDraft(from, draft);
    throw reason;
  }
  // Wherever one was reading, what one said is at the end.
  state.showNewest();
  if (draft.text.trim() !== '') {
    state.addSent(draft.text.trim());
  }
  return into;
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function message(
    to: Destination,
    draft: IDraft,
    notebook: NotebookRef | null,
    approvalPreset: PanelState['approvalChoice']
  ): ChannelClient.Request {
    const text = draft.text.trim();
    const along = {
      ...(draft.images.length > 0 ? { images: [...draft.images] } : {}),
      ...alongWith(draft.attachments)
    };
    switch (to.kind) {
      case 'newTask':
        return {
          type: 'newTask',
          text,
          ...along,
          ...(notebook ? { notebook } : {}),
          ...(approvalPreset ? { approvalPreset } : {})
        };
      case 'answer':
        return {
          type: 'askResponse',
          taskId: to.taskId,
          messageTs: to.ts,
          askResponse: 'messageResponse',
          text,
          ...along
        };
      case 'queue':
      case 'goOn':
      case 'agent':
        return { type: 'queueMessage', taskId: to.taskId, text, ...along };
    }
  }
}

import type { ClineAsk, ClineMessage } from '../generated/wire';
import type { AgentStore } from './store';

/**
 * A question of the agent.
 */
export type AskMessage = ClineMessage & {
  readonly type: 'ask';
  readonly ask: ClineAsk;
};

/**
 * What waits for the person in the conversation on screen; `null` if nothing does.
 *
 * #### Notes
 * It is the newest whole question without an answer since the model was asked
 * last, of a task that does not work. A question that was refused or withdrawn
 * has an answer too, `isAnswered: false`. Behind it there may be questions of
 * calls whose turn has not come; they are partial until then.
 *
 * The same object is returned as long as the question says the same.
 */
export function pendingAsk(store: AgentStore): AskMessage | null {
  const status = store.state?.currentTaskStatus ?? 'none';
  if (store.state === null || status === 'running') {
    return null;
  }
  return Private.recentAsks(store).find(Private.isOpen) ?? null;
}

/**
 * Hear whenever another question waits, or none does any more.
 *
 * @returns A function that ends it.
 */
export function onPendingAsk(
  store: AgentStore,
  listener: () => void
): () => void {
  // A question is answered, or becomes whole, by a change of its message
  // alone, of which the store's own signal says nothing.
  const watched = new Map<number, () => void>();
  let last = pendingAsk(store);
  const watch = () => {
    const recent = new Set(Private.recentAsks(store).map(({ ts }) => ts));
    for (const [ts, end] of watched) {
      if (!recent.delete(ts)) {
        end();
        watched.delete(ts);
      }
    }
    recent.forEach(ts => watched.set(ts, store.subscribe(ts, look)));
  };
  const look = () => {
    watch();
    const now = pendingAsk(store);
    if (now !== last) {
      last = now;
      listener();
    }
  };
  watch();
  store.changed.connect(look);
  return () => {
    store.changed.disconnect(look);
    watched.forEach(end => end());
    watched.clear();
  };
}

/**
 * Whether words answer a question. While an approval waits, they wait in the
 * queue; to a model that gave no answer, they are said when it is asked again.
 */
export function takesText({ ask }: AskMessage): boolean {
  return Private.WORDS_ANSWER.has(ask);
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const WORDS_ANSWER: ReadonlySet<ClineAsk> = new Set<ClineAsk>([
    'followup',
    'completion_result',
    'resume_task',
    'resume_completed_task',
    'mistake_limit_reached',
    'api_req_failed'
  ]);

  /**
   * How far back is looked: where another agent works, no model is ever asked.
   */
  const MOST_MESSAGES = 500;

  /**
   * The questions since the model was asked or the person spoke, newest first.
   */
  export function recentAsks(store: AgentStore): AskMessage[] {
    const asks: AskMessage[] = [];
    const last = store.order.length - 1;
    const first = Math.max(0, last - MOST_MESSAGES);
    for (let index = last; index >= first; index--) {
      const message = store.message(store.order[index]);
      if (message?.say === 'api_req_started' || isOfPerson(message)) {
        break;
      }
      if (message !== undefined && isAsk(message)) {
        asks.push(message);
      }
    }
    return asks;
  }

  export function isOpen({ isAnswered, partial }: AskMessage): boolean {
    return isAnswered === undefined && partial !== true;
  }

  function isOfPerson(message: ClineMessage | undefined): boolean {
    return message?.say === 'user_feedback';
  }

  function isAsk(message: ClineMessage): message is AskMessage {
    // The work goes on beside the output of a command; a browser was an older kind.
    return (
      message.type === 'ask' &&
      message.ask !== undefined &&
      message.ask !== 'command_output' &&
      message.ask !== 'browser_action_launch'
    );
  }
}

import { historyIcon, linkIcon, terminalIcon } from '@jupyterlab/ui-components';

import type { HistoryItem } from '../../../generated/wire';
import type { IAttachment } from '../../../state/panel/panelstate';
import { checkpointText } from '../../../timeline/checkpointtexts';
import { whenText } from '../../../timeline/timelinetexts';
import { titleOf } from '../../../ui/conversations/opentasks';
import { agentIcon } from '../../../ui/icons/agenticon';
import { documentPath } from '../../../ui/notebookchoice';
import type { IPanelServices } from '../../../ui/services';
import { dateTimeText } from '../../../ui/texts/formats';
import { plainName } from '../../../ui/texts/visibletext';
import { isTerminal, lastLinesOf } from '../../documents/terminaltext';
import { addToDraft } from '../attachments/attachpart';
import type { ISuggestion } from './suggestions';

/**
 * How many checkpoints are looked at, the newest.
 */
const MOST_CHECKPOINTS = 50;

/**
 * How many characters of a terminal go along, the last.
 */
const MOST_CHARACTERS = 20_000;

/**
 * How many conversations a query finds.
 */
const MOST_CONVERSATIONS = 6;

/**
 * Told in words why something was not attached.
 */
type OnRefused = (refusal: string) => void;

/**
 * The other conversations that a query finds, the newest first.
 */
export async function conversationSuggestions(
  services: IPanelServices,
  query: string,
  onRefused: OnRefused
): Promise<ISuggestion[]> {
  const { HistoryApi } = await import('../../../rest/historyapi');
  const { taskHistory } = await new HistoryApi(services.serverSettings).history(
    {
      query,
      sort: query === '' ? 'newest' : 'mostRelevant',
      workspace: null,
      notebook: null,
      favorites: false,
      since: null,
      until: null
    },
    null,
    MOST_CONVERSATIONS
  );
  const here = services.store.state?.currentTaskId;
  return taskHistory
    .filter(({ id, parentTaskId }) => id !== here && !parentTaskId)
    .map(item => Private.conversation(services, item, onRefused));
}

/**
 * The checkpoints of the conversation's workspace, the newest first; nothing
 * where none are kept.
 */
export async function checkpointSuggestions(
  services: IPanelServices,
  onRefused: OnRefused
): Promise<ISuggestion[]> {
  const { notebooks, serverSettings, store, trans } = services;
  const { TimelineApi } = await import('../../../rest/timelineapi');
  const task = store.state?.currentTaskId;
  const panel = notebooks?.currentWidget ?? null;
  const path = panel && !panel.isDisposed ? documentPath(panel) : null;
  const { operations } = await new TimelineApi(serverSettings).view(
    { ...(task ? { task } : path === null ? {} : { path }) },
    { limit: MOST_CHECKPOINTS }
  );
  return operations.flatMap(({ kind, status, checkpoint }) => {
    if (kind !== 'save' || status !== 'done' || !checkpoint) {
      return [];
    }
    const label = trans.__(
      'Checkpoint %1: %2',
      whenText(checkpoint.ts),
      checkpointText(checkpoint, trans)
    );
    return {
      key: `checkpoint:${checkpoint.id}`,
      icon: historyIcon,
      label,
      detail: trans.__('What changed since then'),
      choice: Private.attach(
        services,
        {
          kind: 'checkpoint',
          path: checkpoint.id,
          label,
          content: null
        },
        onRefused
      )
    };
  });
}

/**
 * What the open terminals show.
 */
export function terminalSuggestions(
  services: IPanelServices,
  onRefused: OnRefused
): ISuggestion[] {
  const { tabs, trans } = services;
  return tabs()
    .filter(isTerminal)
    .flatMap(widget => {
      const lines = lastLinesOf(widget)?.trim();
      const name = plainName(widget.title.label);
      return lines
        ? {
            key: `terminal:${widget.id}`,
            icon: terminalIcon,
            label: trans.__('Last output of %1', name),
            detail: lines.slice(lines.lastIndexOf('\n') + 1),
            choice: Private.attach(
              services,
              {
                kind: 'terminal',
                path: widget.title.label,
                label: trans.__('Last output of %1', name),
                content: lines.slice(-MOST_CHARACTERS)
              },
              onRefused
            )
          }
        : [];
    });
}

/**
 * The web page whose address is typed; nothing if none is, or pages may not be
 * read.
 */
export function pageSuggestions(
  services: IPanelServices,
  query: string,
  onRefused: OnRefused
): ISuggestion[] {
  const { store, trans } = services;
  const address = Private.addressIn(query);
  return address !== null && store.state?.settings?.fetchUrlEnabled === true
    ? [
        {
          key: `page:${address}`,
          icon: linkIcon,
          label: address,
          detail: trans.__('Read this web page when you send'),
          choice: Private.attach(
            services,
            {
              kind: 'page',
              path: address,
              label: address,
              content: null
            },
            onRefused
          )
        }
      ]
    : [];
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function conversation(
    services: IPanelServices,
    item: HistoryItem,
    onRefused: OnRefused
  ): ISuggestion {
    const title = titleOf(item, services.trans);
    return {
      key: `conversation:${item.id}`,
      icon: agentIcon,
      label: title,
      detail: services.trans.__('Conversation, %1', dateTimeText(item.ts)),
      choice: attach(
        services,
        {
          kind: 'conversation',
          path: item.id,
          label: title,
          content: null
        },
        onRefused
      )
    };
  }

  export function attach(
    services: IPanelServices,
    attachment: Omit<IAttachment, 'cellId'>,
    onRefused: OnRefused
  ): ISuggestion['choice'] {
    return {
      kind: 'run',
      run: () => {
        const refusal = addToDraft(services, {
          attachments: [{ ...attachment, cellId: null }],
          images: []
        });
        if (refusal !== null) {
          onRefused(refusal);
        }
      }
    };
  }

  /**
   * The whole address of a web page, if that is what a text is.
   */
  export function addressIn(text: string): string | null {
    if (!/^https?:\/\/[^\s/]+\.[^\s]/i.test(text)) {
      return null;
    }
    try {
      return new URL(text).href;
    } catch {
      return null;
    }
  }
}

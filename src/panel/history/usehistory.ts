import * as React from 'react';

import type { HistoryItem } from '../../generated/wire';
import type { IPanelServices } from '../../ui/services';
import { usePanel } from '../../ui/services';
import { HistoryApi } from '../../rest/historyapi';
import { RecallApi } from '../../rest/recallapi';
import { FoundPassages } from './foundpassages';
import { HistoryPages } from './historypages';

/**
 * The list of past conversations while it is on screen; the component is
 * rendered again when anything of it is different.
 *
 * @param limit - How many a page has; `null` leaves that to the server.
 */
export function useHistory(limit: number | null = null): HistoryPages | null {
  const { client, serverSettings } = usePanel();
  const [pages, setPages] = React.useState<HistoryPages | null>(null);
  const [, setRound] = React.useState(0);
  React.useEffect(() => {
    const api = new HistoryApi(serverSettings);
    const list = new HistoryPages({
      load: (filter, cursor) => api.history(filter, cursor, limit),
      client
    });
    const touch = () => setRound(round => round + 1);
    list.changed.connect(touch);
    setPages(list);
    void list.reload();
    return () => list.dispose();
  }, [client, serverSettings, limit]);
  return pages;
}

/**
 * The passages that are found while one looks for something in the list; the
 * component is rendered again when anything of it is different.
 */
export function useFoundPassages(pages: HistoryPages): FoundPassages | null {
  const { client, serverSettings } = usePanel();
  const [passages, setPassages] = React.useState<FoundPassages | null>(null);
  const [, setRound] = React.useState(0);
  React.useEffect(() => {
    const api = new RecallApi(serverSettings);
    const found = new FoundPassages({
      pages,
      search: (query, signal) => api.search(query, signal),
      client
    });
    found.changed.connect(() => setRound(round => round + 1));
    setPassages(found);
    return () => found.dispose();
  }, [client, pages, serverSettings]);
  return passages;
}

/**
 * Subtasks that were fetched because somebody unfolded what they are part of.
 */
export interface ISubtasks {
  readonly known: ReadonlyMap<string, HistoryItem>;

  /**
   * Fetch these; those that do not exist any more stay away.
   */
  readonly load: (taskIds: readonly string[]) => void;
}

/**
 * Subtasks beyond the pages of the list.
 */
export function useSubtasks({
  serverSettings,
  client
}: IPanelServices): ISubtasks {
  const [known, setKnown] = React.useState<ReadonlyMap<string, HistoryItem>>(
    new Map()
  );
  React.useEffect(() => {
    const hear: Parameters<typeof client.messageReceived.connect>[0] = (
      _,
      message
    ) => {
      if (message.type === 'taskHistoryItemUpdated') {
        const item = message.taskHistoryItem;
        setKnown(items =>
          items.has(item.id) ? new Map([...items, [item.id, item]]) : items
        );
      } else if (message.type === 'taskHistoryItemsRemoved') {
        const gone = new Set(message.taskIds);
        setKnown(
          items => new Map([...items].filter(([taskId]) => !gone.has(taskId)))
        );
      }
    };
    client.messageReceived.connect(hear);
    return () => {
      client.messageReceived.disconnect(hear);
    };
  }, [client]);
  const load = React.useCallback(
    (taskIds: readonly string[]) => {
      const api = new HistoryApi(serverSettings);
      for (const taskId of taskIds) {
        api.conversation(taskId).then(
          item => setKnown(items => new Map([...items, [taskId, item]])),
          // A subtask may have been deleted on its own.
          reason => console.warn(`Subtask ${taskId} cannot be listed`, reason)
        );
      }
    },
    [serverSettings]
  );
  return { known, load };
}

import * as React from 'react';

import type { ChannelClient } from '../../comm/client';
import type {
  AggregatedCosts,
  ExtensionMessage,
  HistoryItem
} from '../../generated/wire';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';

/**
 * What a conversation cost together with its subtasks; `null` if it has none,
 * or nobody knows yet.
 */
export function useFamilyCosts(item: HistoryItem): AggregatedCosts | null {
  const { client } = usePanel();
  const [costs, setCosts] = React.useState<AggregatedCosts | null>(null);
  const { id } = item;
  const hasChildren = (item.childIds?.length ?? 0) > 0;
  const cost = item.totalCost;
  React.useEffect(() => setCosts(null), [id]);
  React.useEffect(() => {
    const hear = (_: ChannelClient, message: ExtensionMessage) => {
      if (message.type === 'taskWithAggregatedCosts' && message.text === id) {
        setCosts(message.aggregatedCosts ?? null);
      }
    };
    client.messageReceived.connect(hear);
    return () => {
      client.messageReceived.disconnect(hear);
    };
  }, [client, id]);
  // A subtask's cost goes up while its parent waits, so the parent's own cost
  // is a reason to ask again only when it is the one at work.
  React.useEffect(() => {
    if (hasChildren) {
      client
        .request({ type: 'getTaskWithAggregatedCosts', taskId: id })
        .catch(reason => {
          // The cost without subtasks is shown in its place.
          console.warn('The cost with subtasks is not known', reason);
        });
    }
  }, [client, id, hasChildren, cost]);
  return costs;
}

/**
 * Whether the models of a profile run in this server and cost nothing.
 */
export function useIsFree(profileName: string | undefined): boolean {
  const { store } = usePanel();
  return useStore(store, ({ state }) => {
    const name = profileName ?? state?.currentApiConfigName;
    const profile = state?.listApiConfigMeta?.find(one => one.name === name);
    return profile?.apiProvider === 'local';
  });
}

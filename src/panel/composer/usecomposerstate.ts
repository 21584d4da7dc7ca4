import * as React from 'react';

import { onPendingAsk } from '../../state/pendingask';
import type { AgentStore } from '../../state/store';
import { useStore } from '../../ui/hooks';
import type { SendBlocker } from '../../state/panel/senddraft';
import { sendBlocker } from '../../state/panel/senddraft';
import type { ComposerState } from './composertexts';
import { composerState } from './composertexts';

/**
 * What becomes of what is typed.
 */
export function useComposerState(store: AgentStore): ComposerState {
  const subscribe = React.useCallback(
    (listener: () => void) => {
      const end = onPendingAsk(store, listener);
      store.changed.connect(listener);
      return () => {
        store.changed.disconnect(listener);
        end();
      };
    },
    [store]
  );
  return React.useSyncExternalStore(subscribe, () => composerState(store));
}

/**
 * Why nothing can be sent; the same object as long as it is the same reason.
 */
export function useSendBlocker(store: AgentStore): SendBlocker | null {
  const known = React.useRef<SendBlocker | null>(null);
  return useStore(store, store => {
    const now = sendBlocker(store);
    if (JSON.stringify(now) !== JSON.stringify(known.current)) {
      known.current = now;
    }
    return known.current;
  });
}

/**
 * What went wrong last in a conversation, in words.
 *
 * @returns It, and a function that tells it; what is told late belongs to the
 * conversation it is about, and is not shown with another one.
 */
export function useProblem(
  taskId: string | null
): [string | null, (text: string | null) => void] {
  const [troubles, setTroubles] = React.useState<
    ReadonlyMap<string | null, string>
  >(new Map());
  const tell = React.useCallback(
    (text: string | null) =>
      setTroubles(before => {
        if (text === null && !before.has(taskId)) {
          return before;
        }
        const after = new Map(before);
        if (text === null) {
          after.delete(taskId);
        } else {
          after.set(taskId, text);
        }
        return after;
      }),
    [taskId]
  );
  return [troubles.get(taskId) ?? null, tell];
}

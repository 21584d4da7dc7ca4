import type { ISignal } from '@lumino/signaling';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';

import type { ClineMessage } from '../generated/wire';
import type { AskMessage } from '../state/pendingask';
import { onPendingAsk, pendingAsk } from '../state/pendingask';
import type { AgentStore } from '../state/store';
import type { PanelState } from '../state/panel/panelstate';

/**
 * A value of the store; the component is rendered again when it is another one.
 *
 * @param select - Picks the value. It must return the same object as long as
 * nothing changed.
 */
export function useStore<T>(
  store: AgentStore,
  select: (store: AgentStore) => T
): T {
  const subscribe = useSignal(store.changed);
  return useSyncExternalStore(subscribe, () => select(store));
}

/**
 * A value of what only the panel knows, as `useStore` has those of the server.
 */
export function usePanelState<T>(
  state: PanelState,
  select: (state: PanelState) => T
): T {
  const subscribe = useSignal(state.changed);
  return useSyncExternalStore(subscribe, () => select(state));
}

/**
 * One message; the component is rendered again when this very message changes.
 */
export function useMessage(
  store: AgentStore,
  ts: number
): ClineMessage | undefined {
  const subscribe = useCallback(
    (listener: () => void) => store.subscribe(ts, listener),
    [store, ts]
  );
  return useSyncExternalStore(subscribe, () => store.message(ts));
}

/**
 * What waits for the person; the component is rendered again when something else does.
 */
export function usePendingAsk(store: AgentStore): AskMessage | null {
  const subscribe = useCallback(
    (listener: () => void) => onPendingAsk(store, listener),
    [store]
  );
  return useSyncExternalStore(subscribe, () => pendingAsk(store));
}

/**
 * Whether a condition has held without a break for some time.
 */
export function useLasting(condition: boolean, milliseconds: number): boolean {
  const [lasted, setLasted] = useState(false);
  useEffect(() => {
    if (!condition) {
      setLasted(false);
      return;
    }
    const timer = setTimeout(() => setLasted(true), milliseconds);
    return () => clearTimeout(timer);
  }, [condition, milliseconds]);
  return condition && lasted;
}

/**
 * The whole seconds until a moment, counting down; never below 1.
 */
export function useSecondsUntil(moment: number | null): number | null {
  const [, tick] = useState(0);
  useEffect(() => {
    if (moment === null) {
      return;
    }
    const timer = setInterval(() => tick(count => count + 1), 1000);
    return () => clearInterval(timer);
  }, [moment]);
  return moment === null
    ? null
    : Math.max(1, Math.ceil((moment - Date.now()) / 1000));
}

/**
 * A value that a signal tells of; the component is rendered again when it is
 * another.
 *
 * @param select - Reads the value. It must return the same object as long as
 * nothing changed.
 */
export function useSignalValue<S, A, T>(
  changed: ISignal<S, A>,
  select: () => T
): T {
  return useSyncExternalStore(useSignal(changed), select);
}

function useSignal<S, A>(
  signal: ISignal<S, A>
): (listener: () => void) => () => void {
  return useCallback(
    (listener: () => void) => {
      signal.connect(listener);
      return () => {
        signal.disconnect(listener);
      };
    },
    [signal]
  );
}

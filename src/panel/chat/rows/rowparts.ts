import * as React from 'react';

import type { ClineMessage } from '../../../generated/wire';
import { usePanel } from '../../../ui/services';

/**
 * The messages that are shown within a row; it is rendered again when one of
 * them changes.
 */
export function useRowParts(parts: readonly number[]): readonly ClineMessage[] {
  const { store } = usePanel();
  const before = React.useRef<readonly ClineMessage[]>([]);
  const subscribe = React.useCallback(
    (listener: () => void) => {
      const ends = parts.map(ts => store.subscribe(ts, listener));
      return () => ends.forEach(end => end());
    },
    [store, parts]
  );
  return React.useSyncExternalStore(subscribe, () => {
    const now = parts.flatMap(ts => store.message(ts) ?? []);
    const isSame =
      now.length === before.current.length &&
      now.every((message, index) => message === before.current[index]);
    if (!isSame) {
      before.current = now;
    }
    return before.current;
  });
}

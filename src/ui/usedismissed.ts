import * as React from 'react';

import { usePanel } from './services';

/**
 * Whether what is said about a topic was put away, and what puts it away.
 *
 * @param version - What is said; `null` if there is nothing to say, and
 * `undefined` while nobody knows.
 */
export function useDismissed(
  topic: string,
  version: string | null | undefined
): [boolean, () => void] {
  const { dismissed } = usePanel().state;
  const subscribe = React.useCallback(
    (listener: () => void) => {
      dismissed.changed.connect(listener);
      return () => {
        dismissed.changed.disconnect(listener);
      };
    },
    [dismissed]
  );
  const isDismissed = React.useSyncExternalStore(
    subscribe,
    () => typeof version === 'string' && dismissed.has(topic, version)
  );
  React.useEffect(() => {
    if (version === null) {
      dismissed.forget(topic);
    }
  }, [dismissed, topic, version]);
  const dismiss = () => {
    if (typeof version === 'string') {
      dismissed.add(topic, version);
    }
  };
  return [isDismissed, dismiss];
}

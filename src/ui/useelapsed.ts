import * as React from 'react';

import { usePanel } from './services';

/**
 * The milliseconds since a moment by the server's clock, in whole seconds, while
 * something goes on.
 */
export function useElapsed(since: number, goesOn: boolean): number {
  const { clock } = usePanel().client;
  const [now, setNow] = React.useState(() => clock.now());
  React.useEffect(() => {
    if (!goesOn) {
      return;
    }
    setNow(clock.now());
    const timer = setInterval(() => setNow(clock.now()), 1_000);
    return () => clearInterval(timer);
  }, [clock, goesOn]);
  return Math.max(0, Math.floor((now - since) / 1_000) * 1_000);
}

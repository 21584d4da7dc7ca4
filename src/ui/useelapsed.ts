import * as React from 'react';

import { usePanel } from './services';

/**
 * The milliseconds since a moment by the server's clock, in whole seconds, while
 * something goes on. They stand still while there is no connection: what goes on
 * may have ended.
 */
export function useElapsed(since: number, goesOn: boolean): number {
  const { clock } = usePanel().client;
  const [now, setNow] = React.useState(() => clock.lastKnown());
  React.useEffect(() => {
    if (!goesOn) {
      return;
    }
    setNow(clock.lastKnown());
    const timer = setInterval(() => setNow(clock.lastKnown()), 1_000);
    return () => clearInterval(timer);
  }, [clock, goesOn]);
  return Math.max(0, Math.floor((now - since) / 1_000) * 1_000);
}

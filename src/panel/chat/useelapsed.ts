import * as React from 'react';

/**
 * The milliseconds since a moment, in whole seconds, while something goes on.
 */
export function useElapsed(since: number, goesOn: boolean): number {
  const [now, setNow] = React.useState(() => Date.now());
  React.useEffect(() => {
    if (!goesOn) {
      return;
    }
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [goesOn]);
  return Math.max(0, Math.floor((now - since) / 1_000) * 1_000);
}

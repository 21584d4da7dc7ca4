import * as React from 'react';

import { useSettings } from '../settingscontext';

/**
 * How many lines are shown at once.
 */
const PAGE = 50;

/**
 * The first lines of a long list, and as many more each time one asks for them.
 */
export function usePages<T>(all: readonly T[]): {
  shown: readonly T[];
  more: JSX.Element | null;
} {
  const { trans } = useSettings();
  const [count, setCount] = React.useState(PAGE);
  const left = all.length - count;
  return {
    shown: all.slice(0, count),
    more:
      left > 0 ? (
        <button
          type="button"
          className="jp-hdspSettings-button"
          onClick={() => setCount(count + PAGE)}
        >
          {trans._n('Show %1 more', 'Show %1 more', Math.min(left, PAGE))}
        </button>
      ) : null
  };
}

import * as React from 'react';

import { usePanel } from './services';
import { ProblemNote } from './controls/problemnote';
import { useAction } from './useaction';

/**
 * A component whose code is fetched when it is first shown.
 */
export function lazyComponent<P extends object>(
  load: () => Promise<React.ComponentType<P>>
): (props: P) => JSX.Element {
  // Shown again, it is there at once.
  let loaded: React.ComponentType<P> | null = null;
  return function OnDemand(props: P): JSX.Element {
    const { trans } = usePanel();
    const { run, error } = useAction();
    const [Content, setContent] = React.useState(() => loaded);
    const fetch = React.useCallback(
      () =>
        run(async () => {
          loaded ??= await load();
          setContent(() => loaded);
        }),
      [run]
    );
    React.useEffect(() => {
      if (Content === null) {
        void fetch();
      }
    }, [Content, fetch]);
    if (Content !== null) {
      return <Content {...props} />;
    }
    return (
      <div className="jp-hdspAgent-onDemand">
        {error === null ? (
          <p role="status">{trans.__('Loading…')}</p>
        ) : (
          <>
            <ProblemNote error={error} />
            <button
              type="button"
              className="jp-hdspAgent-button"
              onClick={() => void fetch()}
            >
              {trans.__('Try again')}
            </button>
          </>
        )}
      </div>
    );
  };
}

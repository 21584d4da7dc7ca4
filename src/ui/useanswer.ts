import * as React from 'react';

import { asErrorBody } from '../errors';
import type { ErrorBody } from '../generated/wire';

/**
 * What came of a question; nothing yet while both are `null`.
 */
export interface IAnswer<T> {
  readonly answer: T | null;
  readonly error: ErrorBody | null;
}

/**
 * Ask for something a component shows. Only the newest question counts, and none
 * once the component is gone.
 *
 * @param ask - The same function as long as the question is the same; `null`
 * asks nothing.
 */
export function useAnswer<T>(ask: (() => Promise<T>) | null): IAnswer<T> {
  const [known, setKnown] = React.useState<IAnswer<T>>({
    answer: null,
    error: null
  });
  React.useEffect(() => {
    let isWanted = true;
    const tell = (answer: T | null, error: ErrorBody | null) => {
      if (isWanted) {
        setKnown({ answer, error });
      }
    };
    ask?.().then(
      answer => tell(answer, null),
      (reason: unknown) => tell(null, asErrorBody(reason))
    );
    return () => {
      isWanted = false;
    };
  }, [ask]);
  return known;
}

import * as React from 'react';

import { asErrorBody } from '../../errors';
import type { ErrorBody } from '../../generated/wire';

/**
 * Something a button does that takes its time.
 */
export interface IAction {
  readonly isBusy: boolean;

  /**
   * Why it failed the last time.
   */
  readonly error: ErrorBody | null;

  /**
   * Do it, unless it is being done.
   */
  run(work: () => Promise<unknown>): void;

  /**
   * Put the error away.
   */
  forget(): void;
}

/**
 * Something a button does: never twice at a time, and an error is kept to be shown.
 */
export function useAction(): IAction {
  const [state, setState] = React.useState<Pick<IAction, 'isBusy' | 'error'>>(
    Private.REST
  );
  const isBusy = React.useRef(false);
  const isMounted = React.useRef(true);
  React.useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const settle = (error: ErrorBody | null) => {
    isBusy.current = false;
    if (isMounted.current) {
      setState({ isBusy: false, error });
    }
  };
  return {
    ...state,
    run: work => {
      if (isBusy.current) {
        return;
      }
      isBusy.current = true;
      setState({ isBusy: true, error: null });
      work().then(
        () => settle(null),
        (reason: unknown) => settle(asErrorBody(reason))
      );
    },
    forget: () => setState(Private.REST)
  };
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const REST = { isBusy: false, error: null };
}

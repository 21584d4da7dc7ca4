import * as React from 'react';

import { asErrorBody } from '../errors';
import type { ErrorBody } from '../generated/wire';

/**
 * Something a person starts that takes a while and may be refused.
 */
export interface IAction {
  /**
   * Whether it is under way; it cannot be started again then.
   */
  readonly isBusy: boolean;

  /**
   * Why it was refused the last time; `null` if it was not.
   */
  readonly error: ErrorBody | null;

  /**
   * Start it.
   *
   * @returns Whether it was done.
   */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;

  /**
   * Put the reason away.
   */
  readonly clear: () => void;
}

/**
 * One action of a component at a time, with what became of it.
 */
export function useAction(): IAction {
  const [isBusy, setBusy] = React.useState(false);
  const [error, setError] = React.useState<ErrorBody | null>(null);
  const underWay = React.useRef(false);
  const isMounted = React.useRef(true);
  React.useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const run = React.useCallback(async (work: () => Promise<unknown>) => {
    if (underWay.current) {
      return false;
    }
    underWay.current = true;
    setBusy(true);
    setError(null);
    let refusal: ErrorBody | null = null;
    try {
      await work();
    } catch (reason) {
      refusal = asErrorBody(reason);
    }
    underWay.current = false;
    if (isMounted.current) {
      setBusy(false);
      setError(refusal);
    }
    return refusal === null;
  }, []);
  const clear = React.useCallback(() => setError(null), []);
  return { isBusy, error, run, clear };
}

/**
 * What a person starts faster than it is done.
 */
export interface IActionQueue extends Pick<IAction, 'isBusy' | 'error'> {
  /**
   * Start it when what was started before is done; at once if nothing is.
   */
  readonly add: (work: () => Promise<unknown>) => Promise<void>;
}

/**
 * The actions of a component, one after the other: none is left out because
 * another is under way, or because the component has gone.
 */
export function useActionQueue(): IActionQueue {
  const [count, setCount] = React.useState(0);
  const [error, setError] = React.useState<ErrorBody | null>(null);
  const last = React.useRef<Promise<void> | null>(null);
  const add = React.useCallback((work: () => Promise<unknown>) => {
    setCount(count => count + 1);
    setError(null);
    const perform = async () => {
      try {
        await work();
      } catch (reason) {
        setError(asErrorBody(reason));
      }
      setCount(count => count - 1);
      if (last.current === own) {
        last.current = null;
      }
    };
    const own = last.current?.then(perform) ?? perform();
    last.current = own;
    return own;
  }, []);
  return { isBusy: count > 0, error, add };
}

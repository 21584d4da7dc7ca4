import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

/**
 * The page whose comings and goings the channel follows.
 */
export interface IPage {
  readonly window: EventTarget;
  readonly document: EventTarget & { readonly hidden: boolean };
}

/**
 * Call back when the network, the page or the machine comes back.
 */
export function onPageWakeup(page: IPage, wake: () => void): IDisposable {
  const aborter = new AbortController();
  const { signal } = aborter;
  const wakeIfShown = () => {
    if (!page.document.hidden) {
      wake();
    }
  };
  page.window.addEventListener('online', wake, { signal });
  page.window.addEventListener('pageshow', wake, { signal });
  page.document.addEventListener('visibilitychange', wakeIfShown, { signal });
  return new DisposableDelegate(() => aborter.abort());
}

import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import { asErrorBody, errorText } from '../errors';

/**
 * How long a warning is shown, in milliseconds.
 */
const WARNED_FOR = 5_000;

/**
 * Tell the person why something was not done, until they close it.
 *
 * #### Notes
 * What is not told when to close, Lab only counts in its status bar.
 */
export function showError(message: string): void {
  Notification.error(message, { autoClose: false });
}

/**
 * Do something that may be refused, and tell the person why if it is: the panel
 * may not even be in sight.
 */
export async function attempt(
  trans: TranslationBundle,
  work: () => Promise<unknown>
): Promise<void> {
  try {
    await work();
  } catch (reason) {
    showError(errorText(trans, asErrorBody(reason)));
  }
}

/**
 * Tell the person what they should know of what they did, for a while.
 */
export function showWarning(message: string): void {
  Notification.warning(message, { autoClose: WARNED_FOR });
}

/**
 * Something a person can do about what they are told.
 */
export interface INotificationAction {
  readonly label: string;
  readonly caption: string;
  readonly callback: () => void;
}

/**
 * Tell the person something they may want to know. With something to do about
 * it, it stays until they close it.
 */
export function showNote(
  message: string,
  offers: readonly INotificationAction[] = []
): void {
  Notification.info(message, {
    autoClose: offers.length > 0 ? false : WARNED_FOR,
    actions: offers.map(offer => ({ ...offer }))
  });
}

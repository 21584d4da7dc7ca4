import type { TranslationBundle } from '@jupyterlab/translation';

import { showNote } from '../../ui/notifications';
import type { IPanelServices } from '../../ui/services';

/**
 * Show a notification of the operating system, only for who has allowed them
 * and cannot see this page.
 *
 * @returns It; `null` if none is shown.
 */
export function showSystemNotification(
  trans: TranslationBundle,
  taskId: string,
  body: string,
  onClick: () => void
): Notification | null {
  if (!document.hidden || permission() !== 'granted') {
    return null;
  }
  try {
    const told = new Notification(trans.__('HDSP Agent'), {
      body,
      // Several tabs of one server tell it once.
      tag: `hdsp-agent-${taskId}`
    });
    told.onclick = () => {
      window.focus();
      onClick();
    };
    return told;
  } catch (error) {
    // Some browsers have them for service workers alone.
    console.warn('HDSP Agent could not show a notification', error);
    return null;
  }
}

/**
 * Offer system notifications to who missed something and was not asked yet.
 *
 * @returns Whether they are offered.
 */
export function offerSystemNotifications({
  client,
  store,
  trans
}: Pick<IPanelServices, 'client' | 'store' | 'trans'>): boolean {
  const { settings, fixed } = store.state ?? {};
  if (
    permission() !== 'default' ||
    settings === undefined ||
    settings.dismissedHints.includes(HINT)
  ) {
    return false;
  }
  const dismiss = () => {
    const now = store.state?.settings ?? settings;
    if (fixed?.includes('dismissedHints')) {
      return;
    }
    client
      .request({
        type: 'updateSettings',
        updatedSettings: {
          dismissedHints: [...new Set([...now.dismissedHints, HINT])]
        }
      })
      .catch((reason: unknown) =>
        console.warn('HDSP Agent will offer notifications again', reason)
      );
  };
  showNote(
    trans.__(
      'The agent needed you or finished while you were away. Get system notifications next time?'
    ),
    [
      {
        label: trans.__('Turn On'),
        caption: trans.__('Let the browser ask you to allow notifications'),
        callback: () => void Notification.requestPermission()
      },
      {
        label: trans.__('No, Thanks'),
        caption: trans.__('Do not offer notifications again'),
        callback: dismiss
      }
    ]
  );
  return true;
}

/**
 * What is remembered when somebody wants no system notifications.
 */
const HINT = 'systemNotifications';

/**
 * Whether notifications may be shown; `denied` also where there are none.
 */
function permission(): NotificationPermission {
  // Some browsers have none, and none has them for pages that did not come encrypted.
  return typeof globalThis.Notification === 'function'
    ? Notification.permission
    : 'denied';
}

import { Clipboard } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';

import type { INamedTask } from '../../ui/conversations/conversationactions';
import { showNote, showWarning } from '../../ui/notifications';
import type { IPanelServices } from '../../ui/services';
import { dateTimeText } from '../../ui/texts/formats';

/**
 * Whether there are others to share with: the page is one of a JupyterHub's.
 */
export function isOnHub(): boolean {
  return PageConfig.getOption('hubPrefix') !== '';
}

/**
 * Share a conversation as a link for others of the hub, once the person has
 * seen what goes and said who may read it.
 */
export async function shareConversation(
  { serverSettings, trans }: IPanelServices,
  { taskId, title }: INamedTask
): Promise<void> {
  const [{ HistoryApi }, { askShare }] = await Promise.all([
    import('../../rest/historyapi'),
    import('./sharedialog')
  ]);
  const api = new HistoryApi(serverSettings);
  const offer = await api.shareOffer(taskId);
  if (!offer.available) {
    showWarning(
      trans.__(
        'This server has no hub service to share with. Ask your administrator.'
      )
    );
    return;
  }
  const choice = await askShare({ trans, title, offer });
  if (choice === null) {
    return;
  }
  const { url, ends } = await api.share(taskId, choice);
  // The hub may know only its own path.
  const address = new URL(url, window.location.href).href;
  if (!Private.mayCopy()) {
    showNote(
      trans.__('The link is %1. It ends on %2.', address, dateTimeText(ends))
    );
    return;
  }
  Clipboard.copyToSystem(address);
  showNote(trans.__('The link is copied. It ends on %1.', dateTimeText(ends)));
}

namespace Private {
  /**
   * Whether the browser copies now. It does so only soon after a click; later,
   * Lab's clipboard would wait for the next thing that the person copies.
   */
  export function mayCopy(): boolean {
    // Older browsers do not say.
    const { userActivation } = navigator as {
      userActivation?: UserActivation;
    };
    return userActivation?.isActive !== false;
  }
}

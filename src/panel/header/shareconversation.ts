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
  Clipboard.copyToSystem(new URL(url, window.location.href).href);
  showNote(trans.__('The link is copied. It ends on %1.', dateTimeText(ends)));
}

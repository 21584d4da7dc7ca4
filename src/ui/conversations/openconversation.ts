import { CommandIDs } from '../commandids';
import { asErrorBody, errorText } from '../../errors';
import { showError } from '../notifications';
import type { IPanelServices } from '../services';

/**
 * Bring a conversation before the person's eyes.
 */
export function openConversation(
  { client, commands, state, store, trans }: IPanelServices,
  taskId: string
): void {
  void commands.execute(CommandIDs.open);
  state.page = 'chat';
  if (store.state?.currentTaskId !== taskId) {
    client
      .request({ type: 'showTaskWithId', taskId })
      .catch((reason: unknown) =>
        showError(errorText(trans, asErrorBody(reason)))
      );
  }
}

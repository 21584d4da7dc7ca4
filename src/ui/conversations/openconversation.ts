import { CommandIDs } from '../commandids';
import { attempt } from '../notifications';
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
    void attempt(trans, () =>
      client.request({ type: 'showTaskWithId', taskId })
    );
  }
}

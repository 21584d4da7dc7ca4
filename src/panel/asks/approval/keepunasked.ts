import { CommandIDs } from '../../../ui/commandids';
import type { IPanelServices } from '../../../ui/services';
import { approvalsOf } from './approvals';

/**
 * Keep what the agent changed in the notebook of the conversation, where it may
 * run what it writes without asking: whoever goes on has seen what came of it,
 * and needs no mark at each cell.
 */
export async function keepUnasked({
  commands,
  store
}: IPanelServices): Promise<void> {
  const approvals = store.state && approvalsOf(store.state, null, null);
  const path = store.state?.currentTaskItem?.notebook?.path;
  if (
    path !== undefined &&
    (approvals?.preset === 'editAndRun' ||
      approvals?.preset === 'everything') &&
    commands.hasCommand(CommandIDs.keepAll) &&
    commands.isEnabled(CommandIDs.keepAll, { path })
  ) {
    await commands.execute(CommandIDs.keepAll, { path });
  }
}

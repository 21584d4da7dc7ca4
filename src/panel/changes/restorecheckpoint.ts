import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { CommandIDs } from '../../ui/commandids';
import type { RestoreResult } from '../../generated/rest';
import type { IPanelServices } from '../../ui/services';

type Services = Pick<IPanelServices, 'commands' | 'state'>;

/**
 * Go back to a checkpoint of a conversation, once the person has seen what that
 * does. What was done is told in the panel.
 */
export async function restoreCheckpoint(
  services: Services,
  taskId: string,
  checkpoint: string
): Promise<void> {
  await Private.run(services, taskId, CommandIDs.restoreCheckpoint, {
    checkpoint
  });
}

/**
 * Take a restore, or an undo, back. What was done is told in the panel.
 */
export async function undoRestore(
  services: Services,
  taskId: string,
  operation: string
): Promise<void> {
  await Private.run(services, taskId, CommandIDs.undoRestore, { operation });
}

/**
 * A namespace for private data.
 */
namespace Private {
  export async function run(
    { commands, state }: Services,
    taskId: string,
    command: string,
    args: ReadonlyPartialJSONObject
  ): Promise<void> {
    const result = (await commands.execute(command, {
      taskId,
      ...args
    })) as RestoreResult | null;
    if (result) {
      state.restored = { taskId, result };
    }
  }
}

import { CommandIDs } from './commandids';
import type { IPanelServices } from './services';

/**
 * Bring the panel into sight, if it is not: what is chosen in a menu would show
 * nothing.
 */
export async function revealPanel({
  commands,
  node
}: Pick<IPanelServices, 'commands' | 'node'>): Promise<void> {
  if (node.closest('.lm-mod-hidden') !== null) {
    await commands.execute(CommandIDs.open);
  }
}

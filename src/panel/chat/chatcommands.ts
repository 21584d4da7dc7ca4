import type { IDisposable } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import type { IPanelServices } from '../../ui/services';

/**
 * Add the command that leads to the newest message.
 *
 * @returns A disposable that removes it.
 */
export function addChatCommands({
  commands,
  state,
  store,
  trans
}: IPanelServices): IDisposable {
  return commands.addCommand(CommandIDs.showNewest, {
    label: trans.__('To the Newest Message of the Agent'),
    caption: trans.__(
      'Show the newest message, and follow what is written from there'
    ),
    describedBy: { args: { type: 'object', properties: {} } },
    isEnabled: () => store.order.length > 0,
    execute: () => state.showNewest()
  });
}

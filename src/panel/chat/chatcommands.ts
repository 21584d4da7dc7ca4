import { searchIcon } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { revealPanel } from '../../ui/revealpanel';
import type { IPanelServices } from '../../ui/services';
import { ConversationFind } from '../find/conversationfind';

/**
 * The commands of the conversation itself that are of use in the palette, in its
 * order.
 */
export const CHAT_COMMANDS: readonly string[] = [
  CommandIDs.find,
  CommandIDs.showNewest
];

/**
 * Add the commands that find something in the conversation, and lead to its
 * newest message.
 *
 * @returns A disposable that removes them.
 */
export function addChatCommands(services: IPanelServices): IDisposable {
  const { commands, state, store, trans } = services;
  const describedBy = { args: { type: 'object', properties: {} } } as const;
  const isEnabled = () => store.order.length > 0;
  const added = DisposableSet.from([
    commands.addCommand(CommandIDs.find, {
      label: commandLabel(trans, trans.__('Find in Conversation…')),
      caption: trans.__('Find text in the whole conversation'),
      icon: searchIcon,
      describedBy,
      isEnabled,
      execute: async () => {
        state.page = 'chat';
        await revealPanel(services);
        // A panel that is opened puts the focus into its own field first.
        requestAnimationFrame(() => ConversationFind.of(state).open());
      }
    }),
    commands.addCommand(CommandIDs.showNewest, {
      label: commandLabel(trans, trans.__('Go to the Newest Message')),
      caption: trans.__('Show the newest message, and follow new ones'),
      describedBy,
      isEnabled,
      execute: async () => {
        await revealPanel(services);
        state.showNewest();
      }
    })
  ]);
  let wasEnabled = isEnabled();
  const notify = () => {
    if (isEnabled() !== wasEnabled) {
      wasEnabled = isEnabled();
      CHAT_COMMANDS.forEach(id => commands.notifyCommandChanged(id));
    }
  };
  store.changed.connect(notify);
  added.add(new DisposableDelegate(() => store.changed.disconnect(notify)));
  return added;
}

import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { CONVERSATION_KEY } from '../../notebook/pendingmetadata';
import type { IPanelServices } from '../../ui/services';
import { hasConversation } from './conversationmetadata';

/**
 * Add the command that removes the conversation from the notebook in front.
 *
 * @returns A disposable that removes it.
 *
 * #### Notes
 * It is a change like any other of the person: saved when they save.
 */
export function addNotebookConversationCommands({
  commands,
  notebooks,
  trans
}: Pick<IPanelServices, 'commands' | 'notebooks' | 'trans'>): IDisposable {
  const inFront = () => {
    const panel = notebooks?.currentWidget ?? null;
    return panel !== null && hasConversation(panel) ? panel : null;
  };
  const command = CommandIDs.removeNotebookConversation;
  const added = DisposableSet.from([
    commands.addCommand(command, {
      label: commandLabel(
        trans,
        trans.__('Remove the Conversation from the Notebook')
      ),
      caption: trans.__(
        "Delete the conversation from the notebook's metadata. Your history stays."
      ),
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => inFront()?.context.model.readOnly === false,
      execute: () => inFront()?.context.model.deleteMetadata(CONVERSATION_KEY)
    })
  ]);
  if (notebooks !== null) {
    const notify = () => commands.notifyCommandChanged(command);
    notebooks.currentChanged.connect(notify);
    added.add(
      new DisposableDelegate(() => notebooks.currentChanged.disconnect(notify))
    );
  }
  return added;
}

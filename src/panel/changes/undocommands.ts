import { redoIcon, undoIcon } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { attempt } from '../../ui/notifications';
import type { IPanelServices } from '../../ui/services';
import { undoOrRedo } from './conversationchanges';

/**
 * Add the commands that undo and redo changes of the conversation.
 *
 * @returns A disposable that removes them.
 */
export function addUndoCommands(services: IPanelServices): IDisposable {
  const { commands, store, trans } = services;
  const describedBy = { args: { type: 'object', properties: {} } } as const;
  const mark = (operation: 'undo' | 'redo') => {
    const { undoable, redoable } = store.state?.currentTaskMarks ?? {};
    return operation === 'undo' ? undoable : redoable;
  };
  const execute = async (operation: 'undo' | 'redo') => {
    const taskId = store.state?.currentTaskId;
    const { id } = mark(operation) ?? {};
    if (!taskId || id === undefined) {
      return;
    }
    await attempt(trans, () => undoOrRedo(services, taskId, operation, id));
  };
  const added = DisposableSet.from([
    commands.addCommand(CommandIDs.undoChange, {
      label: commandLabel(
        trans,
        trans.__('Undo the Last Change to the Conversation')
      ),
      caption: trans.__('Restore the messages that the change removed'),
      icon: undoIcon,
      describedBy,
      isEnabled: () => mark('undo') !== undefined,
      execute: () => execute('undo')
    }),
    commands.addCommand(CommandIDs.redoChange, {
      label: commandLabel(
        trans,
        trans.__('Redo the Change to the Conversation')
      ),
      caption: trans.__('Make the undone change again'),
      icon: redoIcon,
      describedBy,
      isEnabled: () => mark('redo') !== undefined,
      execute: () => execute('redo')
    })
  ]);
  const notify = () => {
    commands.notifyCommandChanged(CommandIDs.undoChange);
    commands.notifyCommandChanged(CommandIDs.redoChange);
  };
  store.changed.connect(notify);
  added.add(new DisposableDelegate(() => store.changed.disconnect(notify)));
  return added;
}

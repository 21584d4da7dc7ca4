import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import { onPendingAsk, pendingAsk } from '../../state/pendingask';
import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { showConversation } from '../../ui/conversations/conversationactions';
import { attempt } from '../../ui/notifications';
import type { IPanelServices } from '../../ui/services';
import { waitingTasks } from '../notify/asknotifications';

/**
 * Add the command that leads to what the agent asks, from wherever one is.
 *
 * @returns A disposable that removes it.
 */
export function addQuestionCommand(services: IPanelServices): IDisposable {
  const { commands, store, trans } = services;
  const command = CommandIDs.goToQuestion;
  const isEnabled = () => waitingTasks(services).length > 0;
  const added = DisposableSet.from([
    commands.addCommand(command, {
      label: commandLabel(trans, trans.__('Go to the Question')),
      caption: trans.__('Show what the agent is waiting for'),
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled,
      execute: () => attempt(trans, () => goToQuestion(services))
    })
  ]);
  let wasEnabled = isEnabled();
  const notify = () => {
    if (isEnabled() !== wasEnabled) {
      wasEnabled = isEnabled();
      commands.notifyCommandChanged(command);
    }
  };
  const end = onPendingAsk(store, notify);
  store.changed.connect(notify);
  added.add(
    new DisposableDelegate(() => {
      end();
      store.changed.disconnect(notify);
    })
  );
  return added;
}

/**
 * Show the question that waits, of the conversation on screen first.
 */
async function goToQuestion(services: IPanelServices): Promise<void> {
  const { commands, state, store } = services;
  const waiting = waitingTasks(services).map(({ taskId }) => taskId);
  const current = store.state?.currentTaskId;
  const taskId =
    current !== undefined && waiting.includes(current) ? current : waiting[0];
  if (taskId === undefined) {
    return;
  }
  await commands.execute(CommandIDs.open);
  await showConversation(services, taskId);
  // A panel that is opened puts the focus into its own field first.
  await new Promise(requestAnimationFrame);
  const ask = store.state?.currentTaskId === taskId ? pendingAsk(store) : null;
  if (ask === null) {
    // Its messages are still on their way; it begins at its newest one.
    state.showNewest();
  } else {
    state.wantedMessage = { taskId, ts: ask.ts };
  }
}

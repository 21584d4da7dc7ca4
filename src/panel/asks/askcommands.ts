import { checkIcon, closeIcon, stopIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { attempt } from '../../ui/notifications';
import { onPendingAsk, pendingAsk } from '../../state/pendingask';
import { isWorking } from '../../state/panel/senddraft';
import type { IPanelServices } from '../../ui/services';
import { named } from '../../state/panel/askanswers';
import { switchAutoApproval } from './autoapproval/autoapproval';
import { describeAsk, situationOf } from './asktexts';

/**
 * Add the commands that answer what the agent asks, stop it, and let it go on
 * without asking.
 *
 * @returns A disposable that removes them.
 */
export function addAskCommands(services: IPanelServices): IDisposable {
  const { answers, commands, store, trans } = services;
  const options: [string, CommandRegistry.ICommandOptions][] = [
    [
      CommandIDs.approve,
      {
        ...Private.answering(services, 'approve'),
        icon: checkIcon
      }
    ],
    [
      CommandIDs.deny,
      { ...Private.answering(services, 'deny'), icon: closeIcon }
    ],
    [
      CommandIDs.stop,
      {
        label: commandLabel(trans, trans.__('Stop')),
        caption: trans.__('Keeps what was done; you can continue later'),
        icon: stopIcon,
        isEnabled: () => isWorking(store),
        execute: () => Private.stop(services)
      }
    ],
    [
      CommandIDs.toggleAutoApproval,
      {
        label: commandLabel(trans, trans.__('Approve Actions Automatically')),
        caption: trans.__(
          'Whether the agent does what the settings allow without asking'
        ),
        isToggleable: true,
        isToggled: () => store.state?.settings?.autoApprovalEnabled ?? false,
        isEnabled: () =>
          store.state?.settings !== undefined &&
          !store.state.fixed?.includes('autoApprovalEnabled'),
        execute: () => Private.toggle(services)
      }
    ]
  ];
  const describedBy = { args: { type: 'object', properties: {} } } as const;
  const added = DisposableSet.from(
    options.map(([id, option]) =>
      commands.addCommand(id, { ...option, describedBy })
    )
  );
  const notify = () =>
    options.forEach(([id]) => commands.notifyCommandChanged(id));
  const end = onPendingAsk(store, notify);
  store.changed.connect(notify);
  answers.changed.connect(notify);
  added.add(
    new DisposableDelegate(() => {
      end();
      store.changed.disconnect(notify);
      answers.changed.disconnect(notify);
    })
  );
  return added;
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * A command that presses a button of the question that waits. Its label says
   * what that does, so that nobody approves what they have not read.
   */
  export function answering(
    { answers, store, trans }: IPanelServices,
    button: 'approve' | 'deny'
  ): CommandRegistry.ICommandOptions {
    const words = () => {
      const ask = pendingAsk(store);
      return ask && describeAsk(ask, trans, situationOf(store));
    };
    return {
      label: commandLabel(trans, () => {
        const now = words();
        const label = now?.[button];
        if (now && label) {
          return trans.__('%1: %2', label, now.sentence);
        }
        return button === 'approve' ? trans.__('Approve') : trans.__('Deny');
      }),
      caption: trans.__('Your text is sent with your answer.'),
      isEnabled: () => words()?.[button] !== undefined && !answers.isBusy,
      execute: async () => {
        const ask = pendingAsk(store);
        if (ask && describeAsk(ask, trans)[button]) {
          await answers[button](ask);
        }
      }
    };
  }

  export function stop({
    client,
    store,
    trans
  }: IPanelServices): Promise<void> {
    return attempt(trans, () =>
      client.request({
        type: 'cancelTask',
        ...named(store.state?.currentTaskId ?? null)
      })
    );
  }

  export function toggle(services: IPanelServices): Promise<void> {
    return attempt(services.trans, () => switchAutoApproval(services));
  }
}

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import type { AgentNotebooks } from '../agentnotebooks';
import { ViewFollower } from './viewfollower';

/**
 * What following works with.
 */
export interface IFollowEnvironment {
  readonly commands: CommandRegistry;
  readonly agentNotebooks: AgentNotebooks;
  readonly tracker: INotebookTracker;
  readonly trans: TranslationBundle;

  /**
   * Whether the person wants it.
   */
  readonly isOn: () => boolean;

  /**
   * Set whether the person wants it.
   */
  readonly setOn: (isOn: boolean) => Promise<void>;
}

/**
 * Bring what the agent does into sight in all notebooks.
 *
 * @returns A disposable that ends it.
 */
export function createFollow({
  commands,
  agentNotebooks,
  tracker,
  trans,
  isOn,
  setOn
}: IFollowEnvironment): IDisposable {
  const followers = new Map<NotebookPanel, ViewFollower>();
  const everywhere = agentNotebooks.notebooks.each(panel => {
    const now = () => performance.now();
    const follower = new ViewFollower({
      agentNotebooks,
      panel,
      trans,
      isOn,
      now
    });
    followers.set(panel, follower);
    return new DisposableDelegate(() => {
      followers.delete(panel);
      follower.dispose();
    });
  });
  const added = commands.addCommand(CommandIDs.follow, {
    label: commandLabel(
      trans,
      trans.__('Follow the Agent in Notebooks'),
      trans.__('Follow in Notebooks')
    ),
    caption: trans.__('Scroll to the cells the agent runs and changes'),
    describedBy: { args: { type: 'object', properties: {} } },
    isToggleable: true,
    isToggled: isOn,
    execute: async () => {
      await setOn(!isOn());
      commands.notifyCommandChanged(CommandIDs.follow);
      if (isOn() && tracker.currentWidget) {
        followers.get(tracker.currentWidget)?.resume();
      }
    }
  });
  return DisposableSet.from([everywhere, added]);
}

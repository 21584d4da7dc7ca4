import type { TranslationBundle } from '@jupyterlab/translation';
import { refreshIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';

import type { ChannelClient } from '../comm/client';
import { agentIcon } from '../ui/icons/agenticon';
import type { IAgentPanel } from '../tokens';
import { CommandIDs } from '../ui/commandids';
import { commandLabel } from '../ui/commandlabel';

const NO_ARGS = { type: 'object', properties: {} } as const;

/**
 * What the commands act on.
 */
export interface ICommandTargets {
  readonly client: ChannelClient;
  readonly panel: Pick<IAgentPanel, 'open'>;

  /**
   * Give the focus back to the document that had it last.
   */
  readonly leave: () => void;

  readonly trans: TranslationBundle;
}

/**
 * Add the agent's commands.
 *
 * @returns A disposable that removes them.
 */
export function addCommands(
  commands: CommandRegistry,
  { client, panel, leave, trans }: ICommandTargets
): IDisposable {
  return DisposableSet.from([
    commands.addCommand(CommandIDs.open, {
      label: commandLabel(
        trans,
        trans.__('Open HDSP Agent'),
        trans.__('Open Panel')
      ),
      caption: trans.__("Show the agent's panel and move the focus to it"),
      icon: agentIcon,
      describedBy: { args: NO_ARGS },
      execute: () => panel.open()
    }),
    commands.addCommand(CommandIDs.leave, {
      label: commandLabel(trans, trans.__('Back to the Document')),
      caption: trans.__('Move the focus back to the document'),
      describedBy: { args: NO_ARGS },
      execute: leave
    }),
    commands.addCommand(CommandIDs.reconnect, {
      label: commandLabel(trans, trans.__('Reconnect')),
      caption: trans.__('Try to connect to the server now'),
      icon: refreshIcon,
      describedBy: { args: NO_ARGS },
      isEnabled: () => client.status.phase !== 'open',
      execute: () => client.connect()
    }),
    commands.addCommand(CommandIDs.showConnection, {
      label: commandLabel(trans, trans.__('Connection Details')),
      caption: trans.__('Versions, state and IDs, for a bug report'),
      describedBy: { args: NO_ARGS },
      execute: async () => {
        const { showConnectionDetails } = await import('./detailsdialog');
        await showConnectionDetails(client, trans);
      }
    })
  ]);
}

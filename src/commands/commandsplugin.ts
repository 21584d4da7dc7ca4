import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CHAT_COMMANDS } from '../panel/chat/chatcommands';
import { COMPOSER_COMMANDS } from '../panel/composer/composercommands';
import { HEADER_COMMANDS } from '../panel/header/headercommands';
import { IAgentChannel, IAgentPanel } from '../tokens';
import { addCommands } from './panelcommands';
import { CommandIDs } from '../ui/commandids';
import { addToPalette } from '../ui/commandlabel';
import { loadTexts } from '../ui/texts/loadtexts';
import { translateMenus } from './menulabels';
import { showKeysInPalette } from './palettekeys';

/**
 * Offers what the panel does as commands: palette, launcher, menu and keys.
 */
export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:commands',
  description:
    'Adds the commands of HDSP Agent to the palette, the launcher, the menu and the keyboard.',
  autoStart: true,
  requires: [IAgentChannel, IAgentPanel],
  optional: [ICommandPalette, ILauncher, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel,
    panel: IAgentPanel,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTexts(translator ?? nullTranslator);
    const { commands, shell } = app;
    const { client } = channel;
    addCommands(commands, {
      client,
      panel,
      leave: () => shell.currentWidget?.activate(),
      trans
    });
    client.statusChanged.connect(() =>
      commands.notifyCommandChanged(CommandIDs.reconnect)
    );
    void app.restored.then(() => translateMenus(shell.widgets('menu'), trans));
    for (const command of Private.LISTED) {
      addToPalette(palette, trans, command);
    }
    if (palette) {
      showKeysInPalette(commands, id => id.startsWith(Private.PREFIX));
    }
    launcher?.add({
      command: CommandIDs.ask,
      category: trans.__('HDSP Agent'),
      categoryRank: Private.LAUNCHER_RANK,
      args: { isLauncher: true }
    });
  }
};

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * How the ids of our commands begin.
   */
  export const PREFIX = 'hdsp-agent:';

  /**
   * Between Lab's notebooks, which have 0, and its consoles, which have 20.
   */
  export const LAUNCHER_RANK = 10;

  /**
   * What the palette lists, in its order.
   */
  export const LISTED: readonly string[] = [
    CommandIDs.open,
    CommandIDs.leave,
    ...HEADER_COMMANDS,
    ...CHAT_COMMANDS,
    CommandIDs.goToQuestion,
    CommandIDs.approve,
    CommandIDs.deny,
    CommandIDs.stop,
    CommandIDs.toggleAutoApproval,
    CommandIDs.undoChange,
    CommandIDs.redoChange,
    CommandIDs.removeNotebookConversation,
    ...COMPOSER_COMMANDS,
    CommandIDs.reconnect,
    CommandIDs.showConnection
  ];
}

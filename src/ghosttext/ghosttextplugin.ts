import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ICompletionProviderManager } from '@jupyterlab/completer';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAgentChannel } from '../tokens';
import { CommandIDs } from '../ui/commandids';
import { addToPalette } from '../ui/commandlabel';
import { loadTexts } from '../ui/texts/loadtexts';
import { addGhostTextCommands } from './ghosttextcommands';
import { GhostTextProvider } from './ghosttextprovider';

// After the agent's own item.
const RANK = 499;

/**
 * Suggests in grey how to go on where somebody writes.
 */
export const ghostTextPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:ghost-text',
  description: 'Suggests in grey how to go on in cells and files.',
  autoStart: true,
  requires: [IAgentChannel],
  optional: [
    ICompletionProviderManager,
    IStatusBar,
    ICommandPalette,
    ITranslator
  ],
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel,
    completions: ICompletionProviderManager | null,
    statusBar: IStatusBar | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    if (completions === null) {
      return;
    }
    const trans = loadTexts(translator ?? nullTranslator);
    const { client, store } = channel;
    const { commands, shell } = app;
    const provider = new GhostTextProvider({
      serverSettings: app.serviceManager.serverSettings,
      store,
      trans
    });
    completions.registerInlineProvider(provider);
    addGhostTextCommands({
      client,
      commands,
      completions,
      provider,
      store,
      trans,
      current: () => shell.currentWidget
    });
    for (const command of [
      CommandIDs.toggleGhostText,
      CommandIDs.acceptGhostWord,
      CommandIDs.acceptGhostLine
    ]) {
      addToPalette(palette, trans, command);
    }
    if (statusBar !== null) {
      const show = async () => {
        const { GhostTextItem } = await import('./ghosttextitem');
        statusBar.registerStatusItem('hdsp-agent:ghost-text', {
          item: new GhostTextItem({ commands, provider, store, trans }),
          align: 'left',
          rank: RANK
        });
      };
      // Lab's start does not wait for it.
      void app.restored.then(show);
    }
  }
};

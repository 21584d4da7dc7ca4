import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CommandIDs } from '../../ui/commandids';
import { addToPalette } from '../../ui/commandlabel';
import { IAgentChannel, IAgentNotebooks, IAgentPanel } from '../../tokens';
import { loadTexts } from '../../ui/texts/loadtexts';
import { whenOpened } from '../whenopened';

/**
 * Offers at cells to ask the agent, and to have it fix what failed.
 */
export const cellsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:cells',
  description:
    'Adds actions of HDSP Agent to the cells of notebooks: toolbar, context menu and failed cells.',
  autoStart: true,
  requires: [IAgentChannel, IAgentNotebooks, IAgentPanel, INotebookTracker],
  optional: [ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel,
    provided: IAgentNotebooks,
    agent: IAgentPanel,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTexts(translator ?? nullTranslator);
    const { commands } = app;
    const pointed = () =>
      app.contextMenuHitTest(node => node.classList.contains('jp-Cell'));
    const { client } = channel;
    const { notebooks } = provided.agentNotebooks;
    whenOpened(notebooks, async () => {
      const { createCells } = await import('./cellsui');
      for (const command of [CommandIDs.askAboutCell, CommandIDs.fixCell]) {
        addToPalette(palette, trans, command);
      }
      return createCells({
        agent,
        client,
        commands,
        notebooks,
        tracker,
        trans,
        pointed
      });
    });
  }
};

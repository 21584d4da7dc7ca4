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
 * Right after the entries of labextension/schema/cells.json.
 */
const CONTEXT_MENU_RANK = 30.3;

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
    const { client, store } = channel;
    const { notebooks } = provided.agentNotebooks;
    whenOpened(notebooks, async () => {
      const [{ builtInActions }, { createCells }] = await Promise.all([
        import('./actionlist'),
        import('./cellsui')
      ]);
      for (const command of [
        CommandIDs.askAboutCell,
        CommandIDs.fixCell,
        CommandIDs.editCell,
        CommandIDs.showCellActions
      ]) {
        addToPalette(palette, trans, command);
      }
      for (const { name } of builtInActions(trans)) {
        addToPalette(palette, trans, CommandIDs.cellAction, { action: name });
      }
      return createCells({
        agent,
        client,
        commands,
        notebooks,
        store,
        tracker,
        trans,
        pointed,
        addSubmenu: submenu =>
          app.contextMenu.addItem({
            type: 'submenu',
            submenu,
            selector: '.jp-Notebook .jp-Cell',
            rank: CONTEXT_MENU_RANK
          })
      });
    });
  }
};

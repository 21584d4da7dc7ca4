import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';

import { IAgentPanel } from '../../tokens';
import { addToPalette } from '../../ui/commandlabel';
import { addDocumentCommands, DOCUMENT_COMMANDS } from './documentcommands';

/**
 * Offers at files, consoles and terminals to ask the agent about them.
 */
export const documentsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:documents',
  description:
    'Adds entries of HDSP Agent to the context menus of the file browser, files, consoles and terminals.',
  autoStart: true,
  requires: [IAgentPanel],
  optional: [IFileBrowserFactory, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    agent: IAgentPanel,
    browsers: IFileBrowserFactory | null,
    palette: ICommandPalette | null
  ): void => {
    const { shell } = app;
    const { services, widget } = agent;
    const added = addDocumentCommands({
      services,
      browsers,
      front: () => shell.currentWidget
    });
    widget.disposed.connect(() => added.dispose());
    for (const command of DOCUMENT_COMMANDS) {
      addToPalette(palette, services.trans, command);
    }
  }
};

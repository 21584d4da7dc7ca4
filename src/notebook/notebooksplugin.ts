import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';

import { IAgentChannel, IAgentNotebooks } from '../tokens';
import { AgentNotebooks } from './agentnotebooks';
import { OpenNotebooks } from './opennotebooks';
import { whenOpened } from './whenopened';

/**
 * Lets the agent read and change the notebooks this page has open.
 */
export const notebooksPlugin: JupyterFrontEndPlugin<IAgentNotebooks> = {
  id: 'hdsp-agent:notebooks',
  description:
    'Lets HDSP Agent read, change and show the running of the notebooks that are open.',
  autoStart: true,
  requires: [IAgentChannel, INotebookTracker],
  provides: IAgentNotebooks,
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel,
    tracker: INotebookTracker
  ): IAgentNotebooks => {
    const { contents } = app.serviceManager;
    const notebooks = new OpenNotebooks({ tracker, contents });
    const agentNotebooks = new AgentNotebooks({
      client: channel.client,
      notebooks
    });
    // By the time the agent changes something, it is there.
    whenOpened(notebooks, () => import('./operations'));
    window.addEventListener('pagehide', () => agentNotebooks.leave());
    return { agentNotebooks };
  }
};

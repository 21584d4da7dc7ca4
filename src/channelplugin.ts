import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

import { AgentStore } from './state/store';
import { IAgentChannel } from './tokens';
import { createClient } from './comm/createclient';

/**
 * Keeps one connection to the server part, for all other plugins.
 */
export const channelPlugin: JupyterFrontEndPlugin<IAgentChannel> = {
  id: 'hdsp-agent:channel',
  description:
    'Connects to the server part of HDSP Agent and keeps its state up to date.',
  autoStart: true,
  provides: IAgentChannel,
  activate: (app: JupyterFrontEnd): IAgentChannel => {
    const client = createClient(app.serviceManager.serverSettings);
    const store = new AgentStore({ client });
    client.connect();
    return { client, store };
  }
};

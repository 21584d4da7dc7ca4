import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAgentChannel, IAgentNotebooks } from '../../tokens';
import { loadTexts } from '../../ui/texts/loadtexts';
import { whenOpened } from '../whenopened';

/**
 * Gives open notebooks new kernels after a restart of the server.
 */
export const kernelsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:kernels',
  description:
    'Reconnects open notebooks to new kernels when the server was restarted, and offers to restore their variables.',
  autoStart: true,
  requires: [IAgentChannel, IAgentNotebooks],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel,
    provided: IAgentNotebooks,
    translator: ITranslator | null
  ): void => {
    const trans = loadTexts(translator ?? nullTranslator);
    const { commands, serviceManager: manager } = app;
    const { client } = channel;
    const { notebooks } = provided.agentNotebooks;
    whenOpened(notebooks, async () => {
      const { createKernels } = await import('./kernelsui');
      return createKernels({ client, commands, notebooks, manager, trans });
    });
  }
};

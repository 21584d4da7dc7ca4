import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';

import { IAgentPanel } from '../../tokens';

// After what Lab says of kernels and of the file in front.
const RANK = 500;

/**
 * Tells in the status bar whether the agent works or waits for the person.
 */
export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:status',
  description: 'Shows in the status bar how HDSP Agent is.',
  autoStart: true,
  requires: [IAgentPanel],
  optional: [IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    panel: IAgentPanel,
    statusBar: IStatusBar | null
  ): void => {
    if (statusBar === null) {
      return;
    }
    const { services, widget } = panel;
    const show = async () => {
      const { AgentStatusItem } = await import('./statusitem');
      const item = statusBar.registerStatusItem('hdsp-agent:status', {
        item: new AgentStatusItem(services),
        align: 'left',
        rank: RANK
      });
      widget.disposed.connect(() => item.dispose());
    };
    // Lab's start does not wait for it.
    void app.restored.then(show);
  }
};

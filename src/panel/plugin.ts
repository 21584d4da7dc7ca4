import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { URLExt } from '@jupyterlab/coreutils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IAgentChannel, IAgentPanel } from '../tokens';
import { AgentPanel } from './widget';

const PANEL_ID = 'hdsp-agent-panel';

// After the file browser and the running sessions, before the table of contents.
const PANEL_RANK = 350;

/**
 * Puts the agent's panel into the left side bar.
 */
export const panelPlugin: JupyterFrontEndPlugin<IAgentPanel> = {
  id: 'hdsp-agent:panel',
  description: 'Shows the agent in a panel of the side bar.',
  autoStart: true,
  requires: [IAgentChannel],
  optional: [ILayoutRestorer, ITranslator],
  provides: IAgentPanel,
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null
  ): IAgentPanel => {
    const { baseUrl } = app.serviceManager.serverSettings;
    const widget = new AgentPanel({
      channel,
      commands: app.commands,
      translator: translator ?? nullTranslator,
      loginUrl: URLExt.join(baseUrl, 'login')
    });
    widget.id = PANEL_ID;
    restorer?.add(widget, PANEL_ID);
    app.shell.add(widget, 'left', { rank: PANEL_RANK });
    return {
      widget,
      open: () => app.shell.activateById(widget.id)
    };
  }
};

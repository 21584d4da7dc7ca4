import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import { IAgentPanel } from '../tokens';
import { CommandIDs } from '../ui/commandids';
import { addToPalette, commandLabel } from '../ui/commandlabel';
import { variablesIcon } from '../ui/icons/variablesicon';
import { lazyComponent } from '../ui/lazycomponent';
import type { IVariablesUi } from './createvariables';
import { variablesWidget } from './variableswidget';

// Behind the time line.
const RANK = 901;

/**
 * Shows what is in the kernel of the notebook in front.
 */
export const variablesPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:variables',
  description:
    'Shows the variables of a notebook for HDSP Agent: what changed since the newest checkpoint, tables, and what to ask about.',
  autoStart: true,
  requires: [IAgentPanel],
  optional: [ICommandPalette, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    agent: IAgentPanel,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const { commands, shell } = app;
    const { services } = agent;
    const { trans } = services;
    let made: IVariablesUi | null = null;
    const widget = variablesWidget(
      services,
      lazyComponent(async () => {
        const { createVariables } = await import('./createvariables');
        made ??= createVariables(services, () => widget.isVisible);
        return made.View;
      })
    );
    widget.shown.connect(() => void made?.model.refreshValues());
    widget.disposed.connect(() => made?.model.dispose());
    shell.add(widget, 'right', { rank: RANK });
    restorer?.add(widget, widget.id);

    commands.addCommand(CommandIDs.openVariables, {
      label: commandLabel(trans, trans.__('Variables')),
      caption: trans.__('Show the variables of the notebook'),
      icon: variablesIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => shell.activateById(widget.id)
    });
    addToPalette(palette, trans, CommandIDs.openVariables);
  }
};

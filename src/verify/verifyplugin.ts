import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { IAgentPanel } from '../tokens';
import { CommandIDs } from '../ui/commandids';
import { addToPalette, commandLabel } from '../ui/commandlabel';
import { agentIcon } from '../ui/icons/agenticon';
import { documentPath } from '../ui/notebookchoice';
import { attempt } from '../ui/notifications';
import type { VerifyWidget } from './verifywidget';

/**
 * Runs notebooks anew and tells whether they show what is saved in them.
 */
export const verifyPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:verify',
  description:
    'Verifies notebooks for HDSP Agent: runs one from the top in a new kernel and compares its outputs with the saved ones.',
  autoStart: true,
  requires: [IAgentPanel, INotebookTracker],
  optional: [ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    agent: IAgentPanel,
    tracker: INotebookTracker,
    palette: ICommandPalette | null
  ): void => {
    const { commands, shell } = app;
    const { services } = agent;
    const { trans } = services;
    const opened = new Map<string, VerifyWidget>();
    const find = ({ path }: ReadonlyPartialJSONObject) => {
      const panel = tracker.currentWidget;
      if (typeof path !== 'string') {
        return panel;
      }
      return tracker.find(other => documentPath(other) === path) ?? null;
    };

    const save = async (path: string): Promise<boolean> => {
      const panel = find({ path });
      if (panel?.context.model.dirty) {
        try {
          await panel.context.save();
        } catch {
          // Lab said why, or was told to leave it.
        }
        return !panel.context.model.dirty;
      }
      return true;
    };

    commands.addCommand(CommandIDs.verifyNotebook, {
      label: commandLabel(trans, trans.__('Verify Notebook')),
      caption: trans.__(
        'Run the notebook from the top in a new kernel, and compare what it shows with what is saved'
      ),
      icon: agentIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: {
              type: 'string',
              description: trans.__(
                'The path of a notebook (default: the current one)'
              )
            }
          }
        }
      },
      isEnabled: args => {
        const panel = find(args);
        return panel !== null && documentPath(panel) !== null;
      },
      execute: async args => {
        const panel = find(args);
        const path = panel && documentPath(panel);
        if (!panel || path === null) {
          return;
        }
        await attempt(trans, async () => {
          const { VerifyWidget } = await import('./verifywidget');
          const known = opened.get(path);
          const widget = known ?? VerifyWidget.open(services, path, save);
          if (known === undefined) {
            opened.set(path, widget);
            widget.disposed.connect(() => opened.delete(path));
            shell.add(widget, 'main', {
              ref: panel.id,
              mode: 'split-right',
              type: 'HDSP Agent'
            });
          }
          shell.activateById(widget.id);
          await widget.model.start();
        });
      }
    });
    addToPalette(palette, trans, CommandIDs.verifyNotebook);
    tracker.currentChanged.connect(() =>
      commands.notifyCommandChanged(CommandIDs.verifyNotebook)
    );
  }
};

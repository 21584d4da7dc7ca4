import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
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
      // A shared notebook is saved by the server, which knows what it is now.
      if (panel?.context.model.dirty && !panel.context.model.collaborative) {
        try {
          await panel.context.save();
        } catch {
          // Lab said why, or was told to leave it.
        }
        return !panel.context.model.dirty;
      }
      return true;
    };

    const open = async (
      path: string,
      beside: NotebookPanel | null,
      report?: string
    ): Promise<VerifyWidget> => {
      const { VerifyWidget } = await import('./verifywidget');
      const key = report ?? path;
      let widget = opened.get(key);
      if (widget === undefined) {
        widget = new VerifyWidget(services, path, save, report);
        opened.set(key, widget);
        widget.disposed.connect(() => opened.delete(key));
        shell.add(widget, 'main', {
          ...(beside && { ref: beside.id, mode: 'split-right' }),
          type: 'HDSP Agent'
        });
      }
      shell.activateById(widget.id);
      return widget;
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
          const widget = await open(path, panel);
          await widget.model.start();
        });
      }
    });
    commands.addCommand(CommandIDs.showVerification, {
      label: commandLabel(trans, trans.__('Open Verification Report')),
      caption: trans.__('Open the report of an earlier verification'),
      icon: agentIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: {
              type: 'string',
              description: trans.__('The path of the notebook')
            },
            verification: {
              type: 'string',
              description: trans.__('The id of the verification')
            },
            task: {
              type: 'string',
              description: trans.__(
                'The conversation whose workspace has the report (default: the folder of the server)'
              )
            }
          },
          required: ['path', 'verification']
        }
      },
      execute: async ({ path, verification, task }) => {
        if (typeof path !== 'string' || typeof verification !== 'string') {
          return;
        }
        await attempt(trans, async () => {
          const widget = await open(path, find({ path }), verification);
          const place = typeof task === 'string' ? task : undefined;
          await widget.model.show(verification, place);
        });
      }
    });
    addToPalette(palette, trans, CommandIDs.verifyNotebook);
    tracker.currentChanged.connect(() =>
      commands.notifyCommandChanged(CommandIDs.verifyNotebook)
    );
  }
};

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { CommandIDs } from '../../ui/commandids';
import { addToPalette, commandLabel } from '../../ui/commandlabel';
import { IAgentPanel } from '../../tokens';
import { lazyComponent } from '../../ui/lazycomponent';
import {
  openTasks,
  plainTitle,
  titleOf
} from '../../ui/conversations/opentasks';
import { watchContext } from './contextnotices';
import { ContextWidget } from './contextwidget';

const NAMESPACE = 'hdsp-agent-context';

// Most of it, which Lab's start does not wait for.
const Body = lazyComponent(
  async () => (await import('./contextview')).ContextView
);

/**
 * Shows the request that a model would be sent next, in a tab of the main area.
 */
export const contextPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:context',
  description:
    'Shows what the model of HDSP Agent sees of a conversation, and says when that becomes much.',
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
    const { services, widget: panel } = agent;
    const { store, trans } = services;
    const tracker = new WidgetTracker<ContextWidget>({ namespace: NAMESPACE });

    const taskOf = ({ taskId }: ReadonlyPartialJSONObject): string | null =>
      typeof taskId === 'string'
        ? taskId
        : (store.state?.currentTaskItem?.id ?? null);
    const nameOf = (taskId: string): string => {
      const item = store.state?.currentTaskItem;
      if (item?.id === taskId) {
        return titleOf(item, trans);
      }
      const open = openTasks(store).find(task => task.taskId === taskId);
      return open ? plainTitle(open.title, trans) : '';
    };

    const add = (taskId: string, name: string): ContextWidget => {
      const widget = new ContextWidget({ services, Body, taskId, name });
      widget.id = `${NAMESPACE}-${taskId}`;
      void tracker.add(widget);
      return widget;
    };

    commands.addCommand(CommandIDs.showContext, {
      label: commandLabel(trans, trans.__('What the Model Sees')),
      caption: trans.__(
        'Show the exact next request to the model, with the tokens of each part'
      ),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            taskId: {
              type: 'string',
              description: trans.__(
                'Which conversation (default: the one on screen)'
              )
            },
            title: {
              type: 'string',
              description: trans.__('The title of the conversation')
            }
          }
        }
      },
      isEnabled: args => taskOf(args) !== null,
      execute: args => {
        const taskId = taskOf(args);
        if (taskId === null) {
          return;
        }
        const { title } = args;
        const widget =
          tracker.find(known => known.taskId === taskId) ??
          add(taskId, typeof title === 'string' ? title : nameOf(taskId));
        if (!widget.isAttached) {
          shell.add(widget, 'main', { type: 'HDSP Agent' });
        }
        shell.activateById(widget.id);
      }
    });
    addToPalette(palette, trans, CommandIDs.showContext);
    if (restorer) {
      void restorer.restore(tracker, {
        command: CommandIDs.showContext,
        args: ({ taskId, name }) => ({ taskId, title: name }),
        name: ({ taskId }) => taskId
      });
    }

    let known = store.state?.currentTaskId;
    store.changed.connect(() => {
      if (store.state?.currentTaskId !== known) {
        known = store.state?.currentTaskId;
        commands.notifyCommandChanged(CommandIDs.showContext);
      }
    });
    const notices = watchContext(services);
    panel.disposed.connect(() => notices.dispose());
  }
};

import { addIcon, closeIcon, searchIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type {
  ReadonlyJSONObject,
  ReadonlyPartialJSONObject
} from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { attempt } from '../../ui/notifications';
import type { IPanelServices } from '../../ui/services';
import type {
  ExportFormat,
  INamedTask
} from '../../ui/conversations/conversationactions';
import {
  EXPORT_FORMATS,
  beginConversation,
  closeConversation,
  copyConversation,
  copyRequest,
  deleteConversations,
  exportConversation,
  forkConversation,
  renameConversation,
  showConversation
} from '../../ui/conversations/conversationactions';
import { openConversation } from '../../ui/conversations/openconversation';
import { revealPanel } from '../../ui/revealpanel';
import { pastIcon } from '../../ui/icons/conversationicons';
import { timelineIcon } from '../../ui/icons/timelineicons';
import {
  adjacentTask,
  openTasks,
  plainTitle,
  titleOf
} from '../../ui/conversations/opentasks';
import { isOnHub, shareConversation } from './shareconversation';

type Args = ReadonlyPartialJSONObject;

/**
 * The header's commands that are of use in the palette, in its order.
 */
export const HEADER_COMMANDS: readonly string[] = [
  CommandIDs.newConversation,
  CommandIDs.showHistory,
  CommandIDs.search,
  CommandIDs.nextConversation,
  CommandIDs.previousConversation,
  CommandIDs.closeConversation,
  CommandIDs.renameConversation,
  CommandIDs.favoriteConversation,
  CommandIDs.useMemory,
  CommandIDs.showCheckpoints,
  CommandIDs.forkConversation,
  CommandIDs.exportConversation,
  CommandIDs.shareConversation,
  CommandIDs.copyConversation,
  CommandIDs.copyRequest,
  CommandIDs.deleteConversation
];

/**
 * Add the commands about conversations as such: those of the strip, and those
 * of the header's menu.
 *
 * @returns A disposable that removes them.
 */
export function addHeaderCommands(services: IPanelServices): IDisposable {
  return DisposableSet.from([
    addStripCommands(services),
    addTaskCommands(services),
    Private.followStore(services)
  ]);
}

/**
 * The commands that go from one conversation to another.
 */
function addStripCommands(services: IPanelServices): IDisposable {
  const { commands, state, store, trans } = services;
  const go = (step: 1 | -1) =>
    attempt(trans, async () => {
      const taskId = adjacentTask(store, step);
      if (taskId !== null) {
        await showConversation(services, taskId);
        await revealPanel(services);
      }
    });
  return DisposableSet.from([
    commands.addCommand(CommandIDs.newConversation, {
      label: commandLabel(trans, trans.__('New Conversation')),
      caption: trans.__(
        'Start another conversation with the agent; the open ones continue'
      ),
      icon: addIcon,
      describedBy: { args: Private.NO_ARGS },
      isEnabled: () => store.state !== null,
      execute: () =>
        attempt(trans, async () => {
          await beginConversation(services);
          await revealPanel(services);
        })
    }),
    commands.addCommand(CommandIDs.showHistory, {
      label: commandLabel(trans, trans.__('Show Past Conversations')),
      caption: trans.__('Show all saved conversations with the agent'),
      icon: pastIcon,
      describedBy: { args: Private.NO_ARGS },
      execute: async () => {
        state.page = 'history';
        await revealPanel(services);
      }
    }),
    commands.addCommand(CommandIDs.search, {
      label: commandLabel(
        trans,
        trans.__('Search Conversations, Notebooks and Memory…')
      ),
      caption: trans.__('Search what was said, noted and written in notebooks'),
      icon: searchIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            query: {
              type: 'string',
              description: trans.__('What to look for')
            }
          }
        }
      },
      execute: async ({ query }) => {
        await commands.execute(CommandIDs.open);
        state.wantedSearch = { query: typeof query === 'string' ? query : '' };
        state.page = 'history';
      }
    }),
    commands.addCommand(CommandIDs.nextConversation, {
      label: commandLabel(trans, trans.__('Next Conversation')),
      caption: trans.__('Show the next open conversation with the agent'),
      describedBy: { args: Private.NO_ARGS },
      isEnabled: () => adjacentTask(store, 1) !== null,
      execute: () => go(1)
    }),
    commands.addCommand(CommandIDs.previousConversation, {
      label: commandLabel(trans, trans.__('Previous Conversation')),
      caption: trans.__('Show the previous open conversation with the agent'),
      describedBy: { args: Private.NO_ARGS },
      isEnabled: () => adjacentTask(store, -1) !== null,
      execute: () => go(-1)
    })
  ]);
}

/**
 * The commands that do something with one conversation.
 */
function addTaskCommands(services: IPanelServices): IDisposable {
  const { client, commands, store, trans } = services;
  const ofTask = {
    type: 'object',
    properties: Private.taskArgs(services)
  } as const;
  const hasTask = (args: Args) => Private.taskOf(services, args) !== null;
  const withTask =
    (work: (task: INamedTask, args: Args) => Promise<unknown>) =>
    (args: Args) =>
      attempt(trans, async () => {
        const task = Private.taskOf(services, args);
        if (task !== null) {
          await work(task, args);
        }
      });
  const isFavorite = () => store.state?.currentTaskItem?.isFavorited ?? false;
  const usesMemory = () => !(store.state?.currentTaskItem?.memoryOff ?? false);
  return DisposableSet.from([
    commands.addCommand(CommandIDs.showConversation, {
      label: commandLabel(trans, trans.__('Show Conversation')),
      caption: trans.__('Show a conversation in the panel'),
      describedBy: { args: ofTask },
      isEnabled: hasTask,
      execute: ({ taskId }) => {
        if (typeof taskId === 'string') {
          openConversation(services, taskId);
        }
      }
    }),
    commands.addCommand(CommandIDs.closeConversation, {
      label: commandLabel(trans, trans.__('Close Conversation')),
      caption: trans.__(
        'Remove the conversation from the panel; it stays in the history'
      ),
      icon: closeIcon,
      describedBy: { args: ofTask },
      isEnabled: hasTask,
      execute: withTask(task => closeConversation(services, task))
    }),
    commands.addCommand(CommandIDs.renameConversation, {
      label: commandLabel(trans, trans.__('Rename Conversation…')),
      caption: trans.__('Give the conversation a title of your own'),
      describedBy: { args: ofTask },
      isEnabled: hasTask,
      execute: withTask(task => renameConversation(services, task))
    }),
    commands.addCommand(CommandIDs.favoriteConversation, {
      label: commandLabel(trans, trans.__('Favorite Conversation')),
      caption: trans.__('Favorites are never deleted because of their age'),
      describedBy: { args: Private.NO_ARGS },
      isEnabled: () => store.state?.currentTaskItem !== undefined,
      isToggleable: true,
      isToggled: isFavorite,
      execute: withTask(({ taskId }) =>
        client.request({
          type: 'favoriteTask',
          taskId,
          favorite: !isFavorite()
        })
      )
    }),
    commands.addCommand(CommandIDs.useMemory, {
      label: commandLabel(trans, trans.__('Use Memory in This Conversation')),
      caption: trans.__(
        "When off, the agent doesn't use memory or learn from this conversation"
      ),
      describedBy: { args: Private.NO_ARGS },
      isEnabled: () =>
        store.state?.currentTaskItem !== undefined &&
        store.state.settings?.memoryEnabled === true,
      isToggleable: true,
      isToggled: usesMemory,
      execute: withTask(({ taskId }) =>
        client.request({
          type: 'rememberTask',
          taskId,
          remember: !usesMemory()
        })
      )
    }),
    commands.addCommand(CommandIDs.showCheckpoints, {
      label: commandLabel(trans, trans.__('Checkpoints')),
      caption: trans.__(
        'Show the checkpoints of this conversation, and restore them'
      ),
      icon: timelineIcon,
      describedBy: { args: ofTask },
      isEnabled: args =>
        hasTask(args) && commands.hasCommand(CommandIDs.openTimeline),
      execute: withTask(({ taskId }) =>
        commands.execute(CommandIDs.openTimeline, { taskId, only: 'task' })
      )
    }),
    commands.addCommand(CommandIDs.forkConversation, {
      label: commandLabel(trans, trans.__('Branch Conversation')),
      caption: trans.__(
        'Try something else from here; this conversation stays as it is'
      ),
      describedBy: { args: Private.NO_ARGS },
      isEnabled: args => hasTask(args) && store.order.length > 0,
      execute: () => attempt(trans, () => forkConversation(services))
    }),
    commands.addCommand(CommandIDs.exportConversation, {
      label: commandLabel(trans, args => Private.exportLabel(services, args)),
      caption: trans.__('Save the conversation as a file'),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            ...ofTask.properties,
            format: {
              type: 'string',
              enum: [...EXPORT_FORMATS],
              description: trans.__('The file format')
            }
          }
        }
      },
      isEnabled: hasTask,
      execute: withTask(({ taskId }, args) =>
        exportConversation(services, taskId, Private.formatOf(args))
      )
    }),
    commands.addCommand(CommandIDs.shareConversation, {
      label: commandLabel(trans, trans.__('Share as a Link…')),
      caption: trans.__(
        'Let others of the hub read the conversation as it is now'
      ),
      describedBy: { args: ofTask },
      isVisible: isOnHub,
      isEnabled: hasTask,
      execute: withTask(task => shareConversation(services, task))
    }),
    commands.addCommand(CommandIDs.copyConversation, {
      label: commandLabel(trans, trans.__('Copy Conversation as Markdown')),
      caption: trans.__('Copy all of the conversation as Markdown'),
      describedBy: { args: ofTask },
      isEnabled: hasTask,
      execute: withTask(({ taskId }) => copyConversation(services, taskId))
    }),
    commands.addCommand(CommandIDs.copyRequest, {
      label: commandLabel(trans, trans.__('Copy Prompt')),
      caption: trans.__('Copy the first message of the conversation'),
      describedBy: { args: ofTask },
      isEnabled: hasTask,
      execute: withTask(({ taskId }) => copyRequest(services, taskId))
    }),
    commands.addCommand(CommandIDs.deleteConversation, {
      label: commandLabel(trans, trans.__('Delete Conversation…')),
      caption: trans.__('Delete the conversation and its subtasks for good'),
      describedBy: { args: ofTask },
      isEnabled: hasTask,
      execute: withTask(task => deleteConversations(services, [task]))
    })
  ]);
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const NO_ARGS = { type: 'object', properties: {} } as const;

  /**
   * The arguments that name a conversation.
   */
  export function taskArgs({ trans }: IPanelServices): ReadonlyJSONObject {
    return {
      taskId: {
        type: 'string',
        description: trans.__('Which conversation (default: the one on screen)')
      },
      title: {
        type: 'string',
        description: trans.__('The title shown in dialogs')
      }
    };
  }

  /**
   * The conversation that is meant; `null` if there is none.
   */
  export function taskOf(
    { store, trans }: IPanelServices,
    args: Args
  ): INamedTask | null {
    const item = store.state?.currentTaskItem;
    const { taskId, title } = args;
    if (typeof taskId === 'string' && taskId !== item?.id) {
      const open = openTasks(store).find(task => task.taskId === taskId);
      const known = typeof title === 'string' ? title : open?.title;
      return { taskId, title: plainTitle(known ?? taskId, trans) };
    }
    return item === undefined
      ? null
      : { taskId: item.id, title: titleOf(item, trans) };
  }

  export function formatOf({ format }: Args): ExportFormat {
    return EXPORT_FORMATS.find(known => known === format) ?? 'markdown';
  }

  export function exportLabel({ trans }: IPanelServices, args: Args): string {
    switch (formatOf(args)) {
      case 'markdown':
        return trans.__('Export Conversation as Markdown');
      case 'notebook':
        return trans.__('Export Conversation as Notebook');
      case 'json':
        return trans.__('Export Conversation as JSON');
    }
  }

  /**
   * Let palette and menus know when other conversations are open.
   */
  export function followStore({
    commands,
    store
  }: IPanelServices): IDisposable {
    let known = facts(store);
    const check = () => {
      const now = facts(store);
      if (now.some((fact, index) => fact !== known[index])) {
        known = now;
        notify(commands);
      }
    };
    store.changed.connect(check);
    return new DisposableDelegate(() => {
      store.changed.disconnect(check);
    });
  }

  function facts(store: IPanelServices['store']): readonly unknown[] {
    const { state } = store;
    return [
      state === null,
      state?.openTasks,
      state?.currentTaskId,
      state?.currentTaskItem?.isFavorited,
      store.order.length > 0
    ];
  }

  function notify(commands: CommandRegistry): void {
    for (const id of HEADER_COMMANDS) {
      commands.notifyCommandChanged(id);
    }
  }
}

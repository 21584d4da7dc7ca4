import type { TranslationBundle } from '@jupyterlab/translation';
import { undoIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';

import { CommandIDs } from '../ui/commandids';
import { commandLabel } from '../ui/commandlabel';
import { cellArguments } from '../notebook/cells/cellplace';
import type { CellFinder } from '../notebook/cells/cellplace';
import { cellVersionsIcon, timelineIcon } from '../ui/icons/timelineicons';
import type { IPlace, Part } from '../rest/timelineapi';
import type { INotebookHead } from './notebookheads';
import { checkpointIcon } from '../ui/icons/checkpointicon';
import type { ITimelineFilter } from './timelinemodel';
import type { ITimelineUi } from './createtimeline';

/**
 * What the commands act on.
 */
export interface ITimelineTargets {
  readonly trans: TranslationBundle;
  readonly cells: Pick<CellFinder, 'find' | 'findPanel'>;

  /**
   * Where the server finds the notebook a command is about.
   */
  readonly pathOf: (args: ReadonlyPartialJSONObject) => string | null;

  /**
   * What can be done where a notebook is; `null` while that is not known.
   */
  readonly headOf: (path: string | null) => INotebookHead | null;

  /**
   * Loads the time line.
   */
  readonly ui: () => Promise<ITimelineUi>;

  /**
   * Brings the time line into sight.
   */
  readonly reveal: () => void;
}

/**
 * What the palette lists.
 */
export const TIMELINE_COMMANDS: readonly string[] = [
  CommandIDs.openTimeline,
  CommandIDs.saveCheckpoint,
  CommandIDs.restoreCell,
  CommandIDs.restartToCell,
  CommandIDs.undoRestore
];

/**
 * Add the commands of the time line.
 *
 * @returns A disposable that removes them.
 */
export function addTimelineCommands(
  commands: CommandRegistry,
  targets: ITimelineTargets
): IDisposable {
  const { trans } = targets;
  const place = Private.placeArguments(trans);
  return DisposableSet.from([
    commands.addCommand(CommandIDs.openTimeline, {
      label: commandLabel(
        trans,
        trans.__('Open Agent Timeline'),
        trans.__('Open Timeline')
      ),
      caption: trans.__('Open timeline (undo and restore)'),
      icon: timelineIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            ...place,
            only: {
              type: 'string',
              enum: ['all', 'task', 'notebook'],
              description: trans.__(
                'Whether to list only what belongs to the conversation or the notebook'
              )
            },
            checkpoint: {
              type: 'string',
              description: trans.__(
                'The ID or commit of the checkpoint whose changes are shown'
              )
            },
            against: {
              type: 'string',
              enum: ['previous', 'beginning', 'now'],
              description: trans.__('What to compare the checkpoint with')
            }
          }
        }
      },
      execute: args => Private.open(targets, args)
    }),
    commands.addCommand(CommandIDs.saveCheckpoint, {
      label: commandLabel(trans, trans.__('Save Checkpoint')),
      caption: trans.__('Save checkpoint'),
      icon: checkpointIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            ...place,
            note: {
              type: 'string',
              description: trans.__('A note to find it by')
            }
          }
        }
      },
      execute: async args => {
        const { restoreActions } = await targets.ui();
        const note = Private.text(args.note);
        return (await restoreActions.save(Private.placeOf(targets, args), note))
          ?.id;
      }
    }),
    commands.addCommand(CommandIDs.restoreCheckpoint, {
      label: commandLabel(trans, trans.__('Restore Checkpoint')),
      caption: trans.__('Restore a checkpoint after a preview of what changes'),
      icon: timelineIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            ...place,
            checkpoint: {
              type: 'string',
              description: trans.__('The ID or commit of the checkpoint')
            },
            parts: {
              type: 'array',
              items: {
                type: 'string',
                enum: ['files', 'notebooks', 'variables', 'conversation']
              },
              description: trans.__('What to restore (default: everything)')
            }
          },
          required: ['checkpoint']
        }
      },
      isEnabled: ({ checkpoint }) => typeof checkpoint === 'string',
      execute: async args => {
        const { restoreActions } = await targets.ui();
        return restoreActions.restore(
          Private.placeOf(targets, args),
          Private.text(args.checkpoint) ?? '',
          Private.parts(args.parts)
        );
      }
    }),
    commands.addCommand(CommandIDs.restoreVariable, {
      label: commandLabel(trans, trans.__('Restore a Variable…')),
      caption: trans.__('Restore one variable, after you have seen the effect'),
      icon: undoIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            path: {
              type: 'string',
              description: trans.__('The path of the notebook')
            },
            checkpoint: {
              type: 'string',
              description: trans.__('The ID or commit of the checkpoint')
            },
            name: {
              type: 'string',
              description: trans.__('The name of the variable')
            }
          },
          required: ['path', 'checkpoint', 'name']
        }
      },
      isEnabled: args =>
        ['path', 'checkpoint', 'name'].every(
          key => Private.text(args[key]) !== undefined
        ),
      execute: async args => {
        const { restoreActions } = await targets.ui();
        const result = await restoreActions.restoreVariable(
          Private.text(args.path) ?? '',
          Private.text(args.checkpoint) ?? '',
          Private.text(args.name) ?? ''
        );
        return result?.operation.id;
      }
    }),
    commands.addCommand(CommandIDs.restoreCell, {
      label: commandLabel(trans, trans.__('Cell History…')),
      // It is the name of a button, too.
      caption: args => {
        const why = Private.whyNoCell(targets, args);
        const label = trans.__('Cell history…');
        return why === null ? label : trans.__('%1 — %2', label, why);
      },
      icon: cellVersionsIcon,
      describedBy: {
        args: { type: 'object', properties: cellArguments(trans) }
      },
      isEnabled: args => Private.whyNoCell(targets, args) === null,
      execute: args => Private.restoreCell(targets, args)
    }),
    commands.addCommand(CommandIDs.restartToCell, {
      label: commandLabel(trans, trans.__('Restart and Re-run to Here…')),
      caption: args =>
        targets.cells.find(args) === null
          ? trans.__('There is no cell to run to')
          : trans.__(
              'Restart the kernel and run the cells from the top to this one, after you have reviewed them'
            ),
      describedBy: {
        args: { type: 'object', properties: cellArguments(trans) }
      },
      isEnabled: args => targets.cells.find(args) !== null,
      execute: async args => {
        const at = targets.cells.find(args);
        if (at === null) {
          return undefined;
        }
        const { restoreActions } = await targets.ui();
        return (
          await restoreActions.restart({
            path: at.path,
            cell: at.cell.model.id
          })
        )?.id;
      }
    }),
    commands.addCommand(CommandIDs.undoRestore, {
      label: commandLabel(trans, trans.__('Undo the Restore')),
      caption: args =>
        Private.canUndo(targets, args)
          ? trans.__('Return to the state before the last restore')
          : trans.__('There is no restore to undo'),
      icon: undoIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            ...place,
            operation: {
              type: 'string',
              description: trans.__(
                'The ID of the restore (default: the newest)'
              )
            }
          }
        }
      },
      isEnabled: args => Private.canUndo(targets, args),
      execute: async args => {
        const { restoreActions } = await targets.ui();
        return restoreActions.undo(
          Private.placeOf(targets, args),
          Private.text(args.operation)
        );
      }
    })
  ]);
}

/**
 * Functions of this module alone.
 */
namespace Private {
  type Args = ReadonlyPartialJSONObject;

  /**
   * The arguments by which commands name a workspace.
   */
  export function placeArguments(trans: TranslationBundle) {
    return {
      path: {
        type: 'string',
        description: trans.__(
          'The path of a notebook (default: the current one)'
        )
      },
      taskId: {
        type: 'string',
        description: trans.__('The ID of a conversation')
      }
    } as const;
  }

  export function text(value: unknown): string | undefined {
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  export function parts(value: unknown): readonly Part[] | undefined {
    return Array.isArray(value) ? (value as Part[]) : undefined;
  }

  /**
   * A conversation's workspace if it is named, else that of the notebook.
   */
  export function placeOf(targets: ITimelineTargets, args: Args): IPlace {
    const task = text(args.taskId);
    const path = text(args.path) ?? targets.pathOf(args) ?? undefined;
    return {
      ...(task !== undefined && { task }),
      // Of a conversation that is named, the notebook in front is none's business.
      ...(path !== undefined &&
        (task === undefined || args.path !== undefined) && { path })
    };
  }

  export async function open(
    targets: ITimelineTargets,
    args: Args
  ): Promise<boolean> {
    targets.reveal();
    const { model } = await targets.ui();
    const place = placeOf(targets, args);
    const only =
      args.only === 'task' && place.task !== undefined
        ? 'task'
        : args.only === 'notebook' && place.path !== undefined
          ? 'notebook'
          : 'all';
    const filter: ITimelineFilter = { place, only };
    const checkpoint = text(args.checkpoint);
    const isShown = await model.show(filter);
    return checkpoint === undefined || !isShown
      ? isShown
      : model.reveal(
          checkpoint,
          args.against === 'beginning' || args.against === 'now'
            ? args.against
            : 'previous'
        );
  }

  /**
   * Why no cell can be restored; `null` if one can.
   */
  export function whyNoCell(
    { cells, headOf, trans }: ITimelineTargets,
    args: Args
  ): string | null {
    const at = cells.find(args);
    if (at === null) {
      return trans.__('There is no cell to restore');
    }
    return headOf(at.path)?.hasCheckpoints === false
      ? trans.__('There is no checkpoint yet from which it could be restored')
      : null;
  }

  export function canUndo(targets: ITimelineTargets, args: Args): boolean {
    return (
      text(args.operation) !== undefined ||
      targets.headOf(targets.pathOf(args))?.hasUndoable !== false
    );
  }

  export async function restoreCell(
    targets: ITimelineTargets,
    args: Args
  ): Promise<string | undefined> {
    const at = targets.cells.find(args);
    if (at === null) {
      return undefined;
    }
    const { restoreActions } = await targets.ui();
    const { model } = at.cell;
    const source = model.sharedModel.getSource();
    const result = await restoreActions.chooseCell(at.path, model.id, source);
    return result?.operation.id;
  }
}

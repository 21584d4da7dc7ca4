import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import {
  caretDownIcon,
  caretUpIcon,
  checkIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';

import { CommandIDs } from '../../ui/commandids';
import { commandLabel } from '../../ui/commandlabel';
import { cellArguments } from '../cells/cellplace';
import type { CellFinder } from '../cells/cellplace';
import type { OpenReviews } from './openreviews';
import type { ReviewView } from './reviewview';

/**
 * What the commands act on.
 */
export interface IReviewTargets {
  readonly cells: CellFinder;
  readonly reviews: OpenReviews;
  readonly views: ReadonlyMap<NotebookPanel, ReviewView>;
  readonly trans: TranslationBundle;
}

/**
 * The ids of the commands of a review, in the order of the palette.
 */
export const REVIEW_COMMANDS: readonly string[] = [
  CommandIDs.nextChange,
  CommandIDs.previousChange,
  CommandIDs.keepCell,
  CommandIDs.undoCell,
  CommandIDs.keepPart,
  CommandIDs.undoPart,
  CommandIDs.keepAll,
  CommandIDs.undoAll
];

/**
 * Add the commands that keep and take back what the agent changed.
 *
 * @returns A disposable that removes them.
 */
export function addReviewCommands(
  commands: CommandRegistry,
  targets: IReviewTargets
): IDisposable {
  const { trans } = targets;
  return DisposableSet.from([
    Private.add(commands, targets, CommandIDs.keepCell, {
      label: commandLabel(
        trans,
        trans.__("Keep the Agent's Change to This Cell"),
        trans.__('Keep the Change to This Cell')
      ),
      caption: trans.__('Keep what the agent changed in this cell'),
      icon: checkIcon,
      of: 'cell',
      execute: ({ review, cellId }) => review.keep(cellId)
    }),
    Private.add(commands, targets, CommandIDs.undoCell, {
      label: commandLabel(
        trans,
        trans.__("Undo the Agent's Change to This Cell"),
        trans.__('Undo the Change to This Cell')
      ),
      caption: trans.__('Undo what the agent changed in this cell'),
      icon: undoIcon,
      of: 'cell',
      execute: ({ review, cellId }) => review.undo(cellId)
    }),
    Private.add(commands, targets, CommandIDs.keepPart, {
      label: commandLabel(
        trans,
        trans.__("Keep the Agent's Change at the Cursor"),
        trans.__('Keep the Change at the Cursor')
      ),
      caption: trans.__('Keep this part of what the agent changed'),
      of: 'part',
      execute: ({ diff }) => diff?.keepPart() ?? false
    }),
    Private.add(commands, targets, CommandIDs.undoPart, {
      label: commandLabel(
        trans,
        trans.__("Undo the Agent's Change at the Cursor"),
        trans.__('Undo the Change at the Cursor')
      ),
      caption: trans.__('Undo this part of what the agent changed'),
      of: 'part',
      execute: ({ diff }) => diff?.undoPart() ?? false
    }),
    Private.add(commands, targets, CommandIDs.keepAll, {
      label: commandLabel(
        trans,
        trans.__("Keep All the Agent's Changes in This Notebook"),
        trans.__('Keep All Changes in This Notebook')
      ),
      caption: trans.__('Keep everything the agent changed in this notebook'),
      icon: checkIcon,
      of: 'notebook',
      execute: ({ review }) => review.keepAll()
    }),
    Private.add(commands, targets, CommandIDs.undoAll, {
      label: commandLabel(
        trans,
        trans.__("Undo All the Agent's Changes in This Notebook"),
        trans.__('Undo All Changes in This Notebook')
      ),
      caption: trans.__('Undo everything the agent changed in this notebook'),
      icon: undoIcon,
      of: 'notebook',
      execute: ({ review }) => review.undoAll()
    }),
    Private.add(commands, targets, CommandIDs.nextChange, {
      label: commandLabel(
        trans,
        trans.__('Next Change by the Agent'),
        trans.__('Next Change')
      ),
      caption: trans.__('Go to the next cell the agent changed'),
      icon: caretDownIcon,
      of: 'notebook',
      isAlwaysVisible: true,
      execute: place => Private.go(place, 1)
    }),
    Private.add(commands, targets, CommandIDs.previousChange, {
      label: commandLabel(
        trans,
        trans.__('Previous Change by the Agent'),
        trans.__('Previous Change')
      ),
      caption: trans.__('Go to the previous cell the agent changed'),
      icon: caretUpIcon,
      of: 'notebook',
      isAlwaysVisible: true,
      execute: place => Private.go(place, -1)
    })
  ]);
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * What a command is about.
   */
  export class Place {
    constructor(
      readonly panel: NotebookPanel,
      readonly cellId: string,
      private readonly _targets: IReviewTargets
    ) {}

    get review() {
      return this._targets.reviews.of(this.panel);
    }

    get diff() {
      return this._targets.views.get(this.panel)?.diff(this.cellId) ?? null;
    }

    /**
     * Whether there is something of the agent's here.
     */
    has(of: ICommand['of']): boolean {
      switch (of) {
        case 'cell':
          return this.review.waiting.has(this.cellId);
        case 'part':
          return this.diff !== null;
        case 'notebook':
          return this.review.waiting.size > 0;
      }
    }
  }

  /**
   * A command that can be used where something of the agent's is.
   */
  export interface ICommand {
    readonly label: (args: ReadonlyPartialJSONObject) => string;
    readonly caption: string;
    readonly icon?: LabIcon;

    /**
     * What it acts on.
     */
    readonly of: 'cell' | 'part' | 'notebook';
    readonly isAlwaysVisible?: boolean;
    readonly execute: (place: Place) => unknown;
  }

  export function add(
    commands: CommandRegistry,
    targets: IReviewTargets,
    id: string,
    { of, isAlwaysVisible, execute, ...looks }: ICommand
  ): IDisposable {
    const all = cellArguments(targets.trans);
    const properties = of === 'notebook' ? { path: all.path } : all;
    const isEnabled = (args: ReadonlyPartialJSONObject) =>
      placeOf(targets, args)?.has(of) ?? false;
    return commands.addCommand(id, {
      ...looks,
      describedBy: { args: { type: 'object', properties } },
      dataset: args => ({
        count: String(placeOf(targets, args)?.review.waiting.size ?? 0)
      }),
      isEnabled,
      ...(of === 'part' || isAlwaysVisible ? {} : { isVisible: isEnabled }),
      execute: args => {
        const place = placeOf(targets, args);
        return place ? execute(place) : false;
      }
    });
  }

  function placeOf(
    targets: IReviewTargets,
    args: ReadonlyPartialJSONObject
  ): Place | null {
    const panel = targets.cells.findPanel(args);
    if (!panel || !targets.views.has(panel)) {
      return null;
    }
    // A cell that was deleted is meant as well.
    const { cellId } = args;
    const id =
      typeof cellId === 'string'
        ? cellId
        : targets.cells.find(args)?.cell.model.id;
    return new Place(panel, id ?? '', targets);
  }

  /**
   * Make the next cell active at which something waits, round the ends.
   */
  export async function go(place: Place, step: 1 | -1): Promise<void> {
    const { content } = place.panel;
    const { widgets, activeCellIndex } = content;
    const deleted = place.review.deleted();
    for (let away = 1; away <= widgets.length; away++) {
      const index =
        (activeCellIndex + step * away + widgets.length * away) %
        widgets.length;
      const { id } = widgets[index].model;
      if (
        place.review.waiting.has(id) ||
        deleted.has(id) ||
        (index === 0 && deleted.has(null))
      ) {
        content.deselectAll();
        content.activeCellIndex = index;
        await content.scrollToCell(widgets[index]);
        return;
      }
    }
  }
}

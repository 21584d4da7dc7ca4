import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
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

import { CommandIDs } from '../commands/ids';
import { cellArguments } from './cellplace';
import type { CellFinder } from './cellplace';
import type { Reviews } from './reviews';
import type { ReviewView } from './reviewview';

/**
 * What the commands act on.
 */
export interface IReviewTargets {
  readonly cells: CellFinder;
  readonly reviews: Reviews;
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
  const properties = cellArguments(trans);
  const ofCell = { args: { type: 'object', properties } } as const;
  const ofNotebook = {
    args: { type: 'object', properties: { path: properties.path } }
  } as const;
  const place = (args: ReadonlyPartialJSONObject) =>
    Private.placeOf(targets, args);
  const isWaiting = (args: ReadonlyPartialJSONObject) =>
    place(args)?.isWaiting ?? false;
  const hasAny = (args: ReadonlyPartialJSONObject) =>
    (place(args)?.review.waiting.size ?? 0) > 0;
  const hasDiff = (args: ReadonlyPartialJSONObject) =>
    Boolean(place(args)?.diff);
  return DisposableSet.from([
    commands.addCommand(CommandIDs.keepCell, {
      label: trans.__('Keep the Agent’s Change of This Cell'),
      caption: trans.__('Leave the cell as the agent made it'),
      icon: checkIcon,
      describedBy: ofCell,
      isEnabled: isWaiting,
      isVisible: isWaiting,
      execute: args => {
        const at = place(args);
        at?.review.keep(at.cellId);
      }
    }),
    commands.addCommand(CommandIDs.undoCell, {
      label: trans.__('Undo the Agent’s Change of This Cell'),
      caption: trans.__('Make the cell what it was before the agent'),
      icon: undoIcon,
      describedBy: ofCell,
      isEnabled: isWaiting,
      isVisible: isWaiting,
      execute: args => {
        const at = place(args);
        at?.review.undo(at.cellId);
      }
    }),
    commands.addCommand(CommandIDs.keepPart, {
      label: trans.__('Keep the Agent’s Change at the Cursor'),
      caption: trans.__('Leave this part of the cell as the agent made it'),
      describedBy: ofCell,
      isEnabled: hasDiff,
      execute: args => place(args)?.diff?.keepPart() ?? false
    }),
    commands.addCommand(CommandIDs.undoPart, {
      label: trans.__('Undo the Agent’s Change at the Cursor'),
      caption: trans.__('Make this part of the cell what it was before'),
      describedBy: ofCell,
      isEnabled: hasDiff,
      execute: args => place(args)?.diff?.undoPart() ?? false
    }),
    commands.addCommand(CommandIDs.keepAll, {
      label: trans.__('Keep All Changes of the Agent in This Notebook'),
      caption: trans.__('Leave all cells as the agent made them'),
      icon: checkIcon,
      describedBy: ofNotebook,
      isEnabled: hasAny,
      isVisible: hasAny,
      execute: args => place(args)?.review.keepAll()
    }),
    commands.addCommand(CommandIDs.undoAll, {
      label: trans.__('Undo All Changes of the Agent in This Notebook'),
      caption: trans.__('Make all cells what they were before the agent'),
      icon: undoIcon,
      describedBy: ofNotebook,
      isEnabled: hasAny,
      isVisible: hasAny,
      execute: args => place(args)?.review.undoAll()
    }),
    commands.addCommand(CommandIDs.nextChange, {
      label: trans.__('Next Change of the Agent'),
      caption: trans.__('Go to the next cell the agent changed'),
      icon: caretDownIcon,
      describedBy: ofNotebook,
      isEnabled: hasAny,
      execute: args => Private.go(place(args), 1)
    }),
    commands.addCommand(CommandIDs.previousChange, {
      label: trans.__('Previous Change of the Agent'),
      caption: trans.__('Go to the cell before that the agent changed'),
      icon: caretUpIcon,
      describedBy: ofNotebook,
      isEnabled: hasAny,
      execute: args => Private.go(place(args), -1)
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

    get isWaiting() {
      return this.review.waiting.has(this.cellId);
    }

    get diff() {
      return this._targets.views.get(this.panel)?.diff(this.cellId) ?? null;
    }
  }

  export function placeOf(
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
  export async function go(place: Place | null, step: 1 | -1): Promise<void> {
    if (!place) {
      return;
    }
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

import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { OpenNotebooks } from '../opennotebooks';

/**
 * A cell of an open notebook.
 */
export interface ICellPlace {
  readonly panel: NotebookPanel;
  readonly path: string;
  readonly cell: Cell;
}

/**
 * Finds the cell a command is about.
 */
export class CellFinder {
  constructor(options: CellFinder.IOptions) {
    this._options = options;
  }

  /**
   * The cell that is meant; the active one if none is named.
   */
  find(args: ReadonlyPartialJSONObject): ICellPlace | null {
    const panel = this.findPanel(args);
    const path = panel ? this._options.notebooks.pathOf(panel) : null;
    const cell = panel ? this._cell(panel, args) : null;
    return panel && cell && path !== null ? { panel, path, cell } : null;
  }

  /**
   * The notebook that is meant; the current one if none is named.
   */
  findPanel({ path }: ReadonlyPartialJSONObject): NotebookPanel | null {
    const { notebooks, tracker } = this._options;
    const { currentWidget } = tracker;
    // Of several views of a notebook, the one in front is meant.
    const isFront =
      typeof path !== 'string' ||
      (currentWidget !== null && notebooks.pathOf(currentWidget) === path);
    const panel = isFront ? currentWidget : notebooks.find(path);
    return panel?.isDisposed ? null : panel;
  }

  private _cell(
    { content }: NotebookPanel,
    { cellId, atPointer }: ReadonlyPartialJSONObject
  ): Cell | null {
    const { widgets, activeCell } = content;
    if (typeof cellId === 'string') {
      return widgets.find(({ model }) => model.id === cellId) ?? null;
    }
    // A click with the other button does not always make its cell active.
    const pointed = atPointer ? this._options.pointed() : undefined;
    return widgets.find(({ node }) => node === pointed) ?? activeCell;
  }

  private readonly _options: CellFinder.IOptions;
}

/**
 * The namespace for `CellFinder` statics.
 */
export namespace CellFinder {
  /**
   * Where cells are found.
   */
  export interface IOptions {
    readonly notebooks: Pick<OpenNotebooks, 'find' | 'pathOf'>;
    readonly tracker: Pick<INotebookTracker, 'currentWidget'>;

    /**
     * The node of the cell the context menu was opened at.
     */
    readonly pointed: () => HTMLElement | undefined;
  }
}

/**
 * The arguments by which commands name a cell.
 */
export function cellArguments(trans: TranslationBundle) {
  return {
    path: {
      type: 'string',
      description: trans.__(
        'The path of the notebook (default: the current one)'
      )
    },
    cellId: {
      type: 'string',
      description: trans.__('The ID of the cell (default: the active one)')
    },
    atPointer: {
      type: 'boolean',
      description: trans.__(
        'Whether to use the cell where the context menu was opened'
      )
    }
  } as const;
}

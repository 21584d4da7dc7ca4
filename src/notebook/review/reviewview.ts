import type { Cell, MarkdownCell } from '@jupyterlab/cells';
import type { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import type { UnreviewedChange } from './agentchanges';
import type { CellRow } from '../cells/cellrow';
import { addRow, cellButtonName, isDrawn } from '../cells/cellrow';
import { Listener } from '../../listener';
import type { CellDiff } from './celldiff';
import { Redraw } from '../redraw';
import type { NotebookReview } from './notebookreview';
import {
  deletedRow,
  editedRow,
  insertedRow,
  lineCountText
} from './reviewrows';

/**
 * Shows in one view of a notebook what the agent changed: differences in the
 * editors of cells, and rows to keep or take them back.
 *
 * #### Notes
 * Cells far away have no editor. They are done when they come into view.
 */
export class ReviewView extends Listener {
  constructor(options: ReviewView.IOptions) {
    super();
    this._options = options;
    const { review, panel } = options;
    const { content } = panel;
    review.changed.connect(this._schedule, this);
    content.modelContentChanged.connect(this._schedule, this);
    this._schedule();
  }

  protected override release(): void {
    this._redraw.dispose();
    this._shown.forEach(shown => Private.clear(shown));
    this._shown.clear();
  }

  /**
   * The difference shown in a cell, if there is one.
   */
  diff(cellId: string): CellDiff | null {
    return (
      [...this._shown.entries()].find(
        ([cell]) => !cell.isDisposed && cell.model.id === cellId
      )?.[1].diff ?? null
    );
  }

  private _schedule(): void {
    this._redraw.request();
  }

  private _draw(): void {
    const { panel, review, trans } = this._options;
    if (review.waiting.size === 0 && this._shown.size === 0) {
      return;
    }
    const { widgets } = panel.content;
    const deleted = review.deleted();
    const present = new Set<Cell>(widgets);
    for (const [cell, shown] of this._shown) {
      if (!present.has(cell)) {
        Private.clear(shown);
        this._shown.delete(cell);
      }
    }
    widgets.forEach((cell, index) => {
      const { id } = cell.model;
      const change = review.waiting.get(id) ?? null;
      const before = index === 0 ? (deleted.get(null) ?? []) : [];
      const behind = deleted.get(id) ?? [];
      const rows = before.length + behind.length;
      if (change || rows > 0 || this._shown.has(cell)) {
        this._drawCell(cell, change, before, behind);
        this._shown
          .get(cell)
          ?.own?.setCell(label => cellButtonName(trans, label, index));
      }
    });
  }

  private _drawCell(
    cell: Cell,
    change: UnreviewedChange | null,
    before: readonly string[],
    behind: readonly string[]
  ): void {
    let shown = this._shown.get(cell);
    if (!isDrawn(cell, this._schedule, this)) {
      // It gets its rows when it comes into view; what is over goes now.
      if (shown) {
        Private.clear(shown);
        this._shown.delete(cell);
      }
      return;
    }
    if (!shown) {
      shown = { key: '', rows: [], own: null, counted: '', diff: null };
      this._shown.set(cell, shown);
    }
    const key = JSON.stringify([change?.kind, before, behind]);
    if (shown.key !== key) {
      shown.key = key;
      this._drawRows(cell, shown, change, before, behind);
    }
    this._drawCount(cell, shown, change);
    this._drawDiff(cell, shown, change);
    if (cell.model.type === 'markdown') {
      const { rendered } = cell as MarkdownCell;
      shown.rows.forEach(row => row.setVisible('show', rendered));
    }
    if (!change && shown.rows.length === 0) {
      this._shown.delete(cell);
    }
  }

  private _drawRows(
    cell: Cell,
    shown: Private.IShown,
    change: UnreviewedChange | null,
    before: readonly string[],
    behind: readonly string[]
  ): void {
    const { panel } = this._options;
    const hadFocus = shown.rows.some(row =>
      row.node.contains(document.activeElement)
    );
    shown.rows.forEach(row => row.dispose());
    shown.rows = [];
    shown.own = null;
    shown.counted = '';
    const add = (row: CellRow, place: addRow.Place) => {
      addRow(cell, row, place);
      shown.rows.push(row);
    };
    before.forEach(id => add(this._deletedRow(id), 'before'));
    if (change?.kind === 'edited' || change?.kind === 'inserted') {
      shown.own = this._rowOf(cell, change.kind);
      add(shown.own, 'input');
    }
    behind.forEach(id => add(this._deletedRow(id), 'behind'));
    if (hadFocus && !panel.isDisposed) {
      panel.content.activate();
    }
  }

  /**
   * Lines of the person's are counted as they are shown: in the difference.
   */
  private _drawCount(
    cell: Cell,
    shown: Private.IShown,
    change: UnreviewedChange | null
  ): void {
    if (!shown.own || !change) {
      return;
    }
    const before = change.kind === 'edited' ? change.before : null;
    const now = cell.model.sharedModel.getSource();
    const counted = JSON.stringify([before, now]);
    if (shown.counted !== counted) {
      shown.counted = counted;
      shown.own.setCount(lineCountText(this._options.trans, before, now));
    }
  }

  private _rowOf(cell: Cell, kind: 'edited' | 'inserted'): CellRow {
    const { review, trans } = this._options;
    const { id, type } = cell.model;
    const actions = {
      keep: () => review.keep(id),
      undo: () => review.undo(id)
    };
    if (kind === 'inserted') {
      return insertedRow(trans, actions);
    }
    if (type !== 'markdown') {
      return editedRow(trans, actions);
    }
    const markdown = cell as MarkdownCell;
    markdown.renderedChanged.connect(this._schedule, this);
    return editedRow(trans, {
      ...actions,
      show: () => {
        markdown.rendered = false;
      }
    });
  }

  private _deletedRow(cellId: string): CellRow {
    const { review, trans } = this._options;
    const change = review.waiting.get(cellId);
    const source = change?.kind === 'deleted' ? change.before : '';
    return deletedRow(trans, source, {
      keep: () => review.keep(cellId),
      undo: () => review.undo(cellId)
    });
  }

  private _drawDiff(
    cell: Cell,
    shown: Private.IShown,
    change: UnreviewedChange | null
  ): void {
    const editor = Private.editorOf(cell);
    if (
      shown.diff &&
      (change?.kind !== 'edited' || shown.diff.editor !== editor)
    ) {
      shown.diff.dispose();
      shown.diff = null;
    }
    if (change?.kind !== 'edited' || !editor) {
      return;
    }
    if (shown.diff) {
      shown.diff.before = change.before;
      return;
    }
    if (!this._diffs) {
      void this._load();
      return;
    }
    const { review, trans } = this._options;
    const { id } = cell.model;
    shown.diff = new this._diffs.CellDiff({
      editor,
      before: change.before,
      trans,
      onKept: before => review.keepPart(id, before),
      onUndo: part => review.undoPart(id, part)
    });
  }

  private async _load(): Promise<void> {
    try {
      this._diffs = await this._options.loadDiffs();
      this._schedule();
    } catch (error) {
      // The rows work without; the page is offline, or newer on the server.
      console.warn('The differences in cells cannot be shown', error);
    }
  }

  private readonly _redraw = new Redraw(() => this._draw());
  private readonly _options: ReviewView.IOptions;
  private readonly _shown = new Map<Cell, Private.IShown>();
  private _diffs: ReviewView.IDiffs | null = null;
}

/**
 * The namespace for `ReviewView` statics.
 */
export namespace ReviewView {
  /**
   * What shows differences; it is large, and so comes when it is needed.
   */
  export interface IDiffs {
    readonly CellDiff: typeof CellDiff;
  }

  /**
   * What is shown, and where.
   */
  export interface IOptions {
    readonly panel: NotebookPanel;
    readonly review: NotebookReview;
    readonly trans: TranslationBundle;
    readonly loadDiffs: () => Promise<IDiffs>;
  }
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * What a cell shows of the review.
   */
  export interface IShown {
    /**
     * What the rows were made for.
     */
    key: string;
    rows: CellRow[];

    /**
     * The row of the cell itself, and what the lines in it were counted in.
     */
    own: CellRow | null;
    counted: string;
    diff: CellDiff | null;
  }

  export function clear({ rows, diff }: IShown): void {
    diff?.dispose();
    rows.forEach((row: Widget) => row.dispose());
  }

  /**
   * The cell's editor, if it is one that can show differences.
   */
  export function editorOf(cell: Cell): CodeMirrorEditor | null {
    const { editor } = cell;
    return editor && 'injectExtension' in editor
      ? (editor as CodeMirrorEditor)
      : null;
  }
}

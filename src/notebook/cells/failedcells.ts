import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import type { IError } from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { addRow, cellButtonName, CellRow, isDrawn } from './cellrow';
import { Listener } from '../../listener';
import { fixIcon } from '../../ui/icons/fixicon';
import { Redraw } from '../redraw';

/**
 * The error a cell's outputs end in, if they do.
 */
export function errorOf(model: Cell['model']): IError | null {
  // A cell that was replaced is asked about until Lab has drawn its buttons anew.
  if (model.type !== 'code' || model.isDisposed) {
    return null;
  }
  const { outputs } = model as ICodeCellModel;
  const last = outputs.get(outputs.length - 1);
  return last?.type === 'error' ? (last.toJSON() as IError) : null;
}

/**
 * The traceback of an error, without the colours of terminals.
 */
export function tracebackOf({ traceback, ename, evalue }: IError): string {
  const lines = Array.isArray(traceback) ? traceback.join('\n') : '';
  // eslint-disable-next-line no-control-regex -- the colours begin with one
  const plain = lines.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '');
  return plain.trim() === '' ? `${ename}: ${evalue}` : plain;
}

/**
 * Offers in one view of a notebook to have cells fixed that failed.
 */
export class FailedCells extends Listener {
  constructor(options: FailedCells.IOptions) {
    super();
    this._options = options;
    const { content } = options.panel;
    content.modelContentChanged.connect(this._schedule, this);
    this._schedule();
  }

  /**
   * Emitted when other cells than before have failed.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  protected override release(): void {
    this._redraw.dispose();
    this._rows.forEach(row => row.dispose());
    this._rows.clear();
  }

  private _schedule(): void {
    this._redraw.request();
  }

  private _draw(): void {
    const { panel, trans } = this._options;
    const { widgets } = panel.content;
    const left = new Set(this._rows.keys());
    let isOther = false;
    for (const [index, cell] of widgets.entries()) {
      if (!Private.hasFailed(cell)) {
        continue;
      }
      left.delete(cell);
      if (!this._rows.has(cell) && isDrawn(cell, this._schedule, this)) {
        const row = this._row(cell.model.id);
        this._rows.set(cell, row);
        addRow(cell, row, 'output');
        isOther = true;
      }
      this._rows
        .get(cell)
        ?.setCell(label => cellButtonName(trans, label, index));
    }
    for (const cell of left) {
      this._rows.get(cell)?.dispose();
      this._rows.delete(cell);
    }
    if (isOther || left.size > 0) {
      this._changed.emit();
    }
  }

  private _row(cellId: string): CellRow {
    const { trans, fix, explain } = this._options;
    return new CellRow({
      kind: 'failed',
      icon: fixIcon,
      text: trans.__('This cell failed'),
      buttons: [
        {
          name: 'fix',
          label: trans.__('Fix with agent'),
          title: trans.__('Fix this cell'),
          onClick: () => fix(cellId)
        },
        {
          name: 'explain',
          label: trans.__('Explain'),
          title: trans.__('Explain why this cell failed'),
          onClick: () => explain(cellId)
        }
      ]
    });
  }

  private readonly _redraw = new Redraw(() => this._draw(), 100);
  private readonly _options: FailedCells.IOptions;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _rows = new Map<Cell, CellRow>();
}

/**
 * The namespace for `FailedCells` statics.
 */
export namespace FailedCells {
  /**
   * Where it is offered, and what then happens.
   */
  export interface IOptions {
    readonly panel: NotebookPanel;
    readonly trans: TranslationBundle;
    readonly fix: (cellId: string) => void;
    readonly explain: (cellId: string) => void;
  }
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * Cheap: it is asked of every cell whenever one prints something.
   */
  export function hasFailed({ model }: Cell): boolean {
    if (model.type !== 'code' || model.isDisposed) {
      return false;
    }
    const { outputs } = model as ICodeCellModel;
    return (
      outputs.length > 0 && outputs.get(outputs.length - 1).type === 'error'
    );
  }
}

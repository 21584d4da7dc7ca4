import type {
  ISharedAttachmentsCell,
  ISharedNotebook,
  SharedCell
} from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONValue } from '@lumino/coreutils';

import type {
  ApplyNotebookOperationsMessage,
  CellMismatch,
  InsertCell,
  JsonValue
} from '../generated/wire';
import { CellList } from './celllist';
import { setOutputs } from './outputs/celloutputs';
import { sourceHash } from './hashes';
import { asOneStep, replaceSource } from './undosteps';

/**
 * One change of a notebook, as the server asks for it.
 */
export type NotebookOperation =
  ApplyNotebookOperationsMessage['operations'][number];

/**
 * What an operation did to what a cell says; `null` is no cell.
 */
export interface ICellChange {
  readonly cellId: string;
  readonly before: string | null;
  readonly after: string | null;

  /**
   * Of a cell that was taken away: all of it.
   */
  readonly removed?: IRemovedCell;
}

/**
 * A cell that is gone, and where it was.
 */
export interface IRemovedCell {
  readonly cell: SharedCell.Cell;

  /**
   * The cell it came behind; `null` is none.
   */
  readonly behind: string | null;

  /**
   * How many cells there were before it.
   */
  readonly place: number;
}

/**
 * What became of a batch: all of it was done, or nothing.
 */
export type OperationsOutcome =
  | { status: 'applied'; changes: ICellChange[] }
  | { status: 'mismatch'; mismatches: CellMismatch[] };

/**
 * Do all operations as one step that the person can undo, or none of them.
 *
 * #### Notes
 * Outputs go in through the cells' own models, after the rest: Lab's shared
 * model would show texts twice, and taking back an edit must not bring old
 * outputs back.
 */
export function applyOperations(
  {
    sharedModel: notebook,
    cells
  }: Pick<INotebookModel, 'sharedModel' | 'cells'>,
  operations: readonly NotebookOperation[]
): OperationsOutcome {
  const mismatches = Private.mismatches(notebook, operations);
  if (mismatches.length > 0) {
    return { status: 'mismatch', mismatches };
  }
  const changes = Private.changes(notebook, operations);
  const ofOutputs = operations.filter(Private.isOfOutputs);
  if (ofOutputs.length < operations.length) {
    asOneStep(notebook, Private.cellIds(operations), () => {
      const list = new CellList(notebook);
      for (const operation of operations) {
        Private.apply(notebook, list, operation);
      }
    });
  }
  for (const operation of ofOutputs) {
    Private.applyToOutputs(cells, operation);
  }
  return { status: 'applied', changes };
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * Walk through the operations without doing them: what one leaves behind is
   * what the next expects.
   */
  export function mismatches(
    notebook: ISharedNotebook,
    operations: readonly NotebookOperation[]
  ): CellMismatch[] {
    const cells = new Map<string, string>();
    for (const cell of notebook.cells) {
      cells.set(cell.getId(), cell.getSource());
    }
    const found: CellMismatch[] = [];
    operations.forEach((operation, index) => {
      const miss = (cellId: string, source?: string) =>
        found.push({
          index,
          cellId,
          ...(source === undefined ? {} : { source })
        });
      if (operation.op === 'setNotebookMetadata') {
        return;
      }
      const { cellId } = operation;
      const source = cells.get(cellId);
      if (operation.op === 'insertCell') {
        if (source !== undefined) {
          miss(cellId, source);
        }
        cells.set(cellId, operation.source);
      } else if (source === undefined) {
        miss(cellId);
        return;
      }
      if ('expect' in operation && operation.expect !== undefined) {
        if (sourceHash(source ?? '') !== operation.expect) {
          miss(cellId, source);
        }
      }
      if ('after' in operation && operation.after !== undefined) {
        if (!cells.has(operation.after) || operation.after === cellId) {
          miss(operation.after);
        }
      }
      if (operation.op === 'deleteCell') {
        cells.delete(cellId);
      } else if (operation.op === 'replaceSource') {
        cells.set(cellId, operation.source);
      }
    });
    return found;
  }

  /**
   * What each cell said before all of it, and says after.
   */
  export function changes(
    notebook: ISharedNotebook,
    operations: readonly NotebookOperation[]
  ): ICellChange[] {
    const before = new Map<string, string>();
    for (const cell of notebook.cells) {
      before.set(cell.getId(), cell.getSource());
    }
    const after = new Map<string, string | null>();
    for (const operation of operations) {
      switch (operation.op) {
        case 'insertCell':
        case 'replaceSource':
          after.set(operation.cellId, operation.source);
          break;
        case 'deleteCell':
          after.set(operation.cellId, null);
          break;
        default:
          break;
      }
    }
    return [...after]
      .map(([cellId, now]) => ({
        cellId,
        before: before.get(cellId) ?? null,
        after: now,
        ...(now === null && before.has(cellId)
          ? { removed: removed(notebook, cellId) }
          : {})
      }))
      .filter(change => change.before !== change.after);
  }

  function removed(notebook: ISharedNotebook, cellId: string): IRemovedCell {
    const place = notebook.cells.findIndex(cell => cell.getId() === cellId);
    return {
      cell: notebook.getCell(place).toJSON(),
      behind: place > 0 ? notebook.getCell(place - 1).getId() : null,
      place
    };
  }

  /**
   * The cells whose text an operation changes.
   */
  export function cellIds(operations: readonly NotebookOperation[]): string[] {
    return operations.flatMap(operation =>
      operation.op === 'replaceSource' ? [operation.cellId] : []
    );
  }

  type OutputOperation = Extract<
    NotebookOperation,
    { op: 'setOutputs' | 'appendOutput' | 'clearOutputs' }
  >;

  export function isOfOutputs(
    operation: NotebookOperation
  ): operation is OutputOperation {
    return (
      operation.op === 'setOutputs' ||
      operation.op === 'appendOutput' ||
      operation.op === 'clearOutputs'
    );
  }

  export function applyToOutputs(
    cells: INotebookModel['cells'],
    operation: OutputOperation
  ): void {
    for (const cell of cells) {
      if (cell.id === operation.cellId && cell.type === 'code') {
        changeOutputs(cell as ICodeCellModel, operation);
      }
    }
  }

  function changeOutputs(
    cell: ICodeCellModel,
    operation: OutputOperation
  ): void {
    switch (operation.op) {
      case 'setOutputs':
        setOutputs(cell, outputsOf(operation.outputs), operation.trusted);
        cell.executionCount = operation.executionCount ?? null;
        break;
      case 'appendOutput':
        cell.outputs.add(outputsOf([operation.output])[0]);
        break;
      case 'clearOutputs':
        cell.outputs.clear();
        cell.executionCount = null;
        break;
    }
  }

  export function apply(
    notebook: ISharedNotebook,
    cells: CellList,
    operation: NotebookOperation
  ): void {
    switch (operation.op) {
      case 'insertCell':
        cells.insert(cells.placeAfter(operation.after), newCell(operation));
        break;
      case 'replaceSource':
        cells.change(() =>
          replaceSource(cells.get(operation.cellId), operation.source)
        );
        break;
      case 'deleteCell':
        cells.remove(cells.place(operation.cellId));
        break;
      case 'moveCell': {
        const from = cells.place(operation.cellId);
        const place = cells.placeAfter(operation.after);
        cells.move(from, place > from ? place - 1 : place);
        break;
      }
      case 'changeCellType':
        changeType(cells, operation.cellId, operation.cellType);
        break;
      case 'setAttachments':
        cells.change(() =>
          setAttachments(cells.get(operation.cellId), operation.attachments)
        );
        break;
      case 'setCellMetadata': {
        const cell = cells.get(operation.cellId);
        cells.change(() => setMetadata(cell, operation));
        break;
      }
      case 'setNotebookMetadata':
        cells.change(() => setMetadata(notebook, operation));
        break;
      default:
        // Those of outputs come later.
        break;
    }
  }

  function setMetadata(
    owner: Pick<ISharedNotebook, 'setMetadata' | 'deleteMetadata'>,
    { key, value }: { key: string; value?: JsonValue }
  ): void {
    if (value === undefined || value === null) {
      owner.deleteMetadata(key);
    } else {
      owner.setMetadata(key, value as PartialJSONValue);
    }
  }

  function newCell(operation: InsertCell): SharedCell.Cell {
    const { cellId, cellType, source, metadata, attachments } = operation;
    const base = { id: cellId, cell_type: cellType, source };
    if (cellType !== 'code') {
      return {
        ...base,
        metadata: metadata ?? {},
        ...(attachments ? { attachments: attachments as Attachments } : {})
      };
    }
    return {
      ...base,
      metadata: {
        ...metadata,
        ...(operation.trusted ? { trusted: true } : {})
      },
      outputs: outputsOf(operation.outputs ?? []),
      execution_count: operation.executionCount ?? null
    };
  }

  type Attachments = nbformat.IAttachments;

  function setAttachments(
    cell: ISharedNotebook['cells'][number],
    attachments: Record<string, JsonValue>
  ): void {
    if (cell.cell_type !== 'code') {
      (cell as ISharedAttachmentsCell).setAttachments(
        Object.keys(attachments).length > 0
          ? (attachments as Attachments)
          : undefined
      );
    }
  }

  function changeType(cells: CellList, cellId: string, cellType: string): void {
    const old = cells.get(cellId);
    if (old.cell_type === cellType) {
      return;
    }
    const { source, metadata, attachments } =
      old.toJSON() as nbformat.IMarkdownCell;
    const kept = { id: cellId, cell_type: cellType, source, metadata };
    const changed =
      cellType === 'code'
        ? { ...kept, outputs: [], execution_count: null }
        : { ...kept, ...(attachments ? { attachments } : {}) };
    cells.replace(cells.place(cellId), changed);
  }

  function outputsOf(
    outputs: readonly Record<string, JsonValue>[]
  ): nbformat.IOutput[] {
    return outputs as nbformat.IOutput[];
  }
}

import type { INotebookModel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { CellList } from './celllist';
import type { ICellChange, IRemovedCell } from './operations';
import { asOneStep, replaceSource } from './steps';

/**
 * How long the person may be at it before their own changes are looked at.
 */
const SETTLE_MILLISECONDS = 50;

/**
 * What the agent did to a cell, and nobody has looked at yet. `before` is what
 * the cell said when it was last as the person knew it.
 */
export type UnreviewedChange =
  | { readonly kind: 'edited'; readonly before: string }
  | { readonly kind: 'inserted' }
  | {
      readonly kind: 'deleted';
      readonly before: string;
      readonly removed: IRemovedCell;
    };

/**
 * What the person said of a change.
 */
export interface IVerdict {
  readonly cellId: string;
  readonly accepted: boolean;
  readonly part: 'whole' | 'hunk';
}

/**
 * The agent's changes of one notebook that wait to be kept or taken back.
 *
 * #### Notes
 * One for all views of the notebook. Whatever makes a change disappear settles
 * it: the buttons, an undo, or the person's own typing.
 */
export class NotebookReview implements IDisposable {
  constructor(model: INotebookModel) {
    this._model = model;
    this._settler = new Debouncer(() => this._settle(), SETTLE_MILLISECONDS);
    model.contentChanged.connect(this._onContent, this);
  }

  /**
   * Emitted when other changes than before wait.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Emitted when the person kept a change, or took it back.
   */
  get reviewed(): ISignal<this, IVerdict> {
    return this._reviewed;
  }

  /**
   * The changes that wait, by the ids of their cells.
   */
  get waiting(): ReadonlyMap<string, UnreviewedChange> {
    return this._waiting;
  }

  /**
   * Whether the review is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Forget everything.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._settler.dispose();
    this._waiting.clear();
    Signal.disconnectReceiver(this);
    Signal.clearData(this);
  }

  /**
   * Take up what the agent did.
   *
   * @param changes - What it did, as one step.
   *
   * @param knownOnly - Take up only what it did to cells that wait already.
   */
  record(changes: readonly ICellChange[], knownOnly = false): void {
    for (const change of changes) {
      const { cellId } = change;
      const earlier = this._waiting.get(cellId);
      if (knownOnly && !earlier) {
        continue;
      }
      const now = Private.merged(earlier, change);
      if (now) {
        this._waiting.set(cellId, now);
      } else {
        this._waiting.delete(cellId);
      }
    }
    this._changed.emit();
  }

  /**
   * Leave a cell as the agent made it.
   */
  keep(cellId: string): void {
    if (this._waiting.delete(cellId)) {
      this._changed.emit();
      this._tell(cellId, true);
    }
  }

  /**
   * Make a cell what it was before the agent changed it.
   */
  undo(cellId: string): void {
    this._undo(cellId);
  }

  /**
   * Leave all cells as the agent made them.
   */
  keepAll(): void {
    const cellIds = [...this._waiting.keys()];
    this._waiting.clear();
    this._finish(cellIds, true);
  }

  /**
   * Take back all that waits, in one step.
   */
  undoAll(): void {
    this._undo(...this._waiting.keys());
  }

  /**
   * Keep part of what the agent changed in a cell.
   *
   * @param cellId - The cell.
   *
   * @param before - What the rest is compared with from now on.
   */
  keepPart(cellId: string, before: string): void {
    const change = this._waiting.get(cellId);
    if (change?.kind !== 'edited' || change.before === before) {
      return;
    }
    if (before === this._source(cellId)) {
      this._waiting.delete(cellId);
    } else {
      this._waiting.set(cellId, { kind: 'edited', before });
    }
    this._changed.emit();
    this._tell(cellId, true, 'hunk');
  }

  /**
   * Take up that part of what the agent changed in a cell was taken back.
   */
  undidPart(cellId: string): void {
    const change = this._waiting.get(cellId);
    if (change?.kind !== 'edited') {
      return;
    }
    if (change.before === this._source(cellId)) {
      this._waiting.delete(cellId);
      this._changed.emit();
    }
    this._tell(cellId, false, 'hunk');
  }

  /**
   * The deleted cells that wait, each list by the cell it is to be shown
   * behind; `null` is the beginning.
   */
  deleted(): Map<string | null, string[]> {
    const present = this._model.sharedModel.cells.map(cell => cell.getId());
    const found = new Map<string | null, [string, number][]>();
    for (const [cellId, change] of this._waiting) {
      if (change.kind === 'deleted') {
        const [behind, depth] = this._behind(change.removed, present);
        found.set(behind, [...(found.get(behind) ?? []), [cellId, depth]]);
      }
    }
    return new Map(
      [...found].map(([behind, cells]) => [
        behind,
        cells.sort(([, a], [, b]) => a - b).map(([cellId]) => cellId)
      ])
    );
  }

  /**
   * The nearest cell before a deleted one that is still there, and how many
   * deleted ones are between them.
   */
  private _behind(
    { behind, place }: IRemovedCell,
    present: readonly string[]
  ): [string | null, number] {
    let depth = 0;
    for (let at = behind; ; depth++) {
      if (at === null || present.includes(at)) {
        return [at, depth];
      }
      const change = this._waiting.get(at);
      if (change?.kind !== 'deleted' || depth > this._waiting.size) {
        // The person took that one away: what counts is the place.
        return [present[Math.min(place, present.length) - 1] ?? null, depth];
      }
      at = change.removed.behind;
    }
  }

  private _undo(...cellIds: string[]): void {
    const changes = cellIds.flatMap(cellId => {
      const change = this._waiting.get(cellId);
      return change ? [[cellId, change] as const] : [];
    });
    if (changes.length === 0 || this._model.readOnly) {
      return;
    }
    const { sharedModel } = this._model;
    asOneStep(sharedModel, cellIds, () => {
      const cells = new CellList(sharedModel);
      for (const [cellId, change] of changes) {
        this._revert(cells, cellId, change);
        this._waiting.delete(cellId);
      }
    });
    this._finish(cellIds, false);
  }

  private _revert(
    cells: CellList,
    cellId: string,
    change: UnreviewedChange
  ): void {
    const place = cells.place(cellId);
    switch (change.kind) {
      case 'edited':
        if (place >= 0) {
          replaceSource(cells.get(cellId), change.before);
        }
        break;
      case 'inserted':
        if (place >= 0) {
          cells.remove(place);
        }
        break;
      case 'deleted':
        if (place < 0) {
          const [behind] = this._behind(change.removed, cells.ids);
          const { cell } = change.removed;
          cells.insert(cells.placeAfter(behind ?? undefined), {
            ...cell,
            source: change.before
          });
        }
        break;
    }
  }

  private _finish(cellIds: readonly string[], accepted: boolean): void {
    if (cellIds.length > 0) {
      this._changed.emit();
      cellIds.forEach(cellId => this._tell(cellId, accepted));
    }
  }

  private _onContent(): void {
    if (this._waiting.size > 0) {
      void this._settler.invoke();
    }
  }

  /**
   * Drop what is as it was before: the person took it back in another way.
   */
  private _settle(): void {
    const sources = new Map(
      this._model.sharedModel.cells.map(cell => [
        cell.getId(),
        cell.getSource()
      ])
    );
    const gone: string[] = [];
    for (const [cellId, change] of this._waiting) {
      const source = sources.get(cellId);
      const isOver =
        change.kind === 'edited'
          ? source === undefined || source === change.before
          : (change.kind === 'inserted') === (source === undefined);
      if (isOver) {
        gone.push(cellId);
        this._waiting.delete(cellId);
      }
    }
    this._finish(gone, false);
    if (gone.length === 0) {
      // Cells were perhaps moved, or drawn anew.
      this._changed.emit();
    }
  }

  private _source(cellId: string): string | undefined {
    return this._model.sharedModel.cells
      .find(cell => cell.getId() === cellId)
      ?.getSource();
  }

  private _tell(
    cellId: string,
    accepted: boolean,
    part: IVerdict['part'] = 'whole'
  ): void {
    this._reviewed.emit({ cellId, accepted, part });
  }

  private readonly _model: INotebookModel;
  private readonly _settler: Debouncer;
  private readonly _waiting = new Map<string, UnreviewedChange>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _reviewed = new Signal<this, IVerdict>(this);
  private _isDisposed = false;
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * What waits after another change; `null` if nothing is left of it.
   */
  export function merged(
    earlier: UnreviewedChange | undefined,
    change: ICellChange
  ): UnreviewedChange | null {
    const before =
      earlier === undefined
        ? change.before
        : earlier.kind === 'inserted'
          ? null
          : earlier.before;
    if (change.after === before) {
      return null;
    }
    if (before === null) {
      return { kind: 'inserted' };
    }
    if (change.after !== null) {
      return { kind: 'edited', before };
    }
    return change.removed
      ? { kind: 'deleted', before, removed: change.removed }
      : null;
  }
}

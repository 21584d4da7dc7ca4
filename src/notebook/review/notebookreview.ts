import type { INotebookModel } from '@jupyterlab/notebook';
import { Debouncer } from '@lumino/polling';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { IChangedPart, UnreviewedChange } from './agentchanges';
import { isOver, merged, withChange, withoutPart } from './agentchanges';
import { CellList } from '../celllist';
import { Listener } from '../../listener';
import type { ICellChange, IRemovedCell } from '../operations';
import { asOneStep, replaceSource } from '../undosteps';

/**
 * How long the person may be at it before their own changes are looked at.
 */
const SETTLE_MILLISECONDS = 50;

/**
 * What the person said of a change.
 */
export interface IVerdict {
  readonly cellId: string;
  readonly accepted: boolean;
  readonly part: 'whole' | 'hunk';

  /**
   * Of a part that was kept: what the rest is compared with from now on.
   */
  readonly before?: string;

  /**
   * Of a part: whether nothing is left of the change.
   */
  readonly isLast?: boolean;
}

/**
 * The agent's changes of one notebook that wait to be kept or taken back.
 *
 * #### Notes
 * One for all views of the notebook. Whatever makes a change disappear settles
 * it: the buttons, an undo, or the person's own typing.
 */
export class NotebookReview extends Listener {
  constructor(model: INotebookModel) {
    super();
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
   * Emitted when a change was to be taken back, and was not, because the person
   * has written in its place.
   */
  get refused(): ISignal<this, void> {
    return this._refused;
  }

  /**
   * The changes that wait, by the ids of their cells.
   */
  get waiting(): ReadonlyMap<string, UnreviewedChange> {
    return this._waiting;
  }

  protected override release(): void {
    this._settler.dispose();
    this._waiting.clear();
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
      this._decided.delete(cellId);
      const now = merged(earlier, change);
      if (now) {
        this._waiting.set(cellId, now);
      } else {
        this._waiting.delete(cellId);
      }
    }
    this._changed.emit();
  }

  /**
   * Take up what the agent did before this page had the notebook, as far as it
   * is still there and nobody decided about it.
   */
  restore(changes: readonly ICellChange[]): void {
    const sources = this._sources();
    for (const change of changes) {
      const { cellId, after } = change;
      const now = merged(undefined, change);
      const known = this._waiting.get(cellId);
      if (known?.kind === 'edited' && now?.kind === 'edited') {
        this._waiting.set(cellId, { ...known, after: now.after });
      } else if (
        now &&
        !known &&
        this._decided.get(cellId) !== after &&
        !isOver(now, sources.get(cellId))
      ) {
        this._waiting.set(cellId, now);
      }
    }
    this._changed.emit();
  }

  /**
   * Leave a cell as the agent made it.
   */
  keep(cellId: string): void {
    this._finish(this._waiting.has(cellId) ? [cellId] : [], true);
  }

  /**
   * Make a cell what it was before the agent changed it, but for what the
   * person wrote since.
   */
  undo(cellId: string): void {
    this._undo(cellId);
  }

  /**
   * Leave all cells as the agent made them.
   */
  keepAll(): void {
    this._finish([...this._waiting.keys()], true);
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
      // That was the last of it.
      this.keep(cellId);
      return;
    }
    this._waiting.set(cellId, { ...change, before });
    this._changed.emit();
    this._reviewed.emit({ cellId, accepted: true, part: 'hunk', before });
  }

  /**
   * Take back part of what the agent changed in a cell, but for what the person
   * wrote there since.
   */
  undoPart(cellId: string, part: IChangedPart): void {
    const change = this._waiting.get(cellId);
    const source = this._source(cellId);
    if (
      change?.kind !== 'edited' ||
      source === undefined ||
      this._model.readOnly
    ) {
      return;
    }
    const restored = withoutPart(source, change.after, part);
    if (restored === null) {
      this._refused.emit();
      return;
    }
    const { sharedModel } = this._model;
    asOneStep(sharedModel, [cellId], () => {
      const cells = new CellList(sharedModel);
      cells.change(() => replaceSource(cells.get(cellId), restored));
    });
    const isLast = change.before === restored;
    if (isLast) {
      this._decide(cellId, change);
    }
    this._changed.emit();
    this._reviewed.emit({ cellId, accepted: false, part: 'hunk', isLast });
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
    const done: string[] = [];
    asOneStep(sharedModel, cellIds, () => {
      const cells = new CellList(sharedModel);
      for (const [cellId, change] of changes) {
        if (this._revert(cells, cellId, change)) {
          done.push(cellId);
        }
      }
    });
    this._finish(done, false);
    if (done.length < changes.length) {
      this._refused.emit();
    }
  }

  /**
   * Take one change back.
   *
   * @returns Whether it could be done without what the person wrote since.
   */
  private _revert(
    cells: CellList,
    cellId: string,
    change: UnreviewedChange
  ): boolean {
    const place = cells.place(cellId);
    if (change.kind === 'deleted') {
      if (place < 0) {
        const [behind] = this._behind(change.removed, cells.ids);
        const { cell } = change.removed;
        cells.insert(cells.placeAfter(behind ?? undefined), {
          ...cell,
          source: change.before
        });
      }
      return true;
    }
    if (place < 0) {
      return true;
    }
    const cell = cells.get(cellId);
    if (change.kind === 'inserted') {
      if (cell.getSource() !== change.after) {
        return false;
      }
      cells.remove(place);
      return true;
    }
    const { before, after } = change;
    const source = withChange(after, before, cell.getSource());
    if (source === null) {
      return false;
    }
    cells.change(() => replaceSource(cell, source));
    return true;
  }

  private _finish(cellIds: readonly string[], accepted: boolean): void {
    if (cellIds.length === 0) {
      return;
    }
    for (const cellId of cellIds) {
      const change = this._waiting.get(cellId);
      if (change) {
        this._decide(cellId, change);
      }
    }
    this._changed.emit();
    for (const cellId of cellIds) {
      this._reviewed.emit({ cellId, accepted, part: 'whole' });
    }
  }

  private _decide(cellId: string, change: UnreviewedChange): void {
    const after = change.kind === 'deleted' ? null : change.after;
    this._decided.set(cellId, after);
    this._waiting.delete(cellId);
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
    const sources = this._sources();
    const gone = [...this._waiting]
      .filter(([cellId, change]) => isOver(change, sources.get(cellId)))
      .map(([cellId]) => cellId);
    this._finish(gone, false);
    if (gone.length === 0) {
      // Cells were perhaps moved, or drawn anew.
      this._changed.emit();
    }
  }

  private _source(cellId: string): string | undefined {
    return this._sources().get(cellId);
  }

  private _sources(): Map<string, string> {
    return new Map(
      this._model.sharedModel.cells.map(cell => [
        cell.getId(),
        cell.getSource()
      ])
    );
  }

  private readonly _model: INotebookModel;
  private readonly _settler: Debouncer;
  private readonly _waiting = new Map<string, UnreviewedChange>();
  private readonly _decided = new Map<string, string | null>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _reviewed = new Signal<this, IVerdict>(this);
  private readonly _refused = new Signal<this, void>(this);
}

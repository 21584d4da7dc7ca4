import type { ISharedNotebook, SharedCell } from '@jupyter/ydoc';

import { withUniqueNames } from './merge/savedform';

type Cell = ISharedNotebook['cells'][number];

/**
 * The cells of a notebook while several of them are changed.
 *
 * #### Notes
 * Cells are put in and taken away one at a time: where several come or go in
 * one transaction, Lab takes another cell for the active one in between, and
 * whoever types then goes on in that one.
 */
export class CellList {
  /**
   * @param _notebook - Whose cells they are.
   *
   * @param _undoable - Whether it is for the person to undo what is done.
   */
  constructor(
    private readonly _notebook: ISharedNotebook,
    private readonly _undoable = true
  ) {
    const cells = withUniqueNames(this._notebook.cells, cell => cell.getId());
    this._cells = cells.map(([, cell]) => cell);
    this._names = cells.map(([name]) => name);
  }

  /**
   * Do something with the cells' content.
   */
  change(change: () => void): void {
    this._notebook.transact(change, this._undoable);
  }

  /**
   * The ids of the cells, in order. A cell with the id of one before it has
   * another name here, by which it is called in all that follows.
   */
  get ids(): string[] {
    return [...this._names];
  }

  /**
   * Whether there is such a cell.
   */
  has(cellId: string): boolean {
    return this._names.includes(cellId);
  }

  /**
   * A cell that is there.
   */
  get(cellId: string): Cell {
    return this._cells[this.place(cellId)];
  }

  /**
   * How many cells there are before this one.
   */
  place(cellId: string): number {
    return this._names.indexOf(cellId);
  }

  /**
   * Where a cell comes that goes behind this one; first if there is none.
   */
  placeAfter(cellId: string | undefined): number {
    return cellId === undefined ? 0 : this.place(cellId) + 1;
  }

  /**
   * Put a new cell somewhere.
   */
  insert(place: number, cell: SharedCell.Cell, name?: string): void {
    this.change(() => {
      const added = this._notebook.insertCell(place, cell);
      this._cells.splice(place, 0, added);
      this._names.splice(place, 0, name ?? added.getId());
    });
  }

  /**
   * Take a cell away.
   */
  remove(place: number): void {
    this.change(() => this._notebook.deleteCell(place));
    this._cells.splice(place, 1);
    this._names.splice(place, 1);
  }

  /**
   * Put another cell in a cell's place.
   */
  replace(place: number, cell: SharedCell.Cell): void {
    const { id } = cell;
    const isSame = id === this._cells[place].getId();
    // There is always a cell, or Lab makes one.
    this.insert(place, cell, isSame ? this._names[place] : undefined);
    this.remove(place + 1);
  }

  /**
   * Take a cell from one place to another, counted without it.
   */
  move(from: number, to: number): void {
    if (from !== to) {
      const name = this._names[from];
      const cell = this._cells[from].toJSON() as SharedCell.Cell;
      this.remove(from);
      this.insert(to, cell, name);
    }
  }

  private readonly _cells: Cell[];
  private readonly _names: string[];
}

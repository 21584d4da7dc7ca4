import type { ISharedNotebook, SharedCell } from '@jupyter/ydoc';

type Cell = ISharedNotebook['cells'][number];

/**
 * The cells of a notebook as they are in the middle of a transaction.
 *
 * #### Notes
 * The shared model's own list says until the end of a transaction what was
 * before it: a second change that looks there hits another cell.
 */
export class CellList {
  constructor(private readonly _notebook: ISharedNotebook) {
    this._cells = [...this._notebook.cells];
  }

  /**
   * The ids of the cells, in order.
   */
  get ids(): string[] {
    return this._cells.map(cell => cell.getId());
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
    return this._cells.findIndex(cell => cell.getId() === cellId);
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
  insert(place: number, cell: SharedCell.Cell): void {
    const added = this._notebook.insertCell(place, cell);
    this._cells.splice(place, 0, added);
  }

  /**
   * Take a cell away.
   */
  remove(place: number): void {
    this._notebook.deleteCell(place);
    this._cells.splice(place, 1);
  }

  /**
   * Put another cell in a cell's place.
   */
  replace(place: number, cell: SharedCell.Cell): void {
    this.remove(place);
    this.insert(place, cell);
  }

  /**
   * Take a cell from one place to another, counted without it.
   */
  move(from: number, to: number): void {
    if (from !== to) {
      const cell = this._cells[from].toJSON() as SharedCell.Cell;
      this.remove(from);
      this.insert(to, cell);
    }
  }

  private readonly _cells: Cell[];
}

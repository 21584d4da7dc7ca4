import type { Notebook } from '@jupyterlab/notebook';

/**
 * Change a notebook's cells, and leave the person in the cell they are in.
 *
 * #### Notes
 * Lab goes to the first cell when the active one is taken away, and a cell that
 * is moved is taken away and put in again.
 */
export function keepActiveCell(notebook: Notebook, change: () => void): void {
  const { activeCell: before, activeCellIndex: place } = notebook;
  const cellId = before?.model.id;
  change();
  if (cellId === undefined || notebook.activeCell?.model.id === cellId) {
    return;
  }
  const now = notebook.widgets.findIndex(({ model }) => model.id === cellId);
  notebook.activeCellIndex = now >= 0 ? now : place;
}

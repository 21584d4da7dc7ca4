import type { ISharedNotebook, YBaseCell, YNotebook } from '@jupyter/ydoc';
import type * as nbformat from '@jupyterlab/nbformat';

/**
 * Change a notebook in one step, which the person can undo in the notebook as
 * well as in each cell whose text it changes.
 *
 * #### Notes
 * Lab keeps an undo history for each cell, unless it is set otherwise, and
 * Ctrl+Z in a cell knows of nothing else. What was typed within half a second
 * of the change would become one step with it. The change may be of several
 * transactions of the notebook.
 */
export function asOneStep(
  notebook: ISharedNotebook,
  cellIds: readonly string[],
  change: () => void
): void {
  const whole = (notebook as YNotebook).undoManager;
  const changed = new Set(cellIds);
  const histories = notebook.cells
    .filter(cell => changed.has(cell.getId()))
    .map(cell => (cell as YBaseCell<nbformat.IBaseCellMetadata>).undoManager)
    .filter(history => history !== null && history !== whole);
  const separate = () => {
    whole?.stopCapturing();
    histories.forEach(history => history?.stopCapturing());
  };
  const all = [whole, ...histories].map(history => ({
    history,
    timeout: history?.captureTimeout ?? 0
  }));
  const wait = (milliseconds?: number) =>
    all.forEach(({ history, timeout }) => {
      if (history) {
        history.captureTimeout = milliseconds ?? timeout;
      }
    });
  separate();
  histories.forEach(history => history?.addTrackedOrigin(notebook));
  wait(Infinity);
  try {
    change();
  } finally {
    wait();
    histories.forEach(history => history?.removeTrackedOrigin(notebook));
    separate();
  }
}

/**
 * Give a cell another source, and change only what differs, so that cursors
 * and marks beside it stay.
 */
export function replaceSource(
  cell: ReturnType<ISharedNotebook['getCell']>,
  source: string
): void {
  const old = cell.getSource();
  if (old === source) {
    return;
  }
  let start = 0;
  const shorter = Math.min(old.length, source.length);
  while (start < shorter && old[start] === source[start]) {
    start++;
  }
  let same = 0;
  while (
    same < shorter - start &&
    old[old.length - 1 - same] === source[source.length - 1 - same]
  ) {
    same++;
  }
  // Never between the two halves of a character.
  if (
    start > 0 &&
    (Private.isLowSurrogate(old, start) ||
      Private.isLowSurrogate(source, start))
  ) {
    start--;
  }
  if (
    Private.isLowSurrogate(old, old.length - same) ||
    Private.isLowSurrogate(source, source.length - same)
  ) {
    same--;
  }
  cell.updateSource(
    start,
    old.length - same,
    source.slice(start, source.length - same)
  );
}

/**
 * Functions of this module alone.
 */
namespace Private {
  export function isLowSurrogate(text: string, place: number): boolean {
    const code = text.charCodeAt(place);
    return code >= 0xdc00 && code <= 0xdfff;
  }
}

import type { CompletionHandler } from '@jupyterlab/completer';
import { DocumentWidget } from '@jupyterlab/docregistry';
import { NotebookPanel } from '@jupyterlab/notebook';
import type { Widget } from '@lumino/widgets';

import type { GhostTextAsked, GhostTextCell } from '../generated/rest';

/**
 * How many characters of the cells above are sent, and of the cell or file.
 */
const MOST_ABOVE = 8_000;
const MOST_BEFORE = 8_000;
const MOST_AFTER = 2_000;

/**
 * Where somebody writes.
 */
export type Place = Omit<GhostTextAsked, 'count'>;

/**
 * Where somebody writes, as the server wants to know it.
 */
export function placeIn(
  { text, offset, mimeType }: CompletionHandler.IRequest,
  widget: Widget
): Place {
  const isMarkdown = mimeType?.includes('markdown') ?? false;
  const place: Place = {
    before: text.slice(Math.max(0, offset - MOST_BEFORE), offset),
    after: text.slice(offset, offset + MOST_AFTER),
    kind: isMarkdown ? 'markdown' : 'code',
    language: mimeType?.replace(/^(text|application)\/(x-)?/, '') ?? 'text'
  };
  if (widget instanceof NotebookPanel) {
    const { activeCell } = widget.content;
    return {
      ...place,
      path: widget.context.path,
      kind: activeCell?.model.type === 'markdown' ? 'markdown' : place.kind,
      cells: cellsAbove(widget)
    };
  }
  return widget instanceof DocumentWidget
    ? { ...place, path: widget.context.path }
    : place;
}

/**
 * The nearest cells above, as many as there is room for.
 */
function cellsAbove({ content }: NotebookPanel): GhostTextCell[] {
  const found: GhostTextCell[] = [];
  const { model, activeCellIndex } = content;
  let left = MOST_ABOVE;
  for (let at = activeCellIndex - 1; at >= 0 && left > 0; at--) {
    const cell = model?.cells.get(at);
    const source = cell?.sharedModel.getSource() ?? '';
    left -= source.length;
    if (cell === undefined || cell.type === 'raw' || left < 0) {
      continue;
    }
    found.unshift({
      kind: cell.type === 'markdown' ? 'markdown' : 'code',
      source
    });
  }
  return found;
}

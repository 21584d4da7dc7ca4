import type {
  CompletionHandler,
  IInlineCompletionContext
} from '@jupyterlab/completer';
import type { ICellModel } from '@jupyterlab/cells';
import { Text } from '@jupyterlab/coreutils';
import { DocumentWidget } from '@jupyterlab/docregistry';
import { NotebookPanel } from '@jupyterlab/notebook';

import type { GhostTextAsked, GhostTextCell } from '../generated/rest';
import { documentPath } from '../ui/notebookchoice';

/**
 * How many characters of the cells above are sent, and of the cell or file.
 */
const MOST_ABOVE = 8_000;
const MOST_BEFORE = 8_000;
const MOST_AFTER = 2_000;
const MOST_CELLS = 50;

/**
 * Where somebody writes.
 */
export type Place = Omit<GhostTextAsked, 'count'>;

/**
 * A widget that may be a console.
 */
interface IMaybeConsole {
  readonly console?: {
    /**
     * What was run there.
     */
    readonly cells: Iterable<{ readonly model: ICellModel }>;
  };
}

/**
 * Where somebody writes, as the server wants to know it; `null` for a raw cell,
 * of whose language nobody knows, and for what is on a drive that is not the
 * server's, of which it cannot tell what is hidden.
 */
export function placeIn(
  { text, offset, mimeType }: CompletionHandler.IRequest,
  { widget, session }: Pick<IInlineCompletionContext, 'widget' | 'session'>
): Place | null {
  const path = pathOf(widget, session);
  if (path === null) {
    return null;
  }
  // Lab counts characters, and an emoji as one.
  const cursor = Text.charIndexToJsIndex(offset, text);
  const isMarkdown = mimeType?.includes('markdown') ?? false;
  const place: Place = {
    before: wellFormed(text.slice(Math.max(0, cursor - MOST_BEFORE), cursor)),
    after: wellFormed(text.slice(cursor, cursor + MOST_AFTER)),
    kind: isMarkdown ? 'markdown' : 'code',
    language: languageOf(mimeType),
    ...(path !== undefined && { path })
  };
  const { console } = widget as IMaybeConsole;
  if (console) {
    const models = Array.from(console.cells, ({ model }) => model);
    return { ...place, cells: cellsAbove(models.length, at => models[at]) };
  }
  if (!(widget instanceof NotebookPanel)) {
    return place;
  }
  const { activeCell, activeCellIndex, codeMimetype, model } = widget.content;
  if (activeCell?.model.type === 'raw') {
    return null;
  }
  return {
    ...place,
    kind: activeCell?.model.type === 'markdown' ? 'markdown' : place.kind,
    language: languageOf(codeMimetype),
    cells: cellsAbove(activeCellIndex, at => model?.cells.get(at))
  };
}

/**
 * The server's path of the file that is written in: `undefined` if there is
 * none, `null` if it is on another drive.
 */
function pathOf(
  widget: IInlineCompletionContext['widget'],
  session: IInlineCompletionContext['session']
): string | null | undefined {
  return widget instanceof DocumentWidget
    ? documentPath(widget as Pick<NotebookPanel, 'context'>)
    : session?.path;
}

function languageOf(mimeType: string | undefined): string {
  return mimeType?.replace(/^(text|application)\/(x-)?/, '') ?? 'text';
}

/**
 * The text without half an emoji at its ends.
 */
function wellFormed(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}

/**
 * The nearest cells above one, as many as there is room for; of a console what
 * was run there.
 */
function cellsAbove(
  below: number,
  cellAt: (at: number) => ICellModel | undefined
): GhostTextCell[] {
  const found: GhostTextCell[] = [];
  let left = MOST_ABOVE;
  for (
    let at = below - 1;
    at >= 0 && left > 0 && found.length < MOST_CELLS;
    at--
  ) {
    const cell = cellAt(at);
    const source = cell?.sharedModel.getSource() ?? '';
    left -= source.length;
    if (
      cell === undefined ||
      cell.type === 'raw' ||
      left < 0 ||
      source.trim() === ''
    ) {
      continue;
    }
    found.unshift({
      kind: cell.type === 'markdown' ? 'markdown' : 'code',
      source
    });
  }
  return found;
}

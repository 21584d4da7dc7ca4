import type { ISharedNotebook } from '@jupyter/ydoc';

import type {
  JsonValue,
  NotebookPageRequest,
  ReadNotebookMessage
} from '../generated/wire';
import { CONVERSATION_KEY } from './pendingmetadata';

type Json = Record<string, JsonValue>;

/**
 * Part of a notebook, without what only the request knows.
 */
export type NotebookPage = Pick<
  NotebookPageRequest,
  'first' | 'total' | 'cells' | 'metadata' | 'nbformat' | 'nbformatMinor'
>;

/**
 * The largest text of one output in the bounded form, in characters.
 */
const BOUNDED_TEXT = 20_000;

/**
 * The largest cell told with all of its outputs; frames have a limit.
 */
const LARGEST_CELL = 2_000_000;

/**
 * The cells from `first` on, as many as fit the budget, but at least one.
 */
export function pageOf(
  notebook: ISharedNotebook,
  {
    first,
    outputs,
    budget
  }: Pick<ReadNotebookMessage, 'first' | 'outputs' | 'budget'>
): NotebookPage {
  const cells: Json[] = [];
  const total = notebook.cells.length;
  let size = 0;
  for (let place = first; place < total; place++) {
    const [cell, length] = Private.cellOf(
      notebook.getCell(place).toJSON() as unknown as Json,
      outputs
    );
    if (cells.length > 0 && size + length > budget) {
      break;
    }
    size += length;
    cells.push(cell);
  }
  return {
    first,
    total,
    cells,
    metadata: Private.metadataOf(notebook),
    nbformat: notebook.nbformat,
    nbformatMinor: notebook.nbformat_minor
  };
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * All but the conversation, which is long and which nobody asks for.
   */
  export function metadataOf(notebook: ISharedNotebook): Json {
    const { [CONVERSATION_KEY]: _, ...rest } =
      notebook.getMetadata() as unknown as Json;
    return rest;
  }

  /**
   * A cell with its outputs in the detail asked for, and its length as text.
   */
  export function cellOf(
    cell: Json,
    detail: ReadNotebookMessage['outputs']
  ): [Json, number] {
    const whole = detail === 'full' ? cell : withOutputs(cell, detail);
    const length = JSON.stringify(whole).length;
    if (detail === 'full' && length > LARGEST_CELL) {
      return cellOf(cell, 'bounded');
    }
    return [whole, length];
  }

  function withOutputs(cell: Json, detail: 'none' | 'bounded'): Json {
    if (!Array.isArray(cell.outputs)) {
      return cell;
    }
    const shorten = detail === 'none' ? () => '' : shortened;
    return {
      ...cell,
      outputs: cell.outputs.map(output => outputOf(output as Json, shorten))
    };
  }

  /**
   * An output that still says what it is; text goes through `shorten`, and
   * pictures and the like are left out.
   */
  function outputOf(output: Json, shorten: (text: string) => string): Json {
    if (output.output_type === 'stream') {
      return { ...output, text: shorten(textOf(output.text)) };
    }
    if (output.output_type === 'error') {
      return {
        ...output,
        traceback: [shorten(textOf(output.traceback, '\n'))]
      };
    }
    const data = Object.entries((output.data ?? {}) as Json).map(
      ([mime, value]): [string, JsonValue] => [
        mime,
        mime.startsWith('text/') ? shorten(textOf(value)) : ''
      ]
    );
    return { ...output, data: Object.fromEntries(data), metadata: {} };
  }

  function textOf(value: JsonValue | undefined, between = ''): string {
    const pieces = Array.isArray(value) ? value : [value];
    return pieces.filter(piece => typeof piece === 'string').join(between);
  }

  function shortened(text: string): string {
    if (text.length <= BOUNDED_TEXT) {
      return text;
    }
    const half = BOUNDED_TEXT / 2;
    const left = text.length - BOUNDED_TEXT;
    return `${text.slice(0, half)}\n[${left} characters left out]\n${text.slice(-half)}`;
  }
}

import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { AttachmentKind, IAttachment } from '../../state/panel/panelstate';
import { IMAGE_TYPES } from '../../ui/imagetypes';
import { documentPath } from '../../ui/notebookchoice';
import type { ICellPlace } from './cellplace';
import { errorOf, tracebackOf } from './failedcells';

/**
 * What goes along with a message of a cell.
 */
export interface IFromCell {
  readonly attachments: readonly IAttachment[];

  /**
   * Data URLs.
   */
  readonly images: readonly string[];
}

/**
 * What of a cell may be attached.
 */
export type CellPart = Extract<
  AttachmentKind,
  'cell' | 'selection' | 'output' | 'error'
>;

/**
 * How much of an output goes along; of a longer one its begin and its end.
 */
const MOST_CHARACTERS = 20_000;

/**
 * The part of a cell, to go along with a message; `null` if it has no such part.
 *
 * @param panel - The notebook.
 *
 * @param cell - One of its cells.
 */
export function takeFromCell(
  part: CellPart,
  panel: NotebookPanel,
  cell: Cell,
  trans: TranslationBundle
): IFromCell | null {
  const path = documentPath(panel);
  const content = Private.contentOf(part, cell);
  if (path === null || content === null) {
    return null;
  }
  const images = part === 'output' ? Private.imagesOf(cell) : [];
  if (content.trim() === '' && images.length === 0) {
    return null;
  }
  const number = panel.content.widgets.indexOf(cell) + 1;
  return {
    attachments: [
      {
        kind: part,
        path,
        cellId: cell.model.id,
        label: Private.label(part, number, trans),
        content: boundedContent(content)
      }
    ],
    images
  };
}

/**
 * What goes along with an action on a cell: what is selected in it, else how it
 * failed, else its source. Of several selected cells, each.
 */
export function attachmentsOf(
  { panel, cell }: ICellPlace,
  trans: TranslationBundle
): IAttachment[] {
  const cells = selectedWith(panel, cell);
  // Where several cells are meant, what was once selected in one is not.
  const wanted = cells.length > 1 ? Private.WHOLE : Private.FIRST;
  return cells.flatMap(
    one => attachmentOf({ panel, cell: one }, trans, wanted) ?? []
  );
}

/**
 * The same of one cell; `null` if it is empty.
 *
 * @param wanted - The parts, of which the first that it has is taken.
 */
export function attachmentOf(
  { panel, cell }: Pick<ICellPlace, 'panel' | 'cell'>,
  trans: TranslationBundle,
  wanted: readonly CellPart[] = Private.FIRST
): IAttachment | null {
  const parts = partsOf(cell);
  const part = wanted.find(each => parts.has(each));
  return part
    ? (takeFromCell(part, panel, cell, trans)?.attachments[0] ?? null)
    : null;
}

/**
 * A cell, and the others that are selected if it is one of them.
 */
export function selectedWith({ content }: NotebookPanel, cell: Cell): Cell[] {
  const selected = content.widgets.filter(one =>
    content.isSelectedOrActive(one)
  );
  return selected.includes(cell) ? selected : [cell];
}

/**
 * The last cell of a notebook that failed, if one did.
 */
export function lastFailed({ content }: NotebookPanel): Cell | null {
  return (
    [...content.widgets]
      .reverse()
      .find(({ model }) => errorOf(model) !== null) ?? null
  );
}

/**
 * The source of a cell, and what it printed.
 */
export function sourceAndOutput(cell: Cell): string {
  const parts = [
    Private.contentOf('cell', cell),
    Private.contentOf('output', cell)
  ];
  return boundedContent(
    parts.filter(part => part !== null && part.trim() !== '').join('\n\n')
  );
}

/**
 * As much of a text as goes along with a message.
 */
export function boundedContent(text: string): string {
  if (text.length <= MOST_CHARACTERS) {
    return text;
  }
  const half = MOST_CHARACTERS / 2;
  const left = text.length - MOST_CHARACTERS;
  return `${text.slice(0, half)}\n… (${left} characters left out) …\n${text.slice(-half)}`;
}

/**
 * The parts a cell has.
 */
export function partsOf(cell: Cell): ReadonlySet<CellPart> {
  const parts: CellPart[] = ['cell', 'selection', 'output', 'error'];
  return new Set(
    parts.filter(part => {
      const content = Private.contentOf(part, cell);
      return (
        content !== null &&
        (content.trim() !== '' ||
          (part === 'output' && Private.imagesOf(cell).length > 0))
      );
    })
  );
}

/**
 * The first line of a cell that says something.
 */
export function firstLine({ model }: Cell): string {
  const lines = model.sharedModel.getSource().split('\n');
  return lines.find(line => line.trim() !== '')?.trim() ?? '';
}

/**
 * Whether a cell has any output.
 */
export function hasOutputs({ model }: Cell): boolean {
  return model.type === 'code' && (model as ICodeCellModel).outputs.length > 0;
}

/**
 * A part of a notebook that begins with a heading.
 */
export interface ISection {
  /**
   * The cell with the heading.
   */
  readonly cell: Cell;
  readonly title: string;

  /**
   * That cell and all that follow, up to the next heading that is no part of it.
   */
  readonly cells: readonly Cell[];
}

/**
 * The sections of a notebook, by the headings that its Markdown cells begin with.
 */
export function sectionsOf(cells: readonly Cell[]): ISection[] {
  const headings = cells.flatMap((cell, at) => {
    const found =
      cell.model.type === 'markdown'
        ? /^(#{1,6})\s+(.*\S)/.exec(firstLine(cell))
        : null;
    return found ? [{ cell, at, level: found[1].length, title: found[2] }] : [];
  });
  return headings.map(({ cell, at, level, title }, index) => {
    const next = headings
      .slice(index + 1)
      .find(heading => heading.level <= level);
    return { cell, title, cells: cells.slice(at, next?.at) };
  });
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What of a cell is meant, the nearest first.
   */
  export const FIRST: readonly CellPart[] = ['selection', 'error', 'cell'];
  export const WHOLE: readonly CellPart[] = ['error', 'cell'];

  export function contentOf(part: CellPart, cell: Cell): string | null {
    switch (part) {
      case 'cell':
        return cell.model.sharedModel.getSource();
      case 'selection':
        return selectionOf(cell);
      case 'output':
        return outputsOf(cell)?.map(textOf).join('') ?? null;
      case 'error': {
        const error = errorOf(cell.model);
        const source = cell.model.sharedModel.getSource();
        return error && `${source}\n\n${tracebackOf(error)}`;
      }
    }
  }

  function selectionOf(cell: Cell): string | null {
    const { editor } = cell;
    // What was selected in a text before it was rendered, nobody sees.
    if (!editor || (cell as Cell & { rendered?: boolean }).rendered) {
      return null;
    }
    const { start, end } = editor.getSelection();
    const offsets = [editor.getOffsetAt(start), editor.getOffsetAt(end)];
    const [from = 0, to = 0] = offsets.sort((a, b) => a - b);
    return editor.model.sharedModel.getSource().slice(from, to);
  }

  export function imagesOf(cell: Cell): string[] {
    return (outputsOf(cell) ?? []).flatMap(output => {
      const data = (output.data ?? {}) as nbformat.IMimeBundle;
      for (const type of IMAGE_TYPES) {
        const base64 = joined(data[type]).replace(/\s/g, '');
        if (base64 !== '') {
          return [`data:${type};base64,${base64}`];
        }
      }
      return [];
    });
  }

  function outputsOf({ model }: Cell): nbformat.IOutput[] | null {
    return model.type === 'code'
      ? (model as ICodeCellModel).outputs.toJSON()
      : null;
  }

  function textOf(output: nbformat.IOutput): string {
    if (output.output_type === 'stream') {
      return joined(output.text);
    }
    if (output.output_type === 'error') {
      return tracebackOf(output as nbformat.IError);
    }
    const data = (output.data ?? {}) as nbformat.IMimeBundle;
    const text = joined(data['text/plain']);
    return text === '' ? '' : `${text}\n`;
  }

  function joined(text: unknown): string {
    return Array.isArray(text)
      ? text.join('')
      : typeof text === 'string'
        ? text
        : '';
  }

  export function label(
    part: CellPart,
    number: number,
    trans: TranslationBundle
  ): string {
    switch (part) {
      case 'cell':
        return trans.__('Cell %1', number);
      case 'selection':
        return trans.__('Selection in cell %1', number);
      case 'output':
        return trans.__('Output of cell %1', number);
      case 'error':
        return trans.__('Error of cell %1', number);
    }
  }
}

import type { Cell } from '@jupyterlab/cells';
import { DocumentWidget } from '@jupyterlab/docregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import {
  boundedContent,
  sourceAndOutput
} from '../../notebook/cells/cellparts';
import type { IAttachment } from '../../state/panel/panelstate';
import { documentPath } from '../../ui/notebookchoice';
import { isTerminal, lastLinesOf, selectionInTerminal } from './terminaltext';

/**
 * What of a document, console or terminal goes along with a message.
 */
export type DocumentPart =
  | {
      /**
       * Files that are named, and read when the message is sent.
       */
      readonly kind: 'files';
      readonly paths: readonly string[];
    }
  | {
      /**
       * A text as it is now.
       */
      readonly kind: 'text';
      readonly attachment: IAttachment;
    };

/**
 * What goes along of a tab of the main area: what is selected in it; else its
 * file, in a console what ran last, of a terminal its last lines. `null` if there
 * is nothing.
 */
export function partOf(
  widget: Widget | null,
  trans: TranslationBundle
): DocumentPart | null {
  if (widget instanceof DocumentWidget) {
    return Private.ofDocument(widget as DocumentWidget, trans);
  }
  if (widget === null) {
    return null;
  }
  const { label } = widget.title;
  const content = isTerminal(widget)
    ? (selectionInTerminal(widget) ?? lastLinesOf(widget))
    : Private.lastInConsole(widget);
  const kind = isTerminal(widget) ? 'terminal' : 'file';
  return content === null || content.trim() === ''
    ? null
    : Private.text(label, kind, label, content);
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function ofDocument(
    widget: DocumentWidget,
    trans: TranslationBundle
  ): DocumentPart | null {
    const onServer = documentPath(widget);
    const path = onServer ?? widget.context.path;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const { editor } = widget.content as { editor?: Cell['editor'] };
    const selected = editor ? selectionIn(editor) : null;
    if (selected !== null) {
      const { first, last, content } = selected;
      const label =
        first === last
          ? trans.__('%1, line %2', name, first)
          : trans.__('%1, lines %2–%3', name, first, last);
      return text(path, 'selection', label, content);
    }
    const source = editor?.model.sharedModel.getSource() ?? '';
    if (source.trim() !== '' && onServer === null) {
      return text(path, 'selection', name, source);
    }
    // What is not saved would not be read from the file.
    if (source.trim() !== '' && widget.context.model.dirty) {
      return text(path, 'selection', trans.__('%1 (not saved)', name), source);
    }
    return onServer === null ? null : { kind: 'files', paths: [onServer] };
  }

  /**
   * What is selected, and in which lines; `null` if that says nothing.
   */
  function selectionIn(editor: NonNullable<Cell['editor']>) {
    const { start, end } = editor.getSelection();
    const [first, last] = [start, end].sort(
      (a, b) => editor.getOffsetAt(a) - editor.getOffsetAt(b)
    );
    const content = editor.model.sharedModel
      .getSource()
      .slice(editor.getOffsetAt(first), editor.getOffsetAt(last));
    return content.trim() === ''
      ? null
      : { first: first.line + 1, last: last.line + 1, content };
  }

  /**
   * What a console ran last, and what it printed.
   */
  export function lastInConsole(widget: Widget | null): string | null {
    const cells = (widget as { console?: { cells?: Iterable<Cell> } } | null)
      ?.console?.cells;
    const last = [...(cells ?? [])]
      .filter(({ model }) => model.type === 'code')
      .pop();
    return last ? sourceAndOutput(last) : null;
  }

  export function text(
    path: string,
    kind: IAttachment['kind'],
    label: string,
    content: string
  ): DocumentPart {
    return {
      kind: 'text',
      attachment: {
        kind,
        path,
        cellId: null,
        label,
        content: boundedContent(content)
      }
    };
  }
}

import type {
  ISharedAttachmentsCell,
  ISharedCodeCell,
  ISharedNotebook
} from '@jupyter/ydoc';
import type * as nbformat from '@jupyterlab/nbformat';
import type { PartialJSONObject } from '@lumino/coreutils';

import { outputsHash } from '../outputs/outputshash';

/**
 * A cell as the file has it, as far as it takes to tell later what was changed
 * since.
 */
export interface ISavedCell {
  readonly type: string;
  readonly source: string;
  readonly count: number | null;
  /**
   * A hash of its outputs, if it is a cell that can have some.
   */
  readonly outputs: string | null;
  readonly metadata: PartialJSONObject;
  readonly attachments: PartialJSONObject;
  /**
   * The cell here that has what the file says, where that was changed here and
   * there in one place.
   */
  readonly copy?: string;
}

/**
 * A notebook as the file has it: its cells by their names (see `withUniqueNames`), in
 * order.
 */
export interface ISavedNotebook {
  readonly cells: ReadonlyMap<string, ISavedCell>;
  readonly metadata: PartialJSONObject;
}

/**
 * What is in a file that says what this model says now.
 */
export function savedNotebook(notebook: ISharedNotebook): ISavedNotebook {
  return {
    cells: new Map(
      withUniqueNames(notebook.cells, cell => cell.getId()).map(
        ([name, cell]) => [
          name,
          {
            type: cell.cell_type,
            source: cell.getSource(),
            count: 'execution_count' in cell ? cell.execution_count : null,
            outputs:
              cell.cell_type === 'code'
                ? outputsHash((cell as ISharedCodeCell).getOutputs())
                : null,
            metadata: cell.getMetadata(),
            attachments: attachmentsOf(cell)
          }
        ]
      )
    ),
    metadata: notebook.getMetadata()
  };
}

/**
 * A cell of a file.
 */
export function savedCell(cell: nbformat.ICell): ISavedCell {
  return {
    type: cell.cell_type,
    source: inOneText(cell.source),
    count: (cell.execution_count as number | null | undefined) || null,
    outputs:
      cell.cell_type === 'code'
        ? outputsHash((cell.outputs as nbformat.IOutput[] | undefined) ?? [])
        : null,
    metadata: cell.metadata,
    attachments: (cell.attachments as PartialJSONObject | undefined) ?? {}
  };
}

/**
 * What is attached to a cell.
 */
export function attachmentsOf(
  cell: ISharedNotebook['cells'][number]
): PartialJSONObject {
  return cell.cell_type === 'code'
    ? {}
    : ((cell as ISharedAttachmentsCell).getAttachments() ?? {});
}

/**
 * Cells with names that are all different: their ids, and of one whose id
 * another before it has, a name that no id can be.
 */
export function withUniqueNames<T>(
  cells: Iterable<T>,
  idOf: (cell: T) => string
): [string, T][] {
  const count = new Map<string, number>();
  return [...cells].map(cell => {
    const id = idOf(cell);
    const place = (count.get(id) ?? 0) + 1;
    count.set(id, place);
    return [place === 1 ? id : `${id} ${place}`, cell];
  });
}

/**
 * A text that nbformat keeps in one piece, or in lines.
 */
function inOneText(text: nbformat.MultilineString): string {
  return typeof text === 'string' ? text : text.join('');
}

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { CellCode, CellEdit } from '../../../generated/wire';
import { usePanel } from '../../../ui/services';
import { BoundedText } from '../../../ui/texts/boundedtext';
import { CopyButton } from '../../../ui/controls/copybutton';
import { Diff, DiffStats } from '../../../ui/texts/diff';
import { PlaceLink } from '../../../ui/controls/placelink';

/**
 * Changes of cells, one after the other.
 */
export function CellEdits({
  id,
  path,
  edits
}: {
  id: string;
  path: string | undefined;
  edits: readonly CellEdit[];
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <ol className="jp-hdspAgent-cells">
      {edits.map((edit, index) => (
        <li key={index}>
          <div className="jp-hdspAgent-cells-head">
            {path && edit.cellId ? (
              <PlaceLink path={path} cellId={edit.cellId}>
                {editTexts(edit, trans)}
              </PlaceLink>
            ) : (
              <span>{editTexts(edit, trans)}</span>
            )}
            {isCounted(edits, edit) && (
              <DiffStats added={edit.added ?? 0} removed={edit.removed ?? 0} />
            )}
          </div>
          {edit.diff && <Diff id={`${id}:${index}`} text={edit.diff} />}
        </li>
      ))}
    </ol>
  );
}

/**
 * Whether the lines of a change are counted beside it: of a single one, that is
 * at the head of the row already.
 */
function isCounted(
  edits: readonly CellEdit[],
  { added, removed }: CellEdit
): boolean {
  return edits.length > 1 && (added !== undefined || removed !== undefined);
}

/**
 * Code that is run, cell by cell.
 */
export function CellCodes({
  id,
  path,
  cells
}: {
  id: string;
  path: string | undefined;
  cells: readonly CellCode[];
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <ol className="jp-hdspAgent-cells">
      {cells.map(({ cellId, number, code }, index) => (
        <li key={index}>
          <div className="jp-hdspAgent-cells-head">
            {path && cellId && (
              <PlaceLink path={path} cellId={cellId}>
                {number ? trans.__('Cell %1', number) : trans.__('Cell')}
              </PlaceLink>
            )}
            <CopyButton text={code} label={trans.__('Copy this code')} />
          </div>
          <BoundedText
            id={`${id}:${index}`}
            text={code}
            render={code => (
              <pre className="jp-hdspAgent-chat-plain" tabIndex={0}>
                {code}
              </pre>
            )}
          />
        </li>
      ))}
    </ol>
  );
}

function editTexts(
  { op, number, after, cellType }: CellEdit,
  trans: TranslationBundle
): string {
  const cell = String(number ?? '?');
  switch (op) {
    case 'insert':
      return insertTexts(after, cellType, trans);
    case 'delete':
      return trans.__('Delete cell %1', cell);
    case 'move':
      return after
        ? trans.__('Move cell %1 below cell %2', cell, after)
        : trans.__('Move cell %1 to the top', cell);
    case 'changeType':
      return typeTexts(cell, cellType, trans);
    case 'clearOutputs':
      return trans.__('Clear the output of cell %1', cell);
    case 'replace':
      return trans.__('Replace cell %1', cell);
    case 'edit':
      return trans.__('Edit cell %1', cell);
  }
}

function typeTexts(
  cell: string,
  cellType: CellEdit['cellType'],
  trans: TranslationBundle
): string {
  switch (cellType) {
    case 'code':
      return trans.__('Turn cell %1 into a code cell', cell);
    case 'markdown':
      return trans.__('Turn cell %1 into a Markdown cell', cell);
    default:
      return trans.__('Turn cell %1 into a raw cell', cell);
  }
}

function insertTexts(
  after: number | undefined,
  cellType: CellEdit['cellType'],
  trans: TranslationBundle
): string {
  const isMarkdown = cellType === 'markdown';
  if (after === undefined) {
    return isMarkdown ? trans.__('New Markdown cell') : trans.__('New cell');
  }
  if (after === 0) {
    return isMarkdown
      ? trans.__('New Markdown cell at the top')
      : trans.__('New cell at the top');
  }
  return isMarkdown
    ? trans.__('New Markdown cell below cell %1', after)
    : trans.__('New cell below cell %1', after);
}

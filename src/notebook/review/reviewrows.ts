import type { TranslationBundle } from '@jupyterlab/translation';

import { fullCount } from '../../ui/texts/formats';
import { CellRow } from '../cells/cellrow';
import { lineCounts } from './linechanges';

/**
 * What the rows of a review do.
 */
export interface IReviewActions {
  readonly keep: () => void;
  readonly undo: () => void;

  /**
   * Show the text of a rendered Markdown cell.
   */
  readonly show?: () => void;
}

/**
 * How many lines a change adds and removes; nothing where it is of none.
 *
 * @param before - What the cell said; `null` is no cell.
 *
 * @param now - What it says.
 */
export function lineCountText(
  trans: TranslationBundle,
  before: string | null,
  now: string | null
): CellRow.ICount {
  const { added, removed } = lineCounts(before, now);
  if (added + removed === 0) {
    return { text: '', title: '' };
  }
  const counts = [fullCount(added), fullCount(removed)] as const;
  return {
    text: `+${counts[0]} −${counts[1]}`,
    title: trans.__('%1 lines added, %2 removed', ...counts)
  };
}

/**
 * The row of a cell the agent edited.
 */
export function editedRow(
  trans: TranslationBundle,
  { keep, undo, show }: IReviewActions
): CellRow {
  return new CellRow({
    kind: 'edited',
    text: trans.__('Changed by the agent'),
    buttons: [
      ...(show
        ? [
            {
              name: 'show',
              label: trans.__('Show changes'),
              title: trans.__('Show the text of the cell and what changed'),
              onClick: show
            }
          ]
        : []),
      {
        name: 'keep',
        label: trans.__('Keep'),
        title: trans.__('Keep what the agent changed in this cell'),
        onClick: keep
      },
      {
        name: 'undo',
        label: trans.__('Undo'),
        title: trans.__('Undo what the agent changed in this cell'),
        onClick: undo
      }
    ]
  });
}

/**
 * The row of a cell the agent put in.
 */
export function insertedRow(
  trans: TranslationBundle,
  { keep, undo }: IReviewActions
): CellRow {
  return new CellRow({
    kind: 'inserted',
    text: trans.__('Cell added by the agent'),
    buttons: [
      {
        name: 'keep',
        label: trans.__('Keep'),
        title: trans.__('Keep the cell the agent added'),
        onClick: keep
      },
      {
        name: 'undo',
        label: trans.__('Remove'),
        title: trans.__('Remove the cell the agent added'),
        onClick: undo
      }
    ]
  });
}

/**
 * The row at the place of a cell the agent took away.
 */
export function deletedRow(
  trans: TranslationBundle,
  source: string,
  { keep, undo }: IReviewActions
): CellRow {
  const row = new CellRow({
    kind: 'deleted',
    text: trans.__('Cell deleted by the agent'),
    title: trans.__(
      'Cell deleted by the agent: %1',
      source.split('\n').slice(0, 12).join('\n')
    ),
    buttons: [
      {
        name: 'keep',
        label: trans.__('Keep deleted'),
        title: trans.__('Leave the cell deleted'),
        onClick: keep
      },
      {
        name: 'undo',
        label: trans.__('Undo'),
        title: trans.__('Restore the cell the agent deleted'),
        onClick: undo
      }
    ]
  });
  row.setCount(lineCountText(trans, source, null));
  return row;
}

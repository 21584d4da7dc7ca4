import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  ColumnView,
  VariableChange,
  VariableView
} from '../generated/rest';
import { fullCount } from '../ui/texts/formats';

/**
 * What the variables can be sorted by; without any they stand as the kernel has
 * them, the newest first.
 */
export type SortKey = 'name' | 'type' | 'value' | 'size';

/**
 * The types whose beginning says more than their length.
 */
const TEXTS: readonly string[] = ['str', 'bytes', 'bytearray', 'numpy.str_'];

/**
 * The column sorted by, and whether the largest comes first.
 */
export interface ISorting {
  readonly key: SortKey;
  readonly isDescending: boolean;
}

/**
 * A type without the modules that it is in.
 */
export function typeText({ type }: VariableView): string {
  return type.slice(type.lastIndexOf('.') + 1);
}

/**
 * How many rows and columns, or items, there are; of what has none the value.
 */
export function valueText(
  { type, shape, length, head }: VariableView,
  trans: TranslationBundle
): string {
  if (shape && shape.length > 0) {
    return shape
      .map(side => (side === null ? '?' : fullCount(side)))
      .join(' × ');
  }
  return length === undefined || TEXTS.includes(type)
    ? (head ?? '')
    : trans._n('%1 item', '%1 items', length);
}

/**
 * How a variable differs from the newest checkpoint.
 */
export function changeText(
  kind: VariableChange['kind'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'added':
      return trans.__('new since the checkpoint');
    case 'changed':
      return trans.__('changed since the checkpoint');
    case 'shared':
      return trans.__(
        'changed since the checkpoint, or shares data with other variables than then'
      );
    case 'gone':
      return trans.__('deleted since the checkpoint');
  }
}

/**
 * Why it is not known what changed.
 */
export function unknownText(
  why: 'busy' | 'pending' | 'no_checkpoint' | 'failed',
  trans: TranslationBundle
): string {
  switch (why) {
    case 'busy':
      return trans.__(
        'A cell is running. What changed is shown when it is done.'
      );
    case 'pending':
      return trans.__('Looking for what changed…');
    case 'no_checkpoint':
      return trans.__('Save a checkpoint to see here what changes after it.');
    case 'failed':
      return trans.__(
        'What changed could not be found out. The log of the server says why.'
      );
  }
}

/**
 * What is said of a column besides its name.
 */
export function columnText(
  { dtype, missing }: ColumnView,
  trans: TranslationBundle
): string {
  return missing === undefined
    ? trans.__('%1, missing values not counted', dtype)
    : missing === 0
      ? dtype
      : trans._n('%2, %1 missing', '%2, %1 missing', missing, dtype);
}

/**
 * The variables that a filter leaves, in order.
 */
export function listed(
  variables: readonly VariableView[],
  filter: string,
  sorting: ISorting | null
): readonly VariableView[] {
  const wanted = filter.trim().toLowerCase();
  const found = variables.filter(({ name, type, columns }) =>
    [name, type, ...columns.map(column => column.name)].some(text =>
      text.toLowerCase().includes(wanted)
    )
  );
  if (sorting === null) {
    return found;
  }
  const { key, isDescending } = sorting;
  const compare = Private.COMPARE[key];
  return found.sort((a, b) => (isDescending ? compare(b, a) : compare(a, b)));
}

/**
 * A namespace for private data.
 */
namespace Private {
  type Compare = (a: VariableView, b: VariableView) => number;

  export const COMPARE: Readonly<Record<SortKey, Compare>> = {
    name: (a, b) => a.name.localeCompare(b.name),
    type: (a, b) => typeText(a).localeCompare(typeText(b)),
    value: (a, b) =>
      amount(a) - amount(b) || (a.head ?? '').localeCompare(b.head ?? ''),
    size: (a, b) => (a.memory ?? 0) - (b.memory ?? 0)
  };

  /**
   * How much there is; of a number that itself.
   */
  function amount({ type, shape, length, head }: VariableView): number {
    if (shape && shape.length > 0) {
      return shape.reduce<number>((product, side) => product * (side ?? 1), 1);
    }
    if (length !== undefined && !TEXTS.includes(type)) {
      return length;
    }
    return Number(head) || 0;
  }
}

import { carried, lineChanges, madeOf } from './linechanges';
import type { ICellChange, IRemovedCell } from '../operations';

/**
 * What the agent did to a cell, and nobody has looked at yet. `before` is what
 * the cell said when it was last as the person knew it, `after` what the agent
 * made of it: the rest is the person's.
 */
export type UnreviewedChange =
  | { readonly kind: 'edited'; readonly before: string; readonly after: string }
  | { readonly kind: 'inserted'; readonly after: string }
  | {
      readonly kind: 'deleted';
      readonly before: string;
      readonly removed: IRemovedCell;
    };

/**
 * Lines of a cell, from one up to but without another, and what they were made
 * of.
 */
export interface IChangedPart {
  readonly from: number;
  readonly to: number;
  readonly before: readonly string[];
}

/**
 * What waits after another change; `null` if nothing is left of it.
 */
export function merged(
  earlier: UnreviewedChange | undefined,
  change: ICellChange
): UnreviewedChange | null {
  const before = earlier ? known(earlier, change.before) : change.before;
  const { after, removed } = change;
  if (after === before) {
    return null;
  }
  if (before === null) {
    return after === null ? null : { kind: 'inserted', after };
  }
  if (after !== null) {
    return { kind: 'edited', before, after };
  }
  return removed ? { kind: 'deleted', before, removed } : null;
}

/**
 * What the person knew, and wrote themselves since an earlier change; of a
 * cell in which they wrote over that change, what it said then.
 */
function known(
  earlier: UnreviewedChange,
  present: string | null
): string | null {
  if (earlier.kind === 'deleted') {
    return earlier.before;
  }
  const before = earlier.kind === 'inserted' ? null : earlier.before;
  if (present === null || present === earlier.after) {
    return before;
  }
  return before === null
    ? present
    : (withChange(earlier.after, present, before) ?? present);
}

/**
 * Whether nothing is left of a change in a cell that says this; `undefined`
 * is no cell.
 */
export function isOver(
  change: UnreviewedChange,
  source: string | undefined
): boolean {
  return change.kind === 'edited'
    ? source === undefined || source === change.before
    : (change.kind === 'inserted') === (source === undefined);
}

/**
 * A text with the change that made one of another, where it came from the
 * first as well; `null` if both changes are of the same lines.
 */
export function withChange(
  from: string,
  to: string,
  onto: string
): string | null {
  if (from === onto) {
    return to;
  }
  return (
    carried(from.split('\n'), to.split('\n'), onto.split('\n'))?.join('\n') ??
    null
  );
}

/**
 * A source without what the agent made of a part of it; `null` if that is
 * nothing, or cannot be told from what the person made of it.
 */
export function withoutPart(
  source: string,
  after: string,
  { from, to, before }: IChangedPart
): string | null {
  const [now, made] = [source.split('\n'), after.split('\n')];
  const place = madeOf(lineChanges(made, now), from, to);
  if (place === null) {
    return null;
  }
  const restored = carried(made.slice(...place), before, now.slice(from, to));
  if (restored === null) {
    return null;
  }
  now.splice(from, to - from, ...restored);
  const text = now.join('\n');
  return text === source ? null : text;
}

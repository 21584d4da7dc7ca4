import type { PartialJSONObject, PartialJSONValue } from '@lumino/coreutils';
import { JSONExt } from '@lumino/coreutils';

/**
 * What becomes of values with names that two people changed.
 */
export interface IMergedObject {
  /**
   * What theirs changes in mine; `undefined` goes.
   */
  readonly changes: readonly (readonly [
    string,
    PartialJSONValue | undefined
  ])[];

  /**
   * The names of those in which mine stays, and is not what theirs says.
   */
  readonly kept: readonly string[];
}

/**
 * Compare what two people made of values with names. Where both changed one,
 * mine stays.
 */
export function mergedObject(
  base: PartialJSONObject,
  mine: PartialJSONObject,
  theirs: PartialJSONObject
): IMergedObject {
  const differing = [
    ...new Set([...Object.keys(mine), ...Object.keys(theirs)])
  ].filter(key => !isSameValue(mine[key], theirs[key]));
  const isMine = (key: string) => !isSameValue(mine[key], base[key]);
  return {
    changes: differing
      .filter(key => !isMine(key))
      .map(key => [key, theirs[key]] as const),
    kept: differing.filter(isMine)
  };
}

/**
 * Whether two values are the same; none is the same as `null`.
 */
export function isSameValue(
  one: PartialJSONValue | undefined,
  other: PartialJSONValue | undefined
): boolean {
  return JSONExt.deepEqual(one ?? null, other ?? null);
}

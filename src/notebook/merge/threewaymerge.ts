import { diff3Merge } from 'node-diff3';

/**
 * What two people made of one text, put together; `null` where they changed
 * the same place.
 *
 * #### Notes
 * Texts are compared by lines. Where both changed neighbouring lines, they are
 * still put together if each changed one piece, and the two do not meet.
 */
export function mergedText(
  base: string,
  mine: string,
  theirs: string
): string | null {
  const whole = Private.mergedPiece(base, mine, theirs);
  if (whole !== null) {
    return whole;
  }
  const merged: string[] = [];
  for (const { ok, conflict } of diff3Merge(
    Private.lines(mine),
    Private.lines(base),
    Private.lines(theirs)
  )) {
    const text = conflict
      ? Private.mergedPiece(
          conflict.o.join(''),
          conflict.a.join(''),
          conflict.b.join('')
        )
      : (ok ?? []).join('');
    if (text === null) {
      return null;
    }
    merged.push(text);
  }
  return merged.join('');
}

/**
 * What two texts have in common at their ends: what both of them may have been
 * made of, where nothing is known of that.
 */
export function commonText(one: string, other: string): string {
  const { start, end } = Private.change(one, other);
  return one.slice(0, start) + one.slice(end);
}

/**
 * Functions of this module alone.
 */
namespace Private {
  export interface IChange {
    readonly start: number;
    readonly end: number;
    readonly text: string;
  }

  /**
   * The lines of a text, each with the break that ends it.
   */
  export function lines(text: string): string[] {
    return text.split(/(?<=\n)/);
  }

  /**
   * What two people made of one text of which each changed one piece.
   */
  export function mergedPiece(
    base: string,
    mine: string,
    theirs: string
  ): string | null {
    if (mine === theirs || theirs === base) {
      return mine;
    }
    if (mine === base) {
      return theirs;
    }
    const [first, second] = [change(base, mine), change(base, theirs)].sort(
      (one, other) => one.start - other.start || one.end - other.end
    );
    // Two that meet in one place may be two words for the same thing.
    if (first.end >= second.start) {
      return null;
    }
    return [
      base.slice(0, first.start),
      first.text,
      base.slice(first.end, second.start),
      second.text,
      base.slice(second.end)
    ].join('');
  }

  /**
   * The one piece in which the texts differ.
   */
  export function change(old: string, now: string): IChange {
    const shorter = Math.min(old.length, now.length);
    let start = 0;
    while (start < shorter && old[start] === now[start]) {
      start++;
    }
    let same = 0;
    while (
      same < shorter - start &&
      old[old.length - 1 - same] === now[now.length - 1 - same]
    ) {
      same++;
    }
    return {
      start,
      end: old.length - same,
      text: now.slice(start, now.length - same)
    };
  }
}

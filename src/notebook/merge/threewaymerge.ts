/**
 * What two people made of one text, put together; `null` where they changed
 * the same place.
 */
export function mergedText(
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
  const [first, second] = [
    Private.change(base, mine),
    Private.change(base, theirs)
  ].sort((one, other) => one.start - other.start || one.end - other.end);
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

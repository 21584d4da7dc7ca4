/**
 * Lines of a text, from one up to but without another, that became others.
 */
export interface ILineChange {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/**
 * The largest table of lines against lines that is worked through. What is
 * longer counts as changed in one piece.
 */
const LARGEST_TABLE = 1_000_000;

/**
 * What became of the lines of a text.
 */
export function lineChanges(
  old: readonly string[],
  now: readonly string[]
): ILineChange[] {
  let start = 0;
  const shorter = Math.min(old.length, now.length);
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
  return Private.between(
    old.slice(start, old.length - same),
    now.slice(start, now.length - same),
    start
  );
}

/**
 * Lines with the change that made `to` of `from`, where they, too, came from
 * `from`.
 *
 * @returns The lines with both changes, or `null` if those are of the same.
 */
export function carried(
  from: readonly string[],
  to: readonly string[],
  onto: readonly string[]
): string[] | null {
  const changes = lineChanges(from, to);
  const others = lineChanges(from, onto).filter(
    other => !changes.some(change => Private.isSame(change, other))
  );
  if (
    changes.some(change =>
      others.some(other => Private.areOfSameLines(change, other))
    )
  ) {
    return null;
  }
  // What is put in before a line comes before what becomes of it.
  const all = [...changes, ...others].sort(
    (a, b) => a.from - b.from || a.to - b.to
  );
  const lines = [...from];
  for (const change of all.reverse()) {
    lines.splice(change.from, change.to - change.from, ...change.lines);
  }
  return lines;
}

/**
 * The lines that some of a text were made of, by what became of all lines.
 *
 * @returns The first of them and the one behind them, or `null` if that cannot
 * be told.
 */
export function madeOf(
  changes: readonly ILineChange[],
  from: number,
  to: number
): [number, number] | null {
  const first = Private.place(changes, from, 'to');
  const behind = Private.place(changes, to, 'from');
  return first === null || behind === null || first > behind
    ? null
    : [first, behind];
}

/**
 * How many lines one text has that another has not, and the other way round;
 * `null` is no text.
 */
export function lineCounts(
  old: string | null,
  now: string | null
): { added: number; removed: number } {
  const changes = lineChanges(Private.linesOf(old), Private.linesOf(now));
  return {
    added: changes.reduce((sum, { lines }) => sum + lines.length, 0),
    removed: changes.reduce((sum, { from, to }) => sum + to - from, 0)
  };
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * The lines there are to read: what comes behind the last line's end is none.
   */
  export function linesOf(text: string | null): string[] {
    return text ? text.replace(/\n$/, '').split('\n') : [];
  }

  /**
   * The changes between lines that begin and end differently, by their longest
   * common subsequence.
   */
  export function between(
    old: readonly string[],
    now: readonly string[],
    offset: number
  ): ILineChange[] {
    if (old.length === 0 && now.length === 0) {
      return [];
    }
    if (old.length * now.length > LARGEST_TABLE) {
      return [{ from: offset, to: offset + old.length, lines: now }];
    }
    const common = commonLengths(old, now);
    const changes: ILineChange[] = [];
    let [at, place] = [0, 0];
    while (at < old.length || place < now.length) {
      const [from, first] = [at, place];
      while (
        (at < old.length || place < now.length) &&
        old[at] !== now[place]
      ) {
        if ((common[at + 1]?.[place] ?? -2) >= (common[at][place + 1] ?? -1)) {
          at++;
        } else {
          place++;
        }
      }
      if (at > from || place > first) {
        changes.push({
          from: offset + from,
          to: offset + at,
          lines: now.slice(first, place)
        });
      }
      while (at < old.length && place < now.length && old[at] === now[place]) {
        at++;
        place++;
      }
    }
    return changes;
  }

  /**
   * How many lines both have in common from each pair of places on.
   */
  function commonLengths(
    old: readonly string[],
    now: readonly string[]
  ): Uint32Array[] {
    const common = Array.from(
      { length: old.length + 1 },
      () => new Uint32Array(now.length + 1)
    );
    for (let at = old.length - 1; at >= 0; at--) {
      for (let place = now.length - 1; place >= 0; place--) {
        common[at][place] =
          old[at] === now[place]
            ? common[at + 1][place + 1] + 1
            : Math.max(common[at + 1][place], common[at][place + 1]);
      }
    }
    return common;
  }

  export function isSame(one: ILineChange, other: ILineChange): boolean {
    return (
      one.from === other.from &&
      one.to === other.to &&
      one.lines.length === other.lines.length &&
      one.lines.join('\n') === other.lines.join('\n')
    );
  }

  export function areOfSameLines(
    one: ILineChange,
    other: ILineChange
  ): boolean {
    return one.from < other.to && other.from < one.to;
  }

  /**
   * Where a place between lines was before the changes.
   */
  export function place(
    changes: readonly ILineChange[],
    place: number,
    ofNone: 'from' | 'to'
  ): number | null {
    let shift = 0;
    for (const { from, to, lines } of changes) {
      const [begin, end] = [from + shift, from + shift + lines.length];
      if (place < begin) {
        break;
      }
      if (place <= end) {
        if (begin === end) {
          return ofNone === 'from' ? from : to;
        }
        return place === begin ? from : place === end ? to : null;
      }
      shift = end - to;
    }
    return place - shift;
  }
}

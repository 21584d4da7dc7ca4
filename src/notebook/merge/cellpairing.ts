import { longestIncreasing } from './longestincreasing';

/**
 * Something in a list that is the same as another with the same text.
 */
export interface IAlike {
  readonly text: string;
  readonly type: string;
}

/**
 * Which of a list became which of another one, where they have no names: what
 * is there once in both and in the same order, between those what is the same
 * or much alike, and what is alone between two such.
 *
 * @returns For places in `now` those in `before`.
 */
export function pairedByText(
  before: readonly IAlike[],
  now: readonly IAlike[]
): Map<number, number> {
  const pairs = Private.anchors(before, now);
  for (const gap of Private.gaps(pairs, before.length, now.length)) {
    Private.alike(before, now, gap).forEach(([here, there]) =>
      pairs.set(here, there)
    );
  }
  for (const gap of Private.gaps(pairs, before.length, now.length)) {
    const { here, hereEnd, there, thereEnd } = gap;
    if (hereEnd - here === thereEnd - there) {
      for (let at = 0; at < hereEnd - here; at++) {
        if (now[here + at].type === before[there + at].type) {
          pairs.set(here + at, there + at);
        }
      }
    }
  }
  return pairs;
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * What is between two pairs: places in both lists, without the ends.
   */
  export interface IGap {
    readonly here: number;
    readonly hereEnd: number;
    readonly there: number;
    readonly thereEnd: number;
  }

  export function gaps(
    pairs: ReadonlyMap<number, number>,
    before: number,
    now: number
  ): IGap[] {
    const sorted = [...pairs].sort(([one], [other]) => one - other);
    let [here, there] = [0, 0];
    return [...sorted, [now, before]].flatMap(([hereEnd, thereEnd]) => {
      const gap = { here, hereEnd, there, thereEnd };
      [here, there] = [hereEnd + 1, thereEnd + 1];
      return gap.here < hereEnd && gap.there < thereEnd ? [gap] : [];
    });
  }

  /**
   * The pairs within a gap that are the most alike, all together; of several
   * ways the one with the first of them.
   */
  export function alike(
    before: readonly IAlike[],
    now: readonly IAlike[],
    { here, hereEnd, there, thereEnd }: IGap
  ): [number, number][] {
    const pairs: [number, number][] = [];
    const likenessOf = (one: number, other: number) =>
      likeness(now[one], before[other]);
    while (
      here < hereEnd &&
      there < thereEnd &&
      likenessOf(here, there) === SAME
    ) {
      pairs.push([here++, there++]);
    }
    while (
      here < hereEnd &&
      there < thereEnd &&
      likenessOf(hereEnd - 1, thereEnd - 1) === SAME
    ) {
      pairs.push([--hereEnd, --thereEnd]);
    }
    const [rows, columns] = [hereEnd - here, thereEnd - there];
    if (rows * columns > MOST_COMPARED) {
      return pairs;
    }
    // The best that can be had of what is left from each two places on.
    const best = Array.from(
      { length: rows + 1 },
      () => new Float64Array(columns + 1)
    );
    const likenesses = best.map(row => new Float64Array(row.length));
    for (let row = rows - 1; row >= 0; row--) {
      for (let column = columns - 1; column >= 0; column--) {
        const found = likenessOf(here + row, there + column);
        likenesses[row][column] = found;
        best[row][column] = Math.max(
          best[row + 1][column],
          best[row][column + 1],
          found > 0 ? found + best[row + 1][column + 1] : 0
        );
      }
    }
    let [row, column] = [0, 0];
    while (row < rows && column < columns) {
      const found = likenesses[row][column];
      if (
        found > 0 &&
        best[row][column] === found + best[row + 1][column + 1]
      ) {
        pairs.push([here + row++, there + column++]);
      } else if (best[row][column] === best[row + 1][column]) {
        row++;
      } else {
        column++;
      }
    }
    return pairs;
  }

  /**
   * More than any two that are not the same can be.
   */
  const SAME = 2;

  /**
   * How many pairs are compared; for more of them a page would stand still.
   */
  const MOST_COMPARED = 1_000_000;

  /**
   * How much of two texts is the same at their ends, if it is half of them.
   */
  function likeness(one: IAlike, other: IAlike): number {
    if (one.type !== other.type) {
      return 0;
    }
    if (one.text === other.text) {
      return SAME;
    }
    const [short, long] = [one.text, other.text].sort(
      (a, b) => a.length - b.length
    );
    let start = 0;
    while (start < short.length && short[start] === long[start]) {
      start++;
    }
    let end = 0;
    while (
      end < short.length - start &&
      short.at(-1 - end) === long.at(-1 - end)
    ) {
      end++;
    }
    const share = (start + end) / long.length;
    return share >= 0.5 ? share : 0;
  }

  function key({ type, text }: IAlike): string {
    return `${type}\n${text}`;
  }

  export function anchors(
    before: readonly IAlike[],
    now: readonly IAlike[]
  ): Map<number, number> {
    const there = placesOfSingles(before);
    const pairs = [...placesOfSingles(now)].flatMap(([text, here]) => {
      const place = there.get(text);
      return place === undefined ? [] : [[here, place] as const];
    });
    const kept = new Set(longestIncreasing(pairs.map(([, place]) => place)));
    return new Map(pairs.filter(([, place]) => kept.has(place)));
  }

  function placesOfSingles(list: readonly IAlike[]): Map<string, number> {
    const places = new Map<string, number>();
    const several = new Set<string>();
    list.forEach((one, place) => {
      const text = key(one);
      if (places.has(text)) {
        several.add(text);
      }
      places.set(text, place);
    });
    several.forEach(text => places.delete(text));
    return places;
  }
}

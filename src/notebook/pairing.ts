import { longestRise } from './longestrise';

/**
 * Something in a list that is the same as another with the same text.
 */
export interface IAlike {
  readonly text: string;
  readonly type: string;
}

/**
 * Which of a list became which of another one, where they have no names: what
 * is there once in both and in the same order, what stands beside it, and what
 * is alone between two such.
 *
 * @returns For places in `now` those in `before`.
 */
export function pairedByText(
  before: readonly IAlike[],
  now: readonly IAlike[]
): Map<number, number> {
  const pairs = Private.anchors(before, now);
  const fixed = [
    { here: -1, there: -1 },
    ...[...pairs].map(([here, there]) => ({ here, there })),
    { here: now.length, there: before.length }
  ];
  for (let index = 1; index < fixed.length; index++) {
    let { here, there } = fixed[index - 1];
    let { here: hereEnd, there: thereEnd } = fixed[index];
    const isSame = (one: number, other: number) =>
      Private.key(now[one]) === Private.key(before[other]);
    while (
      here + 1 < hereEnd &&
      there + 1 < thereEnd &&
      isSame(here + 1, there + 1)
    ) {
      pairs.set(++here, ++there);
    }
    while (
      here + 1 < hereEnd &&
      there + 1 < thereEnd &&
      isSame(hereEnd - 1, thereEnd - 1)
    ) {
      pairs.set(--hereEnd, --thereEnd);
    }
    if (hereEnd - here === thereEnd - there) {
      while (++here < hereEnd) {
        if (now[here].type === before[++there].type) {
          pairs.set(here, there);
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
  export function key({ type, text }: IAlike): string {
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
    const kept = new Set(longestRise(pairs.map(([, place]) => place)));
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

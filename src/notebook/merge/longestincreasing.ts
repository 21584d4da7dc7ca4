/**
 * The most of these numbers that rise as they stand.
 */
export function longestIncreasing(numbers: readonly number[]): number[] {
  const tails: number[] = [];
  const before = new Map<number, number | undefined>();
  for (const number of numbers) {
    let place = tails.findIndex(tail => tail >= number);
    place = place < 0 ? tails.length : place;
    before.set(number, tails[place - 1]);
    tails[place] = number;
  }
  const rise: number[] = [];
  for (
    let number = tails.at(-1);
    number !== undefined;
    number = before.get(number)
  ) {
    rise.unshift(number);
  }
  return rise;
}

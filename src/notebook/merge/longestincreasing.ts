/**
 * The most of these numbers that rise, in the order they have.
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
  const longest: number[] = [];
  for (
    let number = tails.at(-1);
    number !== undefined;
    number = before.get(number)
  ) {
    longest.unshift(number);
  }
  return longest;
}

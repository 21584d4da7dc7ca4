import { Backoff } from '../backoff';

describe('Backoff', () => {
  it('should double up to its cap', () => {
    const backoff = new Backoff({ initial: 100, max: 1000, random: () => 1 });
    const waits = [1, 2, 3, 4, 5, 6].map(() => backoff.next());
    expect(waits).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(backoff.attempt).toBe(6);
  });

  it('should spread the waits between half a step and a whole one', () => {
    const shortest = new Backoff({ initial: 100, random: () => 0 });
    expect(shortest.next()).toBe(50);
    const backoff = new Backoff();
    for (let attempt = 0; attempt < 2000; attempt++) {
      const wait = backoff.next();
      expect(wait).toBeGreaterThanOrEqual(250);
      expect(wait).toBeLessThanOrEqual(30_000);
    }
  });

  it('should begin again after a reset', () => {
    const backoff = new Backoff({ initial: 100, random: () => 1 });
    backoff.next();
    backoff.next();
    backoff.reset();
    expect(backoff.attempt).toBe(0);
    expect(backoff.next()).toBe(100);
  });
});

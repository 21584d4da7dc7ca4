/**
 * How long to wait before the next try: doubling from try to try, capped, and
 * jittered so that the tabs of a restarted server do not come back all at once.
 */
export class Backoff {
  constructor(options: Backoff.IOptions = {}) {
    this._initial = options.initial ?? 500;
    this._max = options.max ?? 30_000;
    this._random = options.random ?? Math.random;
  }

  /**
   * How many tries have been waited for since the last reset.
   */
  get attempt(): number {
    return this._attempt;
  }

  /**
   * The milliseconds to wait before the next try: between half and all of the
   * step this attempt has reached.
   */
  next(): number {
    // Beyond 2^30 the shift would overflow; the cap is reached long before.
    const step = Math.min(
      this._max,
      this._initial * 2 ** Math.min(this._attempt, 30)
    );
    this._attempt += 1;
    return Math.round(step * (0.5 + this._random() / 2));
  }

  /**
   * Begin again with the shortest wait.
   */
  reset(): void {
    this._attempt = 0;
  }

  private _attempt = 0;
  private readonly _initial: number;
  private readonly _max: number;
  private readonly _random: () => number;
}

/**
 * The namespace for `Backoff` statics.
 */
export namespace Backoff {
  /**
   * The options of a backoff.
   */
  export interface IOptions {
    /**
     * The first step in milliseconds.
     */
    initial?: number;

    /**
     * The longest step in milliseconds.
     */
    max?: number;

    /**
     * A number from 0 (inclusive) to 1 (exclusive).
     */
    random?: () => number;
  }
}

/**
 * What to do with a numbered frame.
 *
 * - `apply`: it is the next one
 * - `duplicate`: it was applied before, or a newer `state` contains it
 * - `gap`: one before it never arrived
 */
export type Verdict = 'apply' | 'duplicate' | 'gap';

/**
 * The place of this page in the server's numbered stream.
 */
export class Sequence {
  /**
   * The server's life this place belongs to.
   */
  get epoch(): string | null {
    return this._epoch;
  }

  /**
   * The number of the newest frame applied.
   */
  get last(): number | null {
    return this._last;
  }

  /**
   * Take note of how the server answered an `open`.
   *
   * @param resumed - Whether the frames missed follow, instead of a `state`.
   */
  opened(epoch: string, newest: number, resumed: boolean): void {
    this._epoch = epoch;
    if (!resumed) {
      this._last = null;
      this._newest = newest;
    }
  }

  /**
   * Decide about a frame, and move on to it if it is to be applied.
   *
   * @param seq - Its number; directed frames have none.
   *
   * @param isState - Whether it carries a `state`, which needs nothing before it.
   */
  accept(seq: number | null, isState: boolean): Verdict {
    if (this._last === null) {
      // Whatever precedes the fresh state is contained in it.
      if (!isState) {
        return seq === null ? 'apply' : 'duplicate';
      }
      this._last = seq ?? this._newest;
      return 'apply';
    }
    if (seq === null) {
      return 'apply';
    }
    if (isState ? seq < this._last : seq <= this._last) {
      return 'duplicate';
    }
    if (!isState && seq > this._last + 1) {
      return 'gap';
    }
    this._last = seq;
    return 'apply';
  }

  /**
   * Forget the place, so that the next `open` is answered by a fresh `state`.
   */
  forget(): void {
    this._epoch = null;
    this._last = null;
    this._newest = 0;
  }

  private _epoch: string | null = null;
  private _last: number | null = null;
  private _newest = 0;
}

/**
 * A page that is hidden or covered draws no frames, or few; its listeners hear
 * of changes this often, in milliseconds, as far as the browser lets timers run.
 */
const LONGEST_WAIT = 32;

/**
 * Runs work once before the next frame is drawn, however often it is asked to.
 */
export class FrameBatch {
  constructor(work: () => void) {
    this._work = work;
  }

  /**
   * See to it that the work runs.
   */
  request(): void {
    if (this._timer !== undefined) {
      return;
    }
    this._timer = setTimeout(() => this.flush(), LONGEST_WAIT);
    if (typeof requestAnimationFrame === 'function') {
      this._frame = requestAnimationFrame(() => this.flush());
    }
  }

  /**
   * Run the work now if it was asked for.
   */
  flush(): void {
    if (this._timer !== undefined) {
      this.cancel();
      this._work();
    }
  }

  /**
   * Forget that it was asked for.
   */
  cancel(): void {
    clearTimeout(this._timer);
    this._timer = undefined;
    if (this._frame !== undefined) {
      cancelAnimationFrame(this._frame);
      this._frame = undefined;
    }
  }

  private readonly _work: () => void;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _frame: number | undefined;
}

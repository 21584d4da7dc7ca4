import { Backoff } from './backoff';
import { Diagnosis, needsAPerson } from './diagnosis';
import type { ConnectionReason, IConnectionStatus } from './status';

/**
 * Sees to it that a lost connection is tried again, soon or less soon as its reason suggests.
 */
export class Reconnector {
  constructor(options: Reconnector.IOptions) {
    this._options = options;
    this._backoff = new Backoff({ random: options.random });
    this._diagnosis = new Diagnosis(
      options.probe ?? (() => Promise.resolve(null))
    );
  }

  /**
   * A connection was lost, or did not come about.
   *
   * @param lasted - How many milliseconds it was open; `null` if it never was.
   */
  lost(lasted: number | null): void {
    if (lasted === null) {
      this._schedule(this._reason ?? 'lost');
      void this._diagnose();
      return;
    }
    if (lasted > Reconnector.STABLE_AFTER) {
      this._backoff.reset();
    }
    this._schedule('lost');
  }

  /**
   * The server answered: whatever was wrong is over.
   */
  reached(): void {
    this._diagnosis.clear();
    this._reason = null;
  }

  /**
   * Begin again with quick tries.
   */
  reset(): void {
    this._backoff.reset();
  }

  /**
   * Do not try again.
   */
  cancel(): void {
    this._round += 1;
    clearTimeout(this._timer);
  }

  private _schedule(reason: ConnectionReason): void {
    clearTimeout(this._timer);
    const { dial, tell, isOnline } = this._options;
    const stepped = this._backoff.next();
    const { attempt } = this._backoff;
    const slow = needsAPerson(reason);
    const delay = slow ? Reconnector.SLOW_RETRY : stepped;
    const offline =
      slow || attempt > Reconnector.OFFLINE_AFTER || isOnline?.() === false;
    this._reason = reason;
    this._timer = setTimeout(() => {
      this._round += 1;
      dial();
    }, delay);
    tell({
      phase: offline ? 'offline' : 'reconnecting',
      reason,
      retryAt: Date.now() + delay,
      attempt
    });
  }

  private async _diagnose(): Promise<void> {
    const round = this._round;
    const reason = await this._diagnosis.find();
    if (this._round !== round) {
      return;
    }
    if (needsAPerson(reason) !== needsAPerson(this._reason)) {
      this._schedule(reason);
    } else {
      this._reason = reason;
      this._options.tell({ reason });
    }
  }

  private readonly _options: Reconnector.IOptions;
  private readonly _backoff: Backoff;
  private readonly _diagnosis: Diagnosis;
  private _reason: ConnectionReason | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;

  // Tells whether what was found out is about the newest try.
  private _round = 0;
}

/**
 * The namespace for `Reconnector` statics.
 */
export namespace Reconnector {
  /**
   * A connection that lasted this many milliseconds was a good one, and its
   * loss is answered with a quick try.
   */
  export const STABLE_AFTER = 5_000;

  /**
   * After this many failed tries the server is called offline.
   */
  export const OFFLINE_AFTER = 4;

  /**
   * The wait between tries that only a person can make succeed.
   */
  export const SLOW_RETRY = 30_000;

  /**
   * What decides when the next try comes.
   */
  export interface ICircumstances {
    /**
     * Ask the server something simple over HTTP: its status, or `null` if
     * nothing answers. It never rejects.
     */
    probe?: () => Promise<number | null>;

    /**
     * Whether the browser believes there is a network.
     */
    isOnline?: () => boolean;

    /**
     * The randomness of the backoff.
     */
    random?: () => number;
  }

  /**
   * The options of a redial.
   */
  export interface IOptions extends ICircumstances {
    /**
     * Try again.
     */
    dial: () => void;

    /**
     * Called when a person should be told something else.
     */
    tell: (status: Partial<IConnectionStatus>) => void;
  }
}

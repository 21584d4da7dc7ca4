import { DEAD_AFTER_HEARTBEATS } from '../generated/wire';

/**
 * Says now and then that this page is there, and notices when the server falls silent.
 *
 * #### Notes
 * A browser keeps the pings of a WebSocket to itself, so a connection cut
 * without a word (a sleeping laptop, a proxy) stays "open" for minutes.
 */
export class Heartbeat {
  constructor(options: Heartbeat.IOptions) {
    this._ping = options.ping;
    this._dead = options.dead;
  }

  /**
   * Begin to beat.
   */
  start(interval: number): void {
    this.stop();
    this._interval = interval;
    this._receivedAt = this._pingedAt = Date.now();
    this._timer = setInterval(() => this._tick(), interval / 2);
  }

  /**
   * Stop beating.
   */
  stop(): void {
    clearInterval(this._timer);
    clearTimeout(this._probe);
    this._timer = undefined;
    this._probe = undefined;
  }

  /**
   * Take note that something arrived.
   */
  heard(): void {
    this._receivedAt = Date.now();
    clearTimeout(this._probe);
    this._probe = undefined;
  }

  /**
   * Ask at once, and believe the connection dead if no answer comes soon.
   */
  probe(): void {
    if (this._timer === undefined || this._probe !== undefined) {
      return;
    }
    this._pingedAt = Date.now();
    this._probe = setTimeout(() => this._dead(), Heartbeat.PROBE_TIMEOUT);
    this._ping();
  }

  private _tick(): void {
    const now = Date.now();
    if (now - this._receivedAt >= DEAD_AFTER_HEARTBEATS * this._interval) {
      this._dead();
    } else if (now - this._pingedAt >= this._interval) {
      this._pingedAt = now;
      this._ping();
    }
  }

  private readonly _ping: () => void;
  private readonly _dead: () => void;
  private _interval = 0;
  private _receivedAt = 0;
  private _pingedAt = 0;
  private _timer: ReturnType<typeof setInterval> | undefined;
  private _probe: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The namespace for `Heartbeat` statics.
 */
export namespace Heartbeat {
  /**
   * How long an answer to a probe may take, in milliseconds.
   */
  export const PROBE_TIMEOUT = 5_000;

  /**
   * The options of a heartbeat.
   */
  export interface IOptions {
    /**
     * Send a ping.
     */
    ping: () => void;

    /**
     * The server has been silent for too long.
     */
    dead: () => void;
  }
}

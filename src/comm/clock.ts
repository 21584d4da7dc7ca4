/**
 * The server's clock, as far as this page knows it. All times in messages are
 * by that clock, which may differ from the one of the person's computer.
 */
export class ServerClock {
  /**
   * What time it is, in milliseconds. Until the server has told, by the clock
   * of this page.
   */
  now(): number {
    return Date.now() + this._ahead;
  }

  /**
   * The server says what time it is.
   */
  set(now: number): void {
    this._ahead = now - Date.now();
  }

  private _ahead = 0;
}

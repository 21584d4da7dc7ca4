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
   * Up to what time it is known what goes on there: it stands still while there
   * is no connection.
   */
  lastKnown(): number {
    return this._stoppedAt ?? this.now();
  }

  /**
   * The server says what time it is.
   */
  set(now: number): void {
    this._ahead = now - Date.now();
    this._stoppedAt = null;
  }

  /**
   * The connection is lost: from now on it is not known what goes on there.
   */
  stop(): void {
    this._stoppedAt ??= this.now();
  }

  private _ahead = 0;
  private _stoppedAt: number | null = null;
}

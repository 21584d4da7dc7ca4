/**
 * How fast something comes, and how long the rest of it takes.
 */
export class DownloadRate {
  /**
   * Tell how much is there.
   *
   * @param what - What comes; another one is another pace.
   *
   * @param at - When that is, in milliseconds.
   */
  see(what: string, done: number, at: number): void {
    const last = this._seen[this._seen.length - 1];
    if (what !== this._what || (last && done < last.done)) {
      this._what = what;
      this._seen = [];
    }
    this._seen.push({ done, at });
    while (
      this._seen.length > 2 &&
      at - this._seen[0].at > DownloadRate.WINDOW
    ) {
      this._seen.shift();
    }
  }

  /**
   * Bytes a second, lately; `null` before there is something to tell by.
   */
  get speed(): number | null {
    const first = this._seen[0];
    const last = this._seen[this._seen.length - 1];
    if (!first || last.at - first.at < DownloadRate.LEAST) {
      return null;
    }
    return ((last.done - first.done) * 1000) / (last.at - first.at);
  }

  /**
   * Milliseconds until all of it is there; `null` if nobody can tell.
   */
  remaining(total: number): number | null {
    const { speed } = this;
    const done = this._seen[this._seen.length - 1]?.done ?? 0;
    return speed ? ((total - done) * 1000) / speed : null;
  }

  private _what = '';
  private _seen: { readonly done: number; readonly at: number }[] = [];
}

/**
 * The namespace for `DownloadRate` statics.
 */
export namespace DownloadRate {
  /**
   * How far back it looks, in milliseconds.
   */
  export const WINDOW = 8_000;

  /**
   * How long it looks before it says anything.
   */
  export const LEAST = 900;
}

import type { IDisposable } from '@lumino/disposable';

/**
 * Draws soon after it was asked to, once for all that ask meanwhile.
 *
 * #### Notes
 * By then all that belongs to a change has happened: Lab makes the widgets of
 * new cells, and a flood of output has become one.
 */
export class Redraw implements IDisposable {
  constructor(draw: () => void, milliseconds = 16) {
    this._draw = draw;
    this._milliseconds = milliseconds;
  }

  /**
   * Whether nothing is drawn any more.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Draw no more.
   */
  dispose(): void {
    this._isDisposed = true;
    window.clearTimeout(this._timer);
  }

  /**
   * Ask for it.
   */
  request(): void {
    if (this._isDisposed || this._isRequested) {
      return;
    }
    this._isRequested = true;
    this._timer = window.setTimeout(() => {
      this._isRequested = false;
      this._draw();
    }, this._milliseconds);
  }

  private readonly _draw: () => void;
  private readonly _milliseconds: number;
  private _timer = 0;
  private _isRequested = false;
  private _isDisposed = false;
}

import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

/**
 * Something that listens to signals, and perhaps has some of its own, until it
 * is disposed.
 */
export abstract class Listener implements IDisposable {
  /**
   * Whether it is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Listen to nothing any more, and let go of what it holds.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.disconnectReceiver(this);
    this.release();
    Signal.clearData(this);
  }

  /**
   * Let go of what it holds. Called once.
   */
  protected release(): void {
    // Many hold nothing.
  }

  private _isDisposed = false;
}

import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { asErrorBody } from '../errors';
import type { ErrorBody } from '../generated/wire';

/**
 * Something the server holds: the newest answer, and what went wrong last.
 */
export abstract class RemoteData<T> implements IDisposable {
  /**
   * Emitted when anything shown may be different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * What the server said last; `null` before it said anything.
   */
  get value(): T | null {
    return this._value;
  }

  /**
   * Why nothing newer is known; `null` when all is well.
   */
  get loadError(): ErrorBody | null {
    return this._loadError;
  }

  /**
   * Why the last change was refused; `null` when it was not.
   */
  get error(): ErrorBody | null {
    return this._error;
  }

  /**
   * Whether a change is under way.
   */
  get isBusy(): boolean {
    return this._busy > 0;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /**
   * Ask again. Never rejects: what goes wrong is in `loadError`.
   */
  refresh(): Promise<void> {
    this._stale = true;
    this._refreshing ??= this._refresh().finally(() => {
      this._refreshing = null;
    });
    return this._refreshing;
  }

  protected abstract fetch(): Promise<T>;

  /**
   * Take over the server's answer to a change.
   */
  protected accept(value: T): void {
    this._accepted++;
    this._value = value;
    this.emitChanged();
  }

  /**
   * Do something that may be refused.
   *
   * @returns Whether it was done; if not, the reason is in `error`.
   */
  protected async act(action: () => Promise<void>): Promise<boolean> {
    this._busy++;
    this._error = null;
    this.emitChanged();
    try {
      await action();
      return true;
    } catch (reason) {
      this._error = asErrorBody(reason);
      return false;
    } finally {
      this._busy--;
      this.emitChanged();
    }
  }

  protected emitChanged(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private async _refresh(): Promise<void> {
    while (this._stale && !this._isDisposed) {
      this._stale = false;
      const accepted = this._accepted;
      try {
        const value = await this.fetch();
        if (accepted !== this._accepted) {
          // A change was answered meanwhile, so this answer may be from before it.
          this._stale = true;
          continue;
        }
        this._loadError = null;
        this.accept(value);
      } catch (reason) {
        this._loadError = asErrorBody(reason);
        this.emitChanged();
      }
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private _value: T | null = null;
  private _loadError: ErrorBody | null = null;
  private _error: ErrorBody | null = null;
  private _busy = 0;
  private _accepted = 0;
  private _stale = false;
  private _refreshing: Promise<void> | null = null;
  private _isDisposed = false;
}

import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { asErrorBody } from '../errors';
import type { VerificationView } from '../generated/rest';
import type { ErrorBody } from '../generated/wire';
import { Listener } from '../listener';
import type { VerifyApi } from '../rest/verifyapi';

/**
 * After how many milliseconds it is asked again how far it is.
 */
const PAUSE = 500;

/**
 * A notebook that is verified, or was.
 */
export class VerifyModel extends Listener {
  constructor(
    private readonly _api: VerifyApi,
    readonly path: string
  ) {
    super();
  }

  /**
   * Emitted when anything is different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * What the server said last; `null` before it said anything.
   */
  get view(): VerificationView | null {
    return this._view;
  }

  /**
   * Why nothing newer is known; `null` when all is well.
   */
  get error(): ErrorBody | null {
    return this._error;
  }

  get isRunning(): boolean {
    return this._isStarting || this._view?.state === 'running';
  }

  /**
   * Verify it, unless that is under way.
   */
  async start(): Promise<void> {
    if (this.isRunning) {
      return;
    }
    this._isStarting = true;
    this._view = null;
    await this._take(() => this._api.verify(this.path));
    this._isStarting = false;
    this._changed.emit();
  }

  /**
   * Stop it.
   */
  async stop(): Promise<void> {
    const { _view: view } = this;
    if (view?.state === 'running') {
      await this._take(() => this._api.stopVerification(view.id));
    }
  }

  protected override release(): void {
    clearTimeout(this._timer);
  }

  private async _take(ask: () => Promise<VerificationView>): Promise<void> {
    clearTimeout(this._timer);
    const turn = ++this._turn;
    this._error = null;
    this._changed.emit();
    try {
      const view = await ask();
      if (turn !== this._turn || this.isDisposed) {
        return;
      }
      this._view = view;
    } catch (reason) {
      if (turn !== this._turn || this.isDisposed) {
        return;
      }
      this._error = asErrorBody(reason);
    }
    if (this._view?.state === 'running') {
      const { id } = this._view;
      this._timer = setTimeout(
        () => void this._take(() => this._api.verification(id)),
        PAUSE
      );
    }
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _view: VerificationView | null = null;
  private _error: ErrorBody | null = null;
  private _isStarting = false;
  private _turn = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

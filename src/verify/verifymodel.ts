import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { asErrorBody } from '../errors';
import type { VerificationView } from '../generated/rest';
import type { ErrorBody } from '../generated/wire';
import { Listener } from '../listener';
import type { VerifyApi } from '../rest/verifyapi';

/**
 * After how many milliseconds it is asked again how far it is; after a failure
 * twice as many each time.
 */
const PAUSE = 500;
const LONGEST_PAUSE = 16_000;

/**
 * A notebook that is verified, or was.
 */
export class VerifyModel extends Listener {
  constructor({ api, path, save }: VerifyModel.IOptions) {
    super();
    this._api = api;
    this._path = path;
    this._save = save;
  }

  /**
   * Emitted when anything is different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * The notebook; it may have another name by now.
   */
  get path(): string {
    return this._view?.path ?? this._path;
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
   * Verify it as it is, unless that is under way.
   */
  async start(): Promise<void> {
    if (this.isRunning) {
      return;
    }
    this._isStarting = true;
    this._path = this.path;
    this._view = null;
    this._changed.emit();
    // What is saved is verified. Lab tells why it could not be saved.
    if (await this._save(this._path)) {
      await this._take(() => this._api.verify(this._path));
    }
    this._isStarting = false;
    this._emit();
  }

  /**
   * Show the report of a verification that ended.
   *
   * @param task - The conversation whose workspace has it, if it is not the
   * server's own folder.
   */
  async show(id: string, task?: string): Promise<void> {
    if (!this.isRunning) {
      await this._take(() => this._api.verification(id, task));
    }
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
    try {
      const view = await ask();
      if (this.isDisposed) {
        // Nobody waits for it.
        if (view.state === 'running') {
          await this._api.stopVerification(view.id);
        }
        return;
      }
      if (turn !== this._turn) {
        return;
      }
      this._view = view;
      this._error = null;
      this._pause = PAUSE;
    } catch (reason) {
      if (turn !== this._turn || this.isDisposed) {
        return;
      }
      this._error = asErrorBody(reason);
      this._pause = Math.min(2 * this._pause, LONGEST_PAUSE);
      if (this._error.code === 'not_found') {
        // The server was restarted, or the notebook is gone.
        this._view = null;
      }
    }
    if (this._view?.state === 'running') {
      const { id } = this._view;
      this._timer = setTimeout(
        () => void this._take(() => this._api.verification(id)),
        this._pause
      );
    }
    this._emit();
  }

  private _emit(): void {
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _api: VerifyApi;
  private _path: string;
  private readonly _save: VerifyModel.IOptions['save'];
  private readonly _changed = new Signal<this, void>(this);
  private _view: VerificationView | null = null;
  private _error: ErrorBody | null = null;
  private _isStarting = false;
  private _pause = PAUSE;
  private _turn = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The namespace for `VerifyModel` statics.
 */
export namespace VerifyModel {
  /**
   * Which notebook, and whom to ask.
   */
  export interface IOptions {
    readonly api: VerifyApi;
    readonly path: string;

    /**
     * Saves what is not saved of an open notebook; whether that went well.
     */
    readonly save: (path: string) => Promise<boolean>;
  }
}

import type { ServerConnection } from '@jupyterlab/services';
import { Debouncer } from '@lumino/polling';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../comm/client';
import type { ExtensionMessage } from '../generated/wire';
import { Listener } from '../listener';
import { TimelineApi } from '../rest/timelineapi';

/**
 * How long reasons to ask are gathered, in milliseconds.
 */
const GATHERED_FOR = 500;

/**
 * How far back a restore is looked for that can be undone.
 */
const LOOKED_AT = 20;

/**
 * What can be done where a notebook is.
 */
export interface INotebookHead {
  /**
   * Whether there is a checkpoint to restore anything from.
   */
  readonly hasCheckpoints: boolean;

  /**
   * Whether a restore can be undone.
   */
  readonly hasUndoable: boolean;
}

/**
 * What can be done where the notebook in front is, so that buttons that would
 * do nothing say so.
 */
export class NotebookHeads extends Listener {
  constructor({ serverSettings, client, current }: NotebookHeads.IOptions) {
    super();
    this._api = new TimelineApi(serverSettings);
    this._current = current;
    this._debouncer = new Debouncer(() => this._ask(), GATHERED_FOR);
    client.messageReceived.connect(this._onMessage, this);
    this.refresh();
  }

  /**
   * Emitted when something else can be done.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * What can be done; `null` while that is not known.
   */
  of(path: string | null): INotebookHead | null {
    return path === null ? null : (this._known.get(path) ?? null);
  }

  /**
   * Ask anew, soon.
   */
  refresh(): void {
    if (!this.isDisposed) {
      void this._debouncer.invoke();
    }
  }

  protected override release(): void {
    this._debouncer.dispose();
  }

  private async _ask(): Promise<void> {
    const path = this._current();
    if (path === null) {
      return;
    }
    try {
      const view = await this._api.view({ path }, { limit: LOOKED_AT });
      this._known.set(path, {
        hasCheckpoints: view.store.checkpoints > 0,
        hasUndoable: view.operations.some(({ undoable }) => undoable)
      });
    } catch {
      // Not known, so that the buttons can be pressed: then they say why not.
      this._known.delete(path);
    }
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }

  private _onMessage(_: ChannelClient, { type }: ExtensionMessage): void {
    if (type === 'currentCheckpointUpdated' || type === 'state') {
      this.refresh();
    }
  }

  private readonly _api: TimelineApi;
  private readonly _current: () => string | null;
  private readonly _debouncer: Debouncer;
  private readonly _known = new Map<string, INotebookHead>();
  private readonly _changed = new Signal<this, void>(this);
}

/**
 * The namespace for `NotebookHeads` statics.
 */
export namespace NotebookHeads {
  /**
   * Whom to ask, about what.
   */
  export interface IOptions {
    readonly serverSettings: ServerConnection.ISettings;
    readonly client: Pick<ChannelClient, 'messageReceived'>;

    /**
     * The path of the notebook in front.
     */
    readonly current: () => string | null;
  }
}

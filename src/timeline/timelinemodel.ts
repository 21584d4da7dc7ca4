import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../comm/client';
import { asErrorBody } from '../errors';
import type {
  CheckpointView,
  OperationView,
  TimelineView
} from '../generated/rest';
import type { ErrorBody, ExtensionMessage } from '../generated/wire';
import { Listener } from '../listener';
import type { Comparison, IPlace, TimelineApi } from '../rest/timelineapi';

/**
 * Which part of a time line is shown.
 */
export interface ITimelineFilter {
  readonly place: IPlace;

  /**
   * Everything, what belongs to the place's conversation, or what is about its
   * notebook.
   */
  readonly only: 'all' | 'task' | 'notebook';

  /**
   * Whether rows about nothing that changed are listed too.
   */
  readonly withUnchanged?: boolean;
}

/**
 * The time line on screen: what was done to a workspace, newest first, kept as
 * the server has it.
 */
export class TimelineModel extends Listener {
  constructor({ api, client }: TimelineModel.IOptions) {
    super();
    this.api = api;
    client.messageReceived.connect(this._onMessage, this);
  }

  readonly api: TimelineApi;

  /**
   * Emitted when anything is different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Which part of which time line it is.
   */
  get filter(): ITimelineFilter {
    return this._filter;
  }

  /**
   * What the server said last; `null` before it said anything.
   */
  get view(): TimelineView | null {
    return this._view;
  }

  /**
   * The rows; the same array until one of them is different.
   */
  get operations(): readonly OperationView[] {
    return this._operations;
  }

  get isLoading(): boolean {
    return this._isLoading;
  }

  /**
   * Why nothing newer is known; `null` when all is well.
   */
  get error(): ErrorBody | null {
    return this._error;
  }

  /**
   * The row that is open, by its operation.
   */
  get open(): string | null {
    return this._open;
  }

  /**
   * What open rows are compared with.
   */
  get against(): Comparison {
    return this._against;
  }

  /**
   * A checkpoint by its id; `undefined` if it is not here.
   */
  checkpoint(id: string | undefined): CheckpointView | undefined {
    return id === undefined
      ? undefined
      : this._operations.find(({ checkpoint }) => checkpoint?.id === id)
          ?.checkpoint;
  }

  /**
   * Open a row, or none.
   */
  unfold(operation: string | null, against: Comparison = 'previous'): void {
    this._open = operation;
    this._against = against;
    this._emit();
  }

  /**
   * List rows about nothing that changed too, or not.
   */
  listUnchanged(withUnchanged: boolean): void {
    this._filter = { ...this._filter, withUnchanged };
    this._emit();
  }

  /**
   * Show another time line, or another part of it.
   *
   * @returns Whether nothing else was to be shown meanwhile.
   */
  async show({
    place,
    only,
    withUnchanged = this._filter.withUnchanged ?? false
  }: ITimelineFilter): Promise<boolean> {
    const request = ++this._newestRequest;
    const { _filter: before } = this;
    const isSame =
      only === before.only &&
      JSON.stringify(place) === JSON.stringify(before.place);
    this._filter = { place, only, withUnchanged };
    if (!isSame) {
      this._view = null;
      this._operations = [];
      this._open = null;
    }
    await this.refresh();
    return request === this._newestRequest;
  }

  /**
   * Show the row of a checkpoint with its difference. What is too old to be on the first
   * pages is fetched.
   *
   * @param checkpoint - Its id, or the beginning of its commit.
   *
   * @returns Whether there is such a row, and nothing else was to be shown
   * meanwhile.
   */
  async reveal(checkpoint: string, against: Comparison): Promise<boolean> {
    const request = ++this._newestRequest;
    for (;;) {
      await this._settled();
      if (request !== this._newestRequest) {
        return false;
      }
      const found = this._operations.find(
        ({ checkpoint: row }) => row && Private.isCheckpoint(row, checkpoint)
      );
      if (found) {
        this.unfold(found.id, against);
        return true;
      }
      const count = this._operations.length;
      const turn = this._turn;
      await this.more();
      const isSuperseded = this._turn > turn + 1;
      if (this._operations.length === count && !isSuperseded) {
        return false;
      }
    }
  }

  /**
   * Ask the server anew, for as many rows as there are.
   */
  async refresh(): Promise<void> {
    const count = Math.max(PAGE, this._operations.length);
    await this._load(undefined, Math.min(count, MOST));
  }

  /**
   * Fetch what is older.
   */
  async more(): Promise<void> {
    const last = this._operations.at(-1);
    if (this._view?.more && last && !this._isLoading) {
      await this._load(last.id, PAGE);
    }
  }

  private _load(before: string | undefined, limit: number): Promise<void> {
    this._loaded = this._fetch(before, limit);
    return this._settled();
  }

  /**
   * Wait for what was asked of the server last.
   */
  private async _settled(): Promise<void> {
    let loaded: Promise<void>;
    do {
      loaded = this._loaded;
      await loaded;
    } while (loaded !== this._loaded);
  }

  private async _fetch(
    before: string | undefined,
    limit: number
  ): Promise<void> {
    const turn = ++this._turn;
    this._isLoading = true;
    this._error = null;
    this._emit();
    try {
      const { place, only } = this._filter;
      const view = await this.api.view(place, {
        before,
        limit,
        onlyTask: only === 'task'
      });
      if (turn !== this._turn || this.isDisposed) {
        return;
      }
      this._view = view;
      this._operations = Private.merged(
        before === undefined ? [] : this._operations,
        view.operations,
        this._operations
      );
    } catch (reason) {
      if (turn !== this._turn || this.isDisposed) {
        return;
      }
      this._error = asErrorBody(reason);
    }
    this._isLoading = false;
    this._emit();
  }

  private _onMessage(_: ChannelClient, message: ExtensionMessage): void {
    // With a state comes whatever was missed while there was no connection.
    if (
      this._view !== null &&
      (message.type === 'currentCheckpointUpdated' || message.type === 'state')
    ) {
      void this.refresh();
    }
  }

  private _emit(): void {
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private _filter: ITimelineFilter = { place: {}, only: 'all' };
  private _view: TimelineView | null = null;
  private _operations: readonly OperationView[] = [];
  private _isLoading = false;
  private _error: ErrorBody | null = null;
  private _open: string | null = null;
  private _against: Comparison = 'previous';
  private _turn = 0;
  private _loaded: Promise<void> = Promise.resolve();
  private _newestRequest = 0;
}

/**
 * How many rows a page has, and the most the server gives at once.
 */
const PAGE = 50;
const MOST = 500;

/**
 * The namespace for `TimelineModel` statics.
 */
export namespace TimelineModel {
  /**
   * The options of a time line.
   */
  export interface IOptions {
    readonly api: TimelineApi;
    readonly client: Pick<ChannelClient, 'messageReceived'>;
  }
}

/**
 * Whether a row is about a notebook.
 */
export function isAbout(
  { path, checkpoint }: OperationView,
  notebook: string
): boolean {
  return (
    path === notebook ||
    (checkpoint?.notebooks.includes(notebook) ?? false) ||
    (checkpoint?.variables.includes(notebook) ?? false)
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function isCheckpoint({ id, commit }: CheckpointView, wanted: string) {
    return id === wanted || commit.startsWith(wanted);
  }

  /**
   * Rows with others behind them, each as the object it was if it says the
   * same, so that it is not rendered again.
   */
  export function merged(
    before: readonly OperationView[],
    added: readonly OperationView[],
    known: readonly OperationView[]
  ): readonly OperationView[] {
    const ids = new Set(before.map(({ id }) => id));
    const texts = new Map(known.map(row => [JSON.stringify(row), row]));
    return [
      ...before,
      ...added
        .filter(({ id }) => !ids.has(id))
        .map(row => texts.get(JSON.stringify(row)) ?? row)
    ];
  }
}

import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import { asErrorBody } from '../../errors';
import type { HistoryList, HistorySnippet } from '../../generated/rest';
import type {
  ErrorBody,
  ExtensionMessage,
  HistoryItem,
  HistorySort
} from '../../generated/wire';
import { Listener } from '../../listener';
import type { IHistoryFilter } from '../../rest/historyapi';

/**
 * The conversations that are listed, a page after the other, and kept as the
 * server has them.
 */
export class HistoryPages extends Listener {
  constructor({ load, client }: HistoryPages.IOptions) {
    super();
    this._fetch = load;
    client.messageReceived.connect(this._onMessage, this);
  }

  /**
   * Emitted when anything is different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Which conversations are listed.
   */
  get filter(): IHistoryFilter {
    return this._filter;
  }

  /**
   * Whether only some conversations are wanted.
   */
  get isFiltered(): boolean {
    const { sort: _, ...wanted } = this._filter;
    const { sort: __, ...all } = HistoryPages.EVERYTHING;
    return JSON.stringify(wanted) !== JSON.stringify(all);
  }

  /**
   * The conversations that are here, in the order asked for; the same array
   * until one of them is different. `null` before the first page came.
   */
  get items(): readonly HistoryItem[] | null {
    return this._items;
  }

  /**
   * How many conversations there are, with those that are not here yet.
   */
  get total(): number {
    return this._total;
  }

  /**
   * Whether there are more than those here.
   */
  get hasMore(): boolean {
    return this._cursor !== null;
  }

  /**
   * Whether a page is on its way.
   */
  get isLoading(): boolean {
    return this._isLoading;
  }

  /**
   * Why the last page did not come; `null` if it did.
   */
  get error(): ErrorBody | null {
    return this._error;
  }

  /**
   * Where a conversation says what was searched for.
   */
  snippet(taskId: string): HistorySnippet | undefined {
    return this._snippets[taskId];
  }

  /**
   * List others, or in another order. Who searches wants the best match
   * first, until the search is over or another order is chosen.
   */
  async choose(change: Partial<IHistoryFilter>): Promise<void> {
    const before = this._filter;
    const sort = change.sort ?? this._sortFor(change.query ?? before.query);
    this._filter = { ...before, ...change, sort };
    await this.reload();
  }

  /**
   * Begin the list anew; what is here stays until the first page has come.
   */
  reload(): Promise<void> {
    return this._load(null);
  }

  /**
   * Fetch the page after the last one.
   */
  async more(): Promise<void> {
    if (this._cursor !== null && !this._isLoading) {
      await this._load(this._cursor);
    }
  }

  private _sortFor(query: string): HistorySort {
    const { sort } = this._filter;
    const wasSearching = this._filter.query !== '';
    const isSearching = query !== '';
    if (isSearching && !wasSearching) {
      this._sortBefore = sort;
      return 'mostRelevant';
    }
    if (wasSearching && !isSearching && sort === 'mostRelevant') {
      return this._sortBefore;
    }
    return sort;
  }

  private async _load(cursor: string | null): Promise<void> {
    const turn = ++this._turn;
    this._isLoading = true;
    this._error = null;
    this._emit();
    try {
      const page = await this._fetch(this._filter, cursor);
      if (turn !== this._turn) {
        return;
      }
      const before = cursor === null ? [] : (this._items ?? []);
      const known = new Set(before.map(({ id }) => id));
      const added = page.taskHistory.filter(({ id }) => !known.has(id));
      this._items = [...before, ...added];
      this._snippets = {
        ...(cursor === null ? {} : this._snippets),
        ...page.snippets
      };
      this._total = page.total;
      this._cursor = page.nextCursor ?? null;
    } catch (reason) {
      if (turn !== this._turn) {
        return;
      }
      this._error = asErrorBody(reason);
    }
    this._isLoading = false;
    this._emit();
  }

  private _onMessage(_: ChannelClient, message: ExtensionMessage): void {
    switch (message.type) {
      case 'taskHistoryItemUpdated':
        this._put(message.taskHistoryItem);
        break;
      case 'taskHistoryItemsRemoved':
        this._remove(new Set(message.taskIds));
        break;
      case 'taskHistoryUpdated':
        void this.reload();
        break;
      default:
        break;
    }
  }

  /**
   * A conversation is new or different. One that is here stays where it is,
   * so that nothing moves under the pointer; a new one comes first where the
   * newest do, and is found elsewhere when the list begins anew.
   */
  private _put(item: HistoryItem): void {
    const items = this._items;
    if (items === null) {
      return;
    }
    const isHere = items.some(({ id }) => id === item.id);
    if (isHere && !Private.isWanted(item, this._filter)) {
      this._remove(new Set([item.id]));
    } else if (isHere) {
      this._items = items.map(one => (one.id === item.id ? item : one));
      this._emit();
    } else if (
      this._filter.sort === 'newest' &&
      this._filter.query === '' &&
      item.ts >= (items.at(0)?.ts ?? 0) &&
      Private.isWanted(item, this._filter)
    ) {
      this._items = [item, ...items];
      this._total += 1;
      this._emit();
    }
  }

  private _remove(taskIds: ReadonlySet<string>): void {
    const items = this._items ?? [];
    const left = items.filter(({ id }) => !taskIds.has(id));
    if (left.length < items.length) {
      this._total = Math.max(
        left.length,
        this._total - (items.length - left.length)
      );
      this._items = left;
      this._emit();
    }
  }

  private _emit(): void {
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _fetch: HistoryPages.IOptions['load'];
  private readonly _changed = new Signal<this, void>(this);
  private _filter: IHistoryFilter = HistoryPages.EVERYTHING;
  private _items: readonly HistoryItem[] | null = null;
  private _snippets: Readonly<Record<string, HistorySnippet>> = {};
  private _sortBefore: HistorySort = 'newest';
  private _total = 0;
  private _cursor: string | null = null;
  private _turn = 0;
  private _isLoading = false;
  private _error: ErrorBody | null = null;
}

/**
 * The namespace for `HistoryPages` statics.
 */
export namespace HistoryPages {
  /**
   * All conversations, the newest first.
   */
  export const EVERYTHING: IHistoryFilter = {
    query: '',
    sort: 'newest',
    workspace: null,
    notebook: null,
    favorites: false,
    since: null,
    until: null
  };

  /**
   * The options of a list.
   */
  export interface IOptions {
    /**
     * Fetches the page after a cursor, or the first one.
     */
    readonly load: (
      filter: IHistoryFilter,
      cursor: string | null
    ) => Promise<HistoryList>;
    readonly client: Pick<ChannelClient, 'messageReceived'>;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * Whether a conversation belongs into the list, as far as it can be told here.
   */
  export function isWanted(item: HistoryItem, filter: IHistoryFilter): boolean {
    return (
      (!filter.favorites || item.isFavorited === true) &&
      (filter.workspace === null || item.workspace === filter.workspace) &&
      (filter.notebook === null || item.notebook?.path === filter.notebook) &&
      (filter.since === null || item.ts >= filter.since) &&
      (filter.until === null || item.ts < filter.until)
    );
  }
}

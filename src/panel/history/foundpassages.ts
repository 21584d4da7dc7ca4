import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import { asErrorBody } from '../../errors';
import type { RecallFound } from '../../generated/rest';
import type {
  ErrorBody,
  ExtensionMessage,
  HistoryItem
} from '../../generated/wire';
import { Listener } from '../../listener';
import type { IHistoryFilter } from '../../rest/historyapi';
import type { IRecallQuery } from '../../rest/recallapi';
import type { HistoryPages } from './historypages';

/**
 * So many passages are asked for.
 */
const ASKED = 40;

/**
 * So many of them are listed of a kind.
 */
const MOST = 6;

const ALL_KINDS = ['conversation', 'notebook', 'memory'] as const;

/**
 * The passages that were found beside the conversations of a list.
 */
export interface IFound {
  /**
   * Whether notebooks and memory were searched, too.
   */
  readonly isEverywhere: boolean;

  /**
   * Where a conversation of the list says what was looked for.
   */
  readonly listed: ReadonlyMap<string, RecallFound>;

  /**
   * One of each conversation that the list does not have.
   */
  readonly conversations: readonly RecallFound[];
  readonly notebooks: readonly RecallFound[];
  readonly memory: readonly RecallFound[];
}

/**
 * Looks for passages in what was said, in notebooks and in memory, whenever
 * something else is looked for in the list of conversations.
 */
export class FoundPassages extends Listener {
  constructor({ pages, search, client }: FoundPassages.IOptions) {
    super();
    this._pages = pages;
    this._search = search;
    pages.changed.connect(this._onChanged, this);
    client.messageReceived.connect(this._onMessage, this);
    this._look(pages.filter);
  }

  /**
   * Emitted when anything is different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * What was found: the same object until anything of it differs. `null` if
   * nothing is looked for, or before the answer is there.
   */
  get found(): IFound | null {
    const { items, filter, isLoading } = this._pages;
    if (filter.query === '') {
      return null;
    }
    // The list stays until another one is there, and this with it.
    if (isLoading || items === null) {
      return this._found;
    }
    const passages = this._request === null ? this._passages : null;
    if (passages !== this._sorted || items !== this._items) {
      this._items = items;
      this._sorted = passages;
      this._found =
        passages === null ? null : Private.sorted(passages, items, filter);
    }
    return this._found;
  }

  /**
   * Whether an answer is on its way.
   */
  get isLoading(): boolean {
    return this._request !== null;
  }

  /**
   * Why there is no answer; `null` if there is one, or nothing was asked.
   */
  get error(): ErrorBody | null {
    return this._error;
  }

  /**
   * Look again, after it failed.
   */
  again(): void {
    this._look(this._pages.filter);
  }

  protected override release(): void {
    this._request?.abort();
  }

  private _onChanged(): void {
    const { filter } = this._pages;
    if (Private.queryOf(filter) !== Private.queryOf(this._filter)) {
      this._look(filter);
    }
  }

  private _onMessage(_: ChannelClient, message: ExtensionMessage): void {
    if (message.type === 'taskHistoryItemsRemoved') {
      const gone = new Set(message.taskIds);
      // Off the list, they would be taken for others.
      this._passages =
        this._passages?.filter(({ source }) => !gone.has(source)) ?? null;
      this._emit();
    }
  }

  private _look(filter: IHistoryFilter): void {
    this._request?.abort();
    this._request = null;
    this._error = null;
    this._filter = filter;
    if (filter.query === '') {
      this._passages = null;
      this._emit();
      return;
    }
    const request = new AbortController();
    this._request = request;
    const { query, workspace, since, until } = filter;
    const asked = { query, workspace, since, until, limit: ASKED };
    const kinds = Private.isOnlyListed(filter)
      ? (['conversation'] as const)
      : ALL_KINDS;
    this._emit();
    this._search({ ...asked, kinds }, request.signal).then(
      passages => this._ended(request, passages, null),
      (reason: unknown) => this._ended(request, null, asErrorBody(reason))
    );
  }

  private _ended(
    request: AbortController,
    passages: readonly RecallFound[] | null,
    error: ErrorBody | null
  ): void {
    if (request === this._request) {
      this._request = null;
      this._passages = passages;
      this._error = error;
      this._emit();
    }
  }

  private _emit(): void {
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _pages: FoundPassages.IOptions['pages'];
  private readonly _search: FoundPassages.IOptions['search'];
  private readonly _changed = new Signal<this, void>(this);
  private _filter: IHistoryFilter | null = null;
  private _passages: readonly RecallFound[] | null = null;
  private _request: AbortController | null = null;
  private _error: ErrorBody | null = null;
  private _items: readonly HistoryItem[] | null = null;
  private _sorted: readonly RecallFound[] | null = null;
  private _found: IFound | null = null;
}

/**
 * The namespace for `FoundPassages` statics.
 */
export namespace FoundPassages {
  /**
   * The options of a search.
   */
  export interface IOptions {
    readonly pages: Pick<
      HistoryPages,
      'changed' | 'filter' | 'isLoading' | 'items'
    >;
    readonly search: (
      query: IRecallQuery,
      signal: AbortSignal
    ) => Promise<readonly RecallFound[]>;
    readonly client: Pick<ChannelClient, 'messageReceived'>;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What passages depend on, to be compared.
   */
  export function queryOf(filter: IHistoryFilter | null): string {
    const { query, workspace, since, until } = filter ?? {};
    return JSON.stringify([
      query,
      workspace,
      since,
      until,
      filter !== null && isOnlyListed(filter)
    ]);
  }

  /**
   * Whether only conversations of the list are wanted: nobody knows of a
   * passage whether it is a favorite, or about a notebook.
   */
  export function isOnlyListed(filter: IHistoryFilter): boolean {
    return filter.favorites || filter.notebook !== null;
  }

  export function sorted(
    passages: readonly RecallFound[],
    items: readonly HistoryItem[],
    filter: IHistoryFilter
  ): IFound {
    const ids = new Set(items.map(({ id }) => id));
    const ofConversations = new Map<string, RecallFound>();
    const ofNotebooks = new Map<string, RecallFound>();
    const memory: RecallFound[] = [];
    for (const passage of passages) {
      const { kind, source, place, path } = passage;
      switch (kind) {
        case 'conversation':
          if (!ofConversations.has(source)) {
            ofConversations.set(source, passage);
          }
          break;
        case 'notebook': {
          const cell = `${source}\n${place}`;
          // One of another workspace cannot be opened here.
          if (path !== undefined && !ofNotebooks.has(cell)) {
            ofNotebooks.set(cell, passage);
          }
          break;
        }
        case 'memory':
          memory.push(passage);
          break;
      }
    }
    const others = isOnlyListed(filter)
      ? []
      : [...ofConversations.values()].filter(({ source }) => !ids.has(source));
    return {
      isEverywhere: !isOnlyListed(filter),
      listed: new Map(
        [...ofConversations].filter(([source]) => ids.has(source))
      ),
      conversations: others.slice(0, MOST),
      notebooks: [...ofNotebooks.values()].slice(0, MOST),
      memory: memory.slice(0, MOST)
    };
  }
}

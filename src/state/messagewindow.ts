import { ArrayExt } from '@lumino/algorithm';
import type { PartialJSONObject } from '@lumino/coreutils';
import { JSONExt } from '@lumino/coreutils';

import type { ClineMessage, MessageDelta, TimeSpan } from '../generated/wire';

/**
 * The newest messages of a conversation, in order.
 *
 * #### Notes
 * A message's `ts` is its identity. A message object is never changed: it is
 * the same one as long as the message says the same, and another one after.
 */
export class MessageWindow {
  /**
   * @param limit - How many messages are kept; the oldest go first.
   */
  constructor(limit: number) {
    this._limit = limit;
  }

  /**
   * The identities of the messages, oldest first; the same array until one
   * comes or goes.
   */
  get order(): readonly number[] {
    return this._order;
  }

  /**
   * Whether older messages were let go of.
   */
  get isTruncated(): boolean {
    return this._isTruncated;
  }

  /**
   * Keep however many there are, or no more than the limit again.
   *
   * @returns The identities of those that were let go of.
   */
  keepAll(isWanted: boolean): number[] {
    this._keepsAll = isWanted;
    const gone = isWanted ? [] : this._order.slice(0, -this._limit);
    if (gone.length > 0) {
      gone.forEach(ts => this._messages.delete(ts));
      this._order = this._order.slice(-this._limit);
      this._isTruncated = true;
    }
    return gone;
  }

  /**
   * What was let go of is back, as far as the oldest message here.
   */
  completed(): void {
    this._isTruncated = false;
  }

  /**
   * One message.
   */
  get(ts: number): ClineMessage | undefined {
    return this._messages.get(ts);
  }

  /**
   * Let these messages be the only ones.
   *
   * @returns The identities of those that were changed, came or went.
   */
  replace(messages: readonly ClineMessage[]): number[] {
    const before = this._messages;
    this._keepsAll = false;
    const kept = messages
      .slice(-this._limit)
      .map(message => Private.sameOr(before.get(message.ts), message));
    this._isTruncated = kept.length < messages.length;
    this._messages = new Map(kept.map(message => [message.ts, message]));
    const order = [...this._messages.keys()].sort((a, b) => a - b);
    if (!ArrayExt.shallowEqual(order, this._order)) {
      this._order = order;
    }
    const all = new Set([...before.keys(), ...this._messages.keys()]);
    return [...all].filter(ts => before.get(ts) !== this._messages.get(ts));
  }

  /**
   * Add a message, or put it in place of what it was.
   *
   * @returns Whether that changed anything.
   */
  put(message: ClineMessage): boolean {
    const before = this._messages.get(message.ts);
    const after = Private.sameOr(before, message);
    if (after === before) {
      return false;
    }
    if (before === undefined && !this._makeRoom(message.ts)) {
      return false;
    }
    this._messages.set(message.ts, after);
    return true;
  }

  /**
   * Let go of the messages of these spans.
   *
   * @returns The identities of those that went.
   */
  remove(spans: readonly TimeSpan[]): number[] {
    const gone = this._order.filter(ts =>
      spans.some(({ first, last }) => first <= ts && ts <= last)
    );
    if (gone.length > 0) {
      gone.forEach(ts => this._messages.delete(ts));
      this._order = this._order.filter(ts => this._messages.has(ts));
    }
    return gone;
  }

  /**
   * Append to a message.
   *
   * @returns Whether it fits: the message is known, and what it holds from the
   * delta's offset on, counted in UTF-16 units as JavaScript does, is how the
   * delta begins. Mostly that is nothing.
   */
  append({ ts, field, offset, append }: MessageDelta): boolean {
    const before = this._messages.get(ts);
    const text = before?.[field] ?? '';
    if (before === undefined || text.length < offset) {
      return false;
    }
    const known = text.length - offset;
    if (!append.startsWith(text.slice(offset, offset + append.length))) {
      return false;
    }
    if (known < append.length) {
      this._messages.set(ts, {
        ...before,
        [field]: text + append.slice(known)
      });
    }
    return true;
  }

  /**
   * Take up a new identity; `false` if it is older than all a full window holds.
   */
  private _makeRoom(ts: number): boolean {
    const index = ArrayExt.lowerBound(this._order, ts, (a, b) => a - b);
    if (this._keepsAll || this._order.length < this._limit) {
      this._order = [
        ...this._order.slice(0, index),
        ts,
        ...this._order.slice(index)
      ];
      return true;
    }
    this._isTruncated = true;
    if (index === 0) {
      return false;
    }
    this._messages.delete(this._order[0]);
    this._order = [
      ...this._order.slice(1, index),
      ts,
      ...this._order.slice(index)
    ];
    return true;
  }

  private readonly _limit: number;
  private _messages = new Map<number, ClineMessage>();
  private _order: readonly number[] = [];
  private _isTruncated = false;
  private _keepsAll = false;
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The message as it was if the new one says the same, else the new one.
   */
  export function sameOr(
    before: ClineMessage | undefined,
    after: ClineMessage
  ): ClineMessage {
    return before !== undefined && sameJSON(before, after) ? before : after;
  }

  function sameJSON(before: ClineMessage, after: ClineMessage): boolean {
    // Interfaces have no index signature, so TypeScript takes them for no JSON.
    return JSONExt.deepEqual(
      before as unknown as PartialJSONObject,
      after as unknown as PartialJSONObject
    );
  }
}

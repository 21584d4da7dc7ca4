import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

/**
 * What a person has put away, until it says something else or the tab of the
 * browser is closed.
 */
export class DismissedNotices {
  /**
   * @param storage - Where it outlives a reload; without it it does not.
   *
   * @param key - Under which it is stored.
   */
  constructor(
    private readonly _storage: DismissedNotices.IStorage | null = null,
    private readonly _key = ''
  ) {
    this._versions = new Map(Private.read(this._storage?.getItem(_key)));
  }

  /**
   * Emitted when something was put away, or forgotten.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Whether what is said about a topic was put away as it is now.
   */
  has(topic: string, version: string): boolean {
    return this._versions.get(topic) === version;
  }

  /**
   * Put away what is said about a topic.
   */
  add(topic: string, version: string): void {
    this._versions.set(topic, version);
    this._save();
  }

  /**
   * There is nothing to say about the topic: what comes next is news.
   */
  forget(topic: string): void {
    if (this._versions.delete(topic)) {
      this._save();
    }
  }

  private _save(): void {
    try {
      this._storage?.setItem(this._key, JSON.stringify([...this._versions]));
    } catch (reason) {
      console.warn('HDSP Agent cannot keep what was dismissed', reason);
    }
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _versions: Map<string, string>;
}

/**
 * The namespace for `DismissedNotices` statics.
 */
export namespace DismissedNotices {
  /**
   * The part of the browser's storage that is used.
   */
  export type IStorage = Pick<Storage, 'getItem' | 'setItem'>;
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function read(text: string | null | undefined): [string, string][] {
    try {
      const found: unknown = JSON.parse(text ?? '[]');
      return Array.isArray(found) ? found.filter(isEntry) : [];
    } catch {
      return [];
    }
  }

  function isEntry(entry: unknown): entry is [string, string] {
    return (
      Array.isArray(entry) &&
      entry.length === 2 &&
      entry.every(part => typeof part === 'string')
    );
  }
}

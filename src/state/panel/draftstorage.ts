import { Debouncer } from '@lumino/polling';
import type { IDisposable } from '@lumino/disposable';

import type { IAttachment, IDraft } from './panelstate';
import { isAttachmentKind } from './attachments';

/**
 * Keeps what is typed and not sent where a reload of the tab finds it.
 *
 * #### Notes
 * The storage of a tab is small, and others use it too. What is too large for
 * it is left out, pictures first; it stays in the page until that is closed.
 */
export class DraftStorage implements IDisposable {
  constructor({ storage, prefix, page }: DraftStorage.IOptions) {
    this._storage = storage;
    this._prefix = prefix;
    this._page = page;
    page.addEventListener('pagehide', this._flush);
  }

  /**
   * Whether this is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Write what is not written yet, and nothing from then on.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._flush();
    this._isDisposed = true;
    this._debouncer.dispose();
    this._page.removeEventListener('pagehide', this._flush);
  }

  /**
   * What was kept, by the keys it was saved under.
   */
  load(): Map<string, IDraft> {
    const found = new Map<string, IDraft>();
    for (let index = 0; index < this._storage.length; index++) {
      const name = this._storage.key(index);
      if (name?.startsWith(this._prefix)) {
        const draft = Private.read(this._storage.getItem(name) ?? '');
        if (draft) {
          found.set(name.slice(this._prefix.length), draft);
        }
      }
    }
    return found;
  }

  /**
   * Keep a draft, soon; `null` is one that is no more.
   */
  save(key: string, draft: IDraft | null): void {
    if (!this._isDisposed) {
      this._changed.set(key, draft);
      void this._debouncer.invoke();
    }
  }

  private readonly _flush = (): void => {
    const changed = [...this._changed];
    this._changed.clear();
    for (const [key, draft] of changed) {
      this._write(`${this._prefix}${key}`, draft);
    }
  };

  private _write(name: string, draft: IDraft | null): void {
    try {
      if (draft === null) {
        this._storage.removeItem(name);
        return;
      }
      const images = Private.areSmall(draft.images) ? draft.images : [];
      this._storage.setItem(name, JSON.stringify({ ...draft, images }));
    } catch (reason) {
      // An older version of the draft would be worse than none.
      this._storage.removeItem(name);
      console.warn('HDSP Agent cannot keep unsent text over a reload', reason);
    }
  }

  private readonly _storage: DraftStorage.IStorage;
  private readonly _prefix: string;
  private readonly _page: DraftStorage.IPage;
  private readonly _changed = new Map<string, IDraft | null>();
  private readonly _debouncer = new Debouncer(
    this._flush,
    DraftStorage.GATHER_MILLISECONDS
  );
  private _isDisposed = false;
}

/**
 * The storage of this tab; `null` where a page may keep nothing, as in sandboxed
 * frames.
 */
export function tabStorage(
  page: Pick<Window, 'sessionStorage'>
): DraftStorage.IStorage | null {
  try {
    return page.sessionStorage;
  } catch {
    return null;
  }
}

/**
 * The namespace for `DraftStorage` statics.
 */
export namespace DraftStorage {
  /**
   * How long changes are gathered before they are written.
   */
  export const GATHER_MILLISECONDS = 300;

  /**
   * The part of the browser's storage that is used.
   */
  export type IStorage = Pick<
    Storage,
    'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'
  >;

  /**
   * The part of a page that tells when it goes.
   */
  export interface IPage {
    addEventListener(type: 'pagehide', listener: () => void): void;
    removeEventListener(type: 'pagehide', listener: () => void): void;
  }

  /**
   * Where drafts are kept.
   */
  export interface IOptions {
    readonly storage: IStorage;

    /**
     * What the names of the entries begin with.
     */
    readonly prefix: string;

    readonly page: IPage;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * How many characters pictures may take altogether.
   */
  const MOST_OF_IMAGES = 1_000_000;

  export function areSmall(images: readonly string[]): boolean {
    return (
      images.reduce((sum, { length }) => sum + length, 0) <= MOST_OF_IMAGES
    );
  }

  /**
   * A draft as it was written, by this version or another one.
   */
  export function read(written: string): IDraft | null {
    let value: unknown;
    try {
      value = JSON.parse(written);
    } catch {
      return null;
    }
    if (typeof value !== 'object' || value === null) {
      return null;
    }
    const { text, images, attachments } = value as Partial<
      Record<keyof IDraft, unknown>
    >;
    return typeof text === 'string' &&
      Array.isArray(images) &&
      images.every(image => typeof image === 'string') &&
      Array.isArray(attachments) &&
      attachments.every(isAttachment)
      ? { text, images, attachments }
      : null;
  }

  function isAttachment(value: unknown): value is IAttachment {
    if (typeof value !== 'object' || value === null) {
      return false;
    }
    const { kind, path, cellId, label, content } = value as Partial<
      Record<keyof IAttachment, unknown>
    >;
    return (
      isAttachmentKind(kind) &&
      [path, label].every(part => typeof part === 'string') &&
      [cellId, content].every(part => part === null || typeof part === 'string')
    );
  }
}

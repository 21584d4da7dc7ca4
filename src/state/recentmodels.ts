/**
 * A model that was used, and the profile it was used with.
 */
export interface IRecentModel {
  /**
   * The profile's id.
   */
  readonly profile: string;

  /**
   * The provider the profile had then.
   */
  readonly provider: string;
  readonly model: string;
}

/**
 * Remembers which models a person used last, in this browser.
 *
 * #### Notes
 * Where nothing can be kept, as in sandboxed frames, there are none.
 */
export class RecentModels {
  constructor({ storage, key }: RecentModels.IOptions) {
    this._storage = storage;
    this._key = key;
  }

  /**
   * The models, the one used last first.
   */
  list(): readonly IRecentModel[] {
    return Private.read(this._storage?.getItem(this._key) ?? '');
  }

  /**
   * Put a model first.
   */
  add(used: IRecentModel): void {
    const others = this.list().filter(
      one =>
        one.profile !== used.profile ||
        one.provider !== used.provider ||
        one.model !== used.model
    );
    const recent = [used, ...others].slice(0, RecentModels.MOST);
    try {
      this._storage?.setItem(this._key, JSON.stringify(recent));
    } catch (reason) {
      console.warn('HDSP Agent cannot remember the models used last', reason);
    }
  }

  private readonly _storage: RecentModels.IStorage | null;
  private readonly _key: string;
}

/**
 * The storage of this browser; `null` where a page may keep nothing.
 */
export function browserStorage(
  page: Pick<Window, 'localStorage'>
): RecentModels.IStorage | null {
  try {
    return page.localStorage;
  } catch {
    return null;
  }
}

/**
 * The namespace for `RecentModels` statics.
 */
export namespace RecentModels {
  /**
   * How many are remembered.
   */
  export const MOST = 5;

  /**
   * The part of the browser's storage that is used.
   */
  export type IStorage = Pick<Storage, 'getItem' | 'setItem'>;

  /**
   * Where they are kept.
   */
  export interface IOptions {
    readonly storage: IStorage | null;
    readonly key: string;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What was written, by this version or another one.
   */
  export function read(written: string): readonly IRecentModel[] {
    let value: unknown;
    try {
      value = JSON.parse(written);
    } catch {
      return [];
    }
    return Array.isArray(value) ? value.filter(isRecentModel) : [];
  }

  function isRecentModel(value: unknown): value is IRecentModel {
    if (typeof value !== 'object' || value === null) {
      return false;
    }
    const { profile, provider, model } = value as Partial<
      Record<keyof IRecentModel, unknown>
    >;
    return [profile, provider, model].every(part => typeof part === 'string');
  }
}

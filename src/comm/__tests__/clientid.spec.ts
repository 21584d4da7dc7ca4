import { claimClientId } from '../clientid';

/**
 * A tab, whose session storage outlives the pages in it.
 */
class Tab extends EventTarget {
  constructor(stored: ReadonlyMap<string, string> = new Map()) {
    super();
    this._stored = new Map(stored);
  }

  readonly sessionStorage = {
    getItem: (key: string) => this._stored.get(key) ?? null,
    setItem: (key: string, value: string) => void this._stored.set(key, value),
    removeItem: (key: string) => void this._stored.delete(key)
  };

  /** The same tab after a reload: a new page, the old storage. */
  reload(): Tab {
    this.dispatchEvent(new Event('pagehide'));
    return new Tab(this._stored);
  }

  /** What the browser makes when a person duplicates the tab. */
  duplicate(): Tab {
    return new Tab(this._stored);
  }

  private readonly _stored: Map<string, string>;
}

describe('claimClientId()', () => {
  it('should give each tab its own id', () => {
    expect(claimClientId(new Tab())).not.toBe(claimClientId(new Tab()));
  });

  it('should keep the id over reloads', () => {
    const tab = new Tab();
    const id = claimClientId(tab);
    const reloaded = tab.reload();
    expect(claimClientId(reloaded)).toBe(id);
    expect(claimClientId(reloaded.reload())).toBe(id);
  });

  it('should give a duplicated tab an id of its own', () => {
    const tab = new Tab();
    const id = claimClientId(tab);
    const copy = tab.duplicate();
    const copied = claimClientId(copy);
    expect(copied).not.toBe(id);
    expect(claimClientId(tab.reload())).toBe(id);
    expect(claimClientId(copy.reload())).toBe(copied);
  });

  it('should hold the id again when the page comes back from the cache', () => {
    const tab = new Tab();
    const id = claimClientId(tab);
    tab.dispatchEvent(new Event('pagehide'));
    tab.dispatchEvent(new Event('pageshow'));
    expect(claimClientId(tab.duplicate())).not.toBe(id);
  });

  it('should do without storage where it is forbidden', () => {
    const forbidden = {
      get sessionStorage(): never {
        throw new DOMException('denied', 'SecurityError');
      },
      addEventListener: () => undefined
    };
    expect(claimClientId(forbidden)).toMatch(/^[0-9a-f-]{36}$/);
  });
});

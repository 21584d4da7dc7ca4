import type { IRecentModel } from '../recentmodels';
import { RecentModels, browserStorage } from '../recentmodels';

const used = (model: string): IRecentModel => ({
  profile: 'p',
  provider: 'anthropic',
  model
});

describe('RecentModels', () => {
  let kept: Map<string, string>;
  let storage: RecentModels.IStorage;

  beforeEach(() => {
    kept = new Map();
    storage = {
      getItem: key => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value)
    };
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const memory = (place: RecentModels.IStorage | null = storage) =>
    new RecentModels({ storage: place, key: 'recent' });

  it('has the one used last first, each once, and no more than a few', () => {
    for (const model of ['a', 'b', 'c', 'd', 'e', 'f', 'c']) {
      memory().add(used(model));
    }
    expect(
      memory()
        .list()
        .map(({ model }) => model)
    ).toEqual(['c', 'f', 'e', 'd', 'b']);
  });

  it.each(['', 'no JSON', '{}', '[null, 5, {"profile": "p"}]'])(
    'reads nothing out of %j',
    written => {
      kept.set('recent', written);
      expect(memory().list()).toEqual([]);
    }
  );

  it('does without a storage, and with a full one', () => {
    memory(null).add(used('a'));
    expect(memory(null).list()).toEqual([]);
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    memory({
      getItem: () => null,
      setItem: () => {
        throw new Error('full');
      }
    }).add(used('a'));
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('finds the storage of the browser where there is one', () => {
    const localStorage = storage as Storage;
    expect(browserStorage({ localStorage })).toBe(storage);
    const closed = {
      get localStorage(): Storage {
        throw new Error('sandboxed');
      }
    };
    expect(browserStorage(closed)).toBeNull();
  });
});

import type { LocalModelList } from '../../generated/rest';
import { RestServer, refusal } from '../../panel/history/__tests__/restserver';
import { aModel, embedded } from '../../panel/localmodel/__tests__/embedded';
import { ServerConnection } from '@jupyterlab/services';

import { SettingsApi } from '../settingsapi';
import { EmbeddedData } from '../embeddeddata';

describe('EmbeddedData', () => {
  let rest: RestServer;
  let data: EmbeddedData;
  let list: LocalModelList;

  beforeEach(() => {
    jest.useFakeTimers();
    rest = new RestServer();
    list = embedded();
    rest.answers.set('GET local-models', () => list);
    data = new EmbeddedData(new SettingsApi(ServerConnection.makeSettings()));
  });

  afterEach(() => {
    data.dispose();
    rest.dispose();
    jest.useRealTimers();
  });

  const asked = () => rest.of('GET local-models').length;

  it('should ask again only while a model is fetched', async () => {
    await data.refresh();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(asked()).toBe(1);
    rest.answers.set('POST local-models/coder', () => {
      list = embedded({ state: 'getting', source: 'hub' });
      return list.models[0];
    });
    expect(await data.get(aModel())).toBe(true);
    expect(data.offered?.state).toBe('getting');
    for (const done of [1_000_000, 3_000_000, 5_000_000]) {
      list = embedded({ state: 'getting', source: 'hub', done });
      await jest.advanceTimersByTimeAsync(500);
    }
    expect(data.pace.speed).toBeGreaterThan(0);
    list = embedded({ state: 'ready', done: 491_400_064 });
    await jest.advanceTimersByTimeAsync(500);
    const before = asked();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(asked()).toBe(before);
  });

  it('should go on asking, more slowly, where the server does not answer', async () => {
    list = embedded({ state: 'getting', source: 'hub' });
    await data.refresh();
    rest.answers.set('GET local-models', () => refusal('gone', 'Gone.', 503));
    await jest.advanceTimersByTimeAsync(600);
    expect(data.loadError?.code).toBe('gone');
    const before = asked();
    await jest.advanceTimersByTimeAsync(2_000);
    expect(asked()).toBe(before);
    rest.answers.set('GET local-models', () => list);
    await jest.advanceTimersByTimeAsync(1_500);
    expect(data.loadError).toBeNull();
  });

  it('should ask nothing once nobody looks any more', async () => {
    list = embedded({ state: 'getting', source: 'hub' });
    await data.refresh();
    data.dispose();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(asked()).toBe(1);
  });

  it('should show what was found on the hub until it is in the list', async () => {
    const found = aModel({ id: 'found', isAdded: true, isOffered: false });
    rest.answers.set('POST hub-models', () => ({ models: [found] }));
    expect(await data.lookUp('ada/found-GGUF')).toBe(true);
    expect(rest.of('POST hub-models')[0].body).toEqual({
      name: 'ada/found-GGUF'
    });
    expect(data.found).toEqual([found]);
    rest.answers.set('POST local-models/found', () => {
      list = { ...list, models: [...list.models, found] };
      return found;
    });
    expect(await data.get(found)).toBe(true);
    expect(data.found).toEqual([]);
    rest.answers.set('POST hub-models', () =>
      refusal('local_hub_refused', 'no')
    );
    expect(await data.lookUp('ada/other')).toBe(false);
    expect(data.error?.code).toBe('local_hub_refused');
  });

  it('should say how much a deletion gave back, and why one was refused', async () => {
    rest.answers.set('DELETE local-models/coder', () => ({ freed: 7 }));
    expect(await data.remove(aModel())).toBe(true);
    expect(data.freed).toBe(7);
    rest.answers.set('DELETE local-models/coder', () =>
      refusal('conflict', 'It is answering somebody.')
    );
    expect(await data.remove(aModel())).toBe(false);
    expect(data.freed).toBeNull();
    expect(data.error?.code).toBe('conflict');
  });
});

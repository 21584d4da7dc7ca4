import { ServerConnection } from '@jupyterlab/services';

import type { MemoryView } from '../../generated/rest';
import { RestServer, refusal } from '../../panel/history/__tests__/restserver';
import type { IMemoryPlace } from '../memoryapi';
import { MemoryApi } from '../memoryapi';
import { MemoryData } from '../memorydata';
import { aNote, aRun, remembered } from './remembered';

describe('MemoryData', () => {
  let rest: RestServer;
  let data: MemoryData;
  let view: MemoryView;
  let place: IMemoryPlace;

  beforeEach(() => {
    jest.useFakeTimers();
    rest = new RestServer();
    view = remembered({ notes: [aNote()] });
    place = {};
    rest.answers.set('GET memory', () => view);
    data = new MemoryData({
      api: new MemoryApi(ServerConnection.makeSettings()),
      place: () => place
    });
  });

  afterEach(() => {
    data.dispose();
    rest.dispose();
    jest.useRealTimers();
  });

  const asked = () => rest.of('GET memory').length;

  it('should show what is remembered after each change', async () => {
    await data.refresh();
    rest.answers.set('PATCH memory/notes/n1', ({ body }) => {
      view = remembered({ notes: [aNote(body as { text: string })] });
      return view.memory.notes[0];
    });
    expect(await data.changeNote('n1', { text: 'Use polars 1.x' })).toBe(true);
    expect(data.value?.memory.notes[0].text).toBe('Use polars 1.x');
  });

  it('should see that somebody else was faster', async () => {
    await data.refresh();
    view = remembered();
    expect(await data.deleteNote('n1')).toBe(false);
    expect(data.error?.code).toBe('not_found');
    expect(data.value?.memory.notes).toEqual([]);
  });

  it('should change a note where it was seen, though one looks from elsewhere now', async () => {
    place = { task: 't', notebook: 'a.ipynb' };
    await data.refresh();
    place = {};
    await data.deleteNote('n1');
    expect(rest.of('DELETE memory/notes/n1')[0].query).toEqual({
      task: 't',
      notebook: 'a.ipynb'
    });
    expect(data.place).toEqual({});
  });

  it('should not take a note for oneself for one that was said on screen', async () => {
    place = { task: 't' };
    rest.answers.set('POST memory/notes', () => aNote());
    await data.refresh();
    await data.addNote({ text: 'a', scope: 'person', pinned: false });
    await data.addNote({ text: 'b', scope: 'workspace', pinned: false });
    expect(rest.of('POST memory/notes').map(({ query }) => query)).toEqual([
      {},
      { task: 't' }
    ]);
  });

  describe('learning', () => {
    beforeEach(async () => {
      view = remembered({ recent: [aRun()] });
      await data.refresh();
      rest.answers.set('POST memory/run', () => {
        view = { ...view, running: true };
        return { done: true };
      });
    });

    it('should be followed until it is over, and no longer', async () => {
      expect(await data.learn()).toBe(true);
      expect(data.value?.running).toBe(true);
      expect(data.outcome).toBeNull();
      const before = asked();
      await jest.advanceTimersByTimeAsync(1_000);
      expect(asked()).toBe(before + 1);
      view = remembered({
        recent: [aRun({ kind: 'consolidate', key: 'me' }), aRun()]
      });
      await jest.advanceTimersByTimeAsync(1_000);
      expect(data.outcome).toBe('learned');
      const after = asked();
      await jest.advanceTimersByTimeAsync(60_000);
      expect(asked()).toBe(after);
    });

    it('should tell that there was nothing, and that it failed', async () => {
      rest.answers.set('POST memory/run', () => ({ done: true }));
      await data.learn();
      expect(data.outcome).toBe('nothing');
      await data.learn();
      view = remembered({
        recent: [aRun({ key: 't2', outcome: 'failed' }), aRun()]
      });
      await data.learn();
      expect(data.outcome).toBe('failed');
    });

    it('should tell that conversations wait', async () => {
      rest.answers.set('POST memory/run', () => ({ done: true }));
      const endedAt = '2026-11-27T12:00:00Z';
      view = remembered(
        {},
        { lastRound: { endedAt, outcome: 'waiting', conversations: 0 } }
      );
      await data.learn();
      expect(data.outcome).toBe('waiting');
    });

    it('should not be begun where that is refused', async () => {
      rest.answers.set('POST memory/run', () => refusal('unsupported', 'Off.'));
      expect(await data.learn()).toBe(false);
      expect(data.error?.message).toBe('Off.');
      expect(data.outcome).toBeNull();
      expect(data.value?.running).toBe(false);
    });

    it('should be asked about less often where the server does not answer', async () => {
      await data.learn();
      rest.answers.set('GET memory', () => refusal('gone', 'Gone.', 503));
      await jest.advanceTimersByTimeAsync(1_000);
      expect(data.loadError?.code).toBe('gone');
      const before = asked();
      await jest.advanceTimersByTimeAsync(2_000);
      expect(asked()).toBe(before);
      await jest.advanceTimersByTimeAsync(1_000);
      expect(asked()).toBe(before + 1);
    });
  });

  it('should name the newest failure, unless it was made up for', async () => {
    const failed = aRun({ outcome: 'failed', error: 'Too small.' });
    view = remembered({ recent: [aRun({ key: 't2' }), failed] });
    await data.refresh();
    expect(data.failure?.error).toBe('Too small.');
    view = remembered({ recent: [aRun(), failed] });
    await data.refresh();
    expect(data.failure).toBeNull();
    view = remembered();
    await data.refresh();
    expect(data.failure).toBeNull();
  });
});

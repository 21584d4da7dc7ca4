import { ServerConnection } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import type { ExtensionMessage } from '../../generated/wire';
import { RestServer } from '../../panel/history/__tests__/restserver';
import { NotebookHeads } from '../notebookheads';
import { operation, STORE, view } from './openedtimeline';

describe('what can be done where a notebook is', () => {
  const owner = {} as ChannelClient;
  let rest: RestServer;
  let messageReceived: Signal<ChannelClient, ExtensionMessage>;
  let heads: NotebookHeads;

  beforeEach(() => {
    jest.useFakeTimers();
    rest = new RestServer();
    messageReceived = new Signal(owner);
    heads = new NotebookHeads({
      serverSettings: ServerConnection.makeSettings(),
      client: { messageReceived },
      current: () => 'a.ipynb'
    });
  });

  afterEach(() => {
    heads.dispose();
    rest.dispose();
    jest.useRealTimers();
  });

  it('is asked for once for many reasons, and again when something was saved', async () => {
    expect(heads.of('a.ipynb')).toBeNull();
    rest.answers.set('GET checkpoints', () =>
      view([], { store: { ...STORE, checkpoints: 0 } })
    );
    heads.refresh();
    heads.refresh();
    await jest.advanceTimersByTimeAsync(1000);
    expect(rest.asked).toHaveLength(1);
    expect(heads.of('a.ipynb')).toEqual({
      hasCheckpoints: false,
      hasUndoable: false
    });
    rest.answers.set('GET checkpoints', () =>
      view([operation('1', { kind: 'restore', undoable: true })])
    );
    messageReceived.emit({
      type: 'currentCheckpointUpdated',
      text: 'abcd',
      taskId: 'task'
    });
    await jest.advanceTimersByTimeAsync(1000);
    expect(heads.of('a.ipynb')).toEqual({
      hasCheckpoints: true,
      hasUndoable: true
    });
  });

  it('is not known where the server does not say', async () => {
    await jest.advanceTimersByTimeAsync(1000);
    expect(rest.asked).toHaveLength(1);
    expect(heads.of('a.ipynb')).toBeNull();
  });
});

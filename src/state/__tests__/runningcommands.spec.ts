import { Signal } from '@lumino/signaling';

import type { IConnectionStatus } from '../../comm/status';
import type { ExtensionMessage } from '../../generated/wire';
import { AgentStore } from '../store';

/** A channel on which nobody but the test speaks. */
class SilentClient {
  readonly status: IConnectionStatus = {
    phase: 'open',
    reason: null,
    retryAt: null,
    attempt: 0,
    pageVersion: '0.1.0',
    serverVersion: '0.1.0',
    refusal: null
  };
  readonly messageReceived = new Signal<never, ExtensionMessage>(this as never);
  readonly statusChanged = new Signal<never, IConnectionStatus>(this as never);
  request = () => Promise.resolve(undefined);
  resync = () => undefined;
}

describe('the commands that run', () => {
  let store: AgentStore;

  beforeEach(() => {
    store = new AgentStore({ client: new SilentClient() });
    store.apply({ type: 'state', state: { currentTaskId: 't' } });
  });

  afterEach(() => {
    store.dispose();
  });

  const tell = (text: string, taskId = 't') =>
    store.apply({ type: 'commandExecutionStatus', taskId, text });
  const running = () =>
    store.state?.runningCommands?.map(({ command }) => command);

  it('should be kept from when they begin until they end', () => {
    tell('{"executionId":"a","status":"started","command":"make"}');
    tell('{"executionId":"b","status":"started","command":"ls"}');
    tell('{"executionId":"a","status":"output","output":"…"}');
    expect(running()).toEqual(['make', 'ls']);
    tell('{"executionId":"a","status":"exited","exitCode":0}');
    expect(running()).toEqual(['ls']);
  });

  it('should be those of the conversation on screen', () => {
    tell('{"executionId":"a","status":"started","command":"make"}', 'other');
    expect(running()).toBeUndefined();
  });

  it('should stay as they are when their output changes, or nobody can read what is told', () => {
    tell('{"executionId":"a","status":"started","command":"make"}');
    const before = store.state;
    tell('{"executionId":"a","status":"output","output":"…"}');
    tell('{"executionId":');
    expect(store.state).toBe(before);
  });
});

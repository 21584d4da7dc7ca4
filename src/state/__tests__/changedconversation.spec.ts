import type { ClineMessage, ExtensionState } from '../../generated/wire';
import { AgentStore } from '../store';
import { say, ScriptedClient } from './scriptedclient';

describe('a conversation that is changed', () => {
  let store: AgentStore;
  let changes: number;

  beforeEach(() => {
    jest.useFakeTimers();
    store = new AgentStore({ client: new ScriptedClient(), limit: 5 });
    changes = 0;
    store.changed.connect(() => {
      changes += 1;
    });
  });

  afterEach(() => {
    store.dispose();
    jest.useRealTimers();
  });

  function state(content: ExtensionState): void {
    store.apply({ type: 'state', state: content });
  }

  function create(message: ClineMessage): void {
    store.apply({ type: 'messageCreated', taskId: 't', message });
  }

  function nextFrame(): void {
    jest.runOnlyPendingTimers();
  }

  function change(
    removed: [number, number][],
    restored: ClineMessage[] = [],
    taskId = 't'
  ): void {
    store.apply({
      type: 'conversationChanged',
      taskId,
      removed: removed.map(([first, last]) => ({ first, last })),
      restored,
      marks: { undoable: { id: 'm', kind: 'rewind', ts: 9, messageTs: 2 } }
    });
  }

  it('should lose the messages taken back and tell their listeners', () => {
    [1, 2, 3].forEach(ts => create(say(ts, `${ts}`)));
    nextFrame();
    const gone = jest.fn();
    const stays = jest.fn();
    store.subscribe(3, gone);
    store.subscribe(1, stays);
    changes = 0;
    change([[2, 3]]);
    nextFrame();
    expect(store.order).toEqual([1]);
    expect(store.message(3)).toBeUndefined();
    expect([gone.mock.calls.length, stays.mock.calls.length]).toEqual([1, 0]);
    expect(changes).toBe(1);
    expect(store.state?.currentTaskMarks?.undoable?.id).toBe('m');
  });

  it('should have room for what follows', () => {
    [1, 2, 3, 4, 5].forEach(ts => create(say(ts, `${ts}`)));
    change([[4, 5]]);
    create(say(6, '6'));
    create(say(7, '7'));
    expect(store.order).toEqual([1, 2, 3, 6, 7]);
    expect(store.hasOlderMessages).toBe(false);
  });

  it('should get the messages brought back, in their places', () => {
    [1, 4].forEach(ts => create(say(ts, `${ts}`)));
    change([[4, 9]], [say(2, '2'), say(3, '3')]);
    expect(store.order).toEqual([1, 2, 3]);
  });

  it('should leave out what belongs to a page that is not loaded', () => {
    state({
      currentTaskId: 't',
      hasOlderMessages: true,
      clineMessages: [say(5, '5'), say(6, '6')]
    });
    change([], [say(2, '2'), say(7, '7')]);
    expect(store.order).toEqual([5, 6, 7]);
  });

  it('should be the one on screen', () => {
    create(say(1, '1'));
    change([[1, 1]], [], 'another');
    expect(store.order).toEqual([1]);
    expect(store.state?.currentTaskMarks).toBeUndefined();
  });

  it('should know what can be undone without a change of messages', () => {
    state({ currentTaskId: 't', clineMessages: [say(1, '1')] });
    const { order } = store;
    store.apply({
      type: 'conversationMarksUpdated',
      taskId: 't',
      marks: { redoable: { id: 'r', kind: 'condense', ts: 3 } }
    });
    expect(store.state?.currentTaskMarks).toEqual({
      redoable: { id: 'r', kind: 'condense', ts: 3 }
    });
    expect(store.order).toBe(order);
  });
});

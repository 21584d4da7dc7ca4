import { RequestError } from '../../comm/requesterror';
import type { ClineMessage, ExtensionState } from '../../generated/wire';
import { AgentStore } from '../store';
import { CONNECTED, say, ScriptedClient } from './scriptedclient';

describe('AgentStore', () => {
  let client: ScriptedClient;
  let store: AgentStore;
  let changes: number;

  beforeEach(() => {
    jest.useFakeTimers();
    client = new ScriptedClient();
    store = new AgentStore({ client, limit: 5 });
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

  function create(message: ClineMessage, taskId = 't'): void {
    store.apply({ type: 'messageCreated', taskId, message });
  }

  function append(ts: number, offset: number, text: string): void {
    store.apply({
      type: 'messageDelta',
      taskId: 't',
      ts,
      field: 'text',
      offset,
      append: text
    });
  }

  function nextFrame(): void {
    jest.runOnlyPendingTimers();
  }

  describe('deltas', () => {
    it('should append to the message they name', () => {
      create(say(1, 'Hel'));
      append(1, 3, 'lo');
      append(1, 5, '!');
      expect(store.message(1)?.text).toBe('Hello!');
    });

    it('should count as JavaScript does, in UTF-16 units', () => {
      create(say(1, 'a😀'));
      append(1, 3, '한글');
      append(1, 5, '👩‍🔬');
      append(1, 10, '.');
      expect(store.message(1)?.text).toBe('a😀한글👩‍🔬.');
      expect(client.asked('loadMessages')).toEqual([]);
    });

    it('should begin a field that is not there yet', () => {
      create({ ts: 1, type: 'say', say: 'reasoning', partial: true });
      store.apply({
        type: 'messageDelta',
        taskId: 't',
        ts: 1,
        field: 'reasoning',
        offset: 0,
        append: 'Hm'
      });
      expect(store.message(1)?.reasoning).toBe('Hm');
    });

    it('should be harmless when the message has them already', () => {
      create(say(1, 'Hello'));
      append(1, 3, 'lo');
      append(1, 3, 'lo world');
      expect(store.message(1)?.text).toBe('Hello world');
      expect(client.asked('loadMessages')).toEqual([]);
    });

    it('should make the store ask for the message when one was missed', () => {
      create(say(1, 'Hel'));
      append(1, 5, '!');
      append(1, 6, '!');
      expect(store.message(1)?.text).toBe('Hel');
      expect(client.asked('loadMessages')).toEqual([
        { type: 'loadMessages', taskId: 't', beforeTs: 2, limit: 1 }
      ]);
    });

    it('should make the store ask for the message when it says something else', () => {
      create(say(1, 'Hello'));
      append(1, 3, 'p!');
      expect(client.asked('loadMessages')).toHaveLength(1);
    });

    it('should go on from the message that was loaded', async () => {
      client.answer = request => {
        if (request.type === 'loadMessages') {
          store.apply({
            type: 'messagesPage',
            taskId: 't',
            clineMessages: [say(1, 'Hello')],
            hasOlderMessages: false
          });
        }
        return Promise.resolve(undefined);
      };
      create(say(1, 'Hel'));
      append(1, 5, '!');
      await Promise.resolve();
      append(1, 5, '?');
      expect(store.message(1)?.text).toBe('Hello?');
      expect(client.resyncs).toBe(0);
    });

    it('should make the store begin anew when the message cannot be loaded', async () => {
      client.answer = () =>
        Promise.reject(new RequestError({ code: 'unsupported', message: '' }));
      append(1, 5, '!');
      await Promise.resolve();
      await Promise.resolve();
      expect(client.resyncs).toBe(1);
    });
  });

  describe('notifying', () => {
    it('should tell the listeners of one message only, once a frame', () => {
      create(say(1, ''));
      create(say(2, ''));
      nextFrame();
      changes = 0;
      const heard = { 1: 0, 2: 0 };
      store.subscribe(1, () => (heard[1] += 1));
      store.subscribe(2, () => (heard[2] += 1));
      for (let offset = 0; offset < 100; offset++) {
        append(1, offset, 'x');
      }
      expect(heard).toEqual({ 1: 0, 2: 0 });
      nextFrame();
      expect(heard).toEqual({ 1: 1, 2: 0 });
      expect(changes).toBe(0);
    });

    it('should tell of messages that come once a frame', () => {
      create(say(1, ''));
      create(say(2, ''));
      nextFrame();
      expect(changes).toBe(1);
      expect(store.order).toEqual([1, 2]);
    });

    it('should end with the subscription', () => {
      create(say(1, ''));
      nextFrame();
      const listener = jest.fn();
      const end = store.subscribe(1, listener);
      end();
      end();
      append(1, 0, 'x');
      nextFrame();
      expect(listener).not.toHaveBeenCalled();
    });

    it('should not need a page that draws frames', () => {
      state({});
      jest.advanceTimersByTime(250);
      expect(changes).toBe(1);
    });

    it('should say nothing after it was disposed', () => {
      state({});
      store.dispose();
      store.dispose();
      expect(jest.getTimerCount()).toBe(0);
      client.messageReceived.emit({ type: 'state', state: {} });
      nextFrame();
      expect(changes).toBe(0);
    });
  });

  describe('the state', () => {
    it('should replace everything, and keep what is the same the same', () => {
      state({ currentTaskId: 't', clineMessages: [say(1, 'a'), say(2, 'b')] });
      const [first, second] = [store.message(1), store.message(2)];
      const { order } = store;
      state({ currentTaskId: 't', clineMessages: [say(1, 'a'), say(2, 'B')] });
      expect(store.message(1)).toBe(first);
      expect(store.message(2)).not.toBe(second);
      expect(store.order).toBe(order);
    });

    it('should tell the listeners of messages that went', () => {
      state({ currentTaskId: 't', clineMessages: [say(1, 'a'), say(2, 'b')] });
      nextFrame();
      const listener = jest.fn();
      store.subscribe(2, listener);
      state({ currentTaskId: 't', clineMessages: [say(1, 'a')] });
      nextFrame();
      expect(listener).toHaveBeenCalledTimes(1);
      expect(store.order).toEqual([1]);
    });

    it('should leave nothing of a conversation the server does not know', () => {
      state({ currentTaskId: 't', clineMessages: [say(1, 'a')] });
      state({});
      expect(store.order).toEqual([]);
    });

    it('should show how the connection is', () => {
      const status = { ...CONNECTED, phase: 'offline' } as const;
      client.statusChanged.emit(status);
      nextFrame();
      expect(store.connection).toBe(status);
      expect(changes).toBe(1);
    });
  });

  describe('the window of messages', () => {
    it('should keep the newest and say that there are older ones', () => {
      for (let ts = 1; ts <= 8; ts++) {
        create(say(ts, ''));
      }
      expect(store.order).toEqual([4, 5, 6, 7, 8]);
      expect(store.message(3)).toBeUndefined();
      expect(store.hasOlderMessages).toBe(true);
    });

    it('should keep the newest of a state too', () => {
      const all = Array.from({ length: 9 }, (_, index) => say(index, ''));
      state({ currentTaskId: 't', clineMessages: all });
      expect(store.order).toEqual([4, 5, 6, 7, 8]);
      expect(store.hasOlderMessages).toBe(true);
    });

    describe('loadOlder()', () => {
      const older = (first: number, last: number, hasOlderMessages: boolean) =>
        store.apply({
          type: 'messagesPage',
          taskId: 't',
          clineMessages: Array.from({ length: last - first + 1 }, (_, at) =>
            say(first + at, '')
          ),
          hasOlderMessages
        });

      beforeEach(() => {
        state({
          currentTaskId: 't',
          clineMessages: [4, 5, 6, 7, 8].map(ts => say(ts, '')),
          hasOlderMessages: true
        });
      });

      it('should ask for what comes before the oldest message here', async () => {
        await store.loadOlder();
        expect(client.asked('loadMessages')).toEqual([
          { type: 'loadMessages', taskId: 't', beforeTs: 4 }
        ]);
      });

      it('should make room for it, until it is released', async () => {
        await store.loadOlder();
        older(1, 3, false);
        create(say(9, ''));
        expect(store.order).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
        expect(store.hasOlderMessages).toBe(false);
        store.releaseOlder();
        expect(store.order).toEqual([5, 6, 7, 8, 9]);
        expect(store.message(4)).toBeUndefined();
        expect(store.hasOlderMessages).toBe(true);
      });

      it('should load again what was let go of', async () => {
        create(say(9, ''));
        await store.loadOlder();
        older(3, 4, true);
        expect(store.order).toEqual([3, 4, 5, 6, 7, 8, 9]);
        expect(store.hasOlderMessages).toBe(true);
        older(1, 2, false);
        expect(store.hasOlderMessages).toBe(false);
      });

      it('should ask for nothing when there is nothing', async () => {
        await store.loadOlder();
        older(1, 0, false);
        expect(store.hasOlderMessages).toBe(false);
        await store.loadOlder();
        expect(client.asked('loadMessages')).toHaveLength(1);
      });
    });

    it('should put a page of older messages where it belongs', () => {
      state({
        currentTaskId: 't',
        clineMessages: [say(5, 'e')],
        hasOlderMessages: true
      });
      store.apply({
        type: 'messagesPage',
        taskId: 't',
        clineMessages: [say(1, 'a'), say(2, 'b')],
        hasOlderMessages: false
      });
      expect(store.order).toEqual([1, 2, 5]);
      expect(store.hasOlderMessages).toBe(false);
    });

    it('should not be of a conversation that was left before its page came', async () => {
      state({
        currentTaskId: 't',
        clineMessages: [say(5, 'e')],
        hasOlderMessages: true
      });
      await store.loadOlder();
      state({});
      store.apply({
        type: 'messagesPage',
        taskId: 't',
        clineMessages: [say(1, 'a')],
        hasOlderMessages: false
      });
      expect(store.order).toEqual([]);
    });

    it('should ignore the messages of another task', () => {
      state({ currentTaskId: 't', clineMessages: [] });
      create(say(1, ''), 'another');
      expect(store.order).toEqual([]);
    });

    it('should replace a message by what it is now', () => {
      create(say(1, 'a'));
      const { order } = store;
      store.apply({
        type: 'messageUpdated',
        taskId: 't',
        clineMessage: { ...say(1, 'b'), partial: false }
      });
      expect(store.message(1)).toMatchObject({ text: 'b', partial: false });
      expect(store.order).toBe(order);
    });
  });
});

import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import { RequestError } from '../../comm/requesterror';
import type { IConnectionStatus } from '../../comm/status';
import type {
  ClineMessage,
  ExtensionMessage,
  ExtensionState,
  GlobalSettings,
  HistoryItem,
  OpenTask
} from '../../generated/wire';
import { AgentStore } from '../store';

const STATUS: IConnectionStatus = {
  phase: 'open',
  reason: null,
  retryAt: null,
  attempt: 0,
  pageVersion: '0.1.0',
  serverVersion: '0.1.0',
  refusal: null
};

/**
 * A client whose server is the test.
 */
class ScriptedClient {
  status = STATUS;
  readonly messageReceived = new Signal<never, ExtensionMessage>(this as never);
  readonly statusChanged = new Signal<never, IConnectionStatus>(this as never);
  readonly requests: ChannelClient.Request[] = [];
  answer: (request: ChannelClient.Request) => Promise<undefined> = () =>
    Promise.resolve(undefined);
  resyncs = 0;

  request = (request: ChannelClient.Request): Promise<undefined> => {
    this.requests.push(request);
    return this.answer(request);
  };

  resync = (): void => {
    this.resyncs += 1;
  };

  /** The requests of one type. */
  asked(type: string): ChannelClient.Request[] {
    return this.requests.filter(request => request.type === type);
  }
}

function say(ts: number, text: string): ClineMessage {
  return { ts, type: 'say', say: 'text', text };
}

function settings(mode: string): GlobalSettings {
  return { mode } as GlobalSettings;
}

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

    it('should take over settings, profiles and keys as they change', () => {
      const profile = {
        id: '1',
        name: 'mine',
        pinned: false,
        current: true,
        allowed: true
      };
      const keys = {
        storage: { available: true, code: 'ok', message: '' },
        secrets: []
      };
      state({ settings: settings('code'), currentApiConfigName: 'default' });
      store.apply({
        type: 'settingsUpdated',
        settings: settings('ask'),
        fixed: ['mode']
      });
      store.apply({
        type: 'profilesUpdated',
        listApiConfig: [profile],
        currentApiConfigName: 'mine'
      });
      store.apply({ type: 'secretsUpdated', status: keys });
      expect(store.state).toMatchObject({
        settings: { mode: 'ask' },
        fixed: ['mode'],
        listApiConfigMeta: [profile],
        currentApiConfigName: 'mine',
        secretStatus: keys
      });
      expect(store.state).not.toHaveProperty('type');
    });

    it('should show how the connection is', () => {
      const status = { ...STATUS, phase: 'offline' } as const;
      client.statusChanged.emit(status);
      nextFrame();
      expect(store.connection).toBe(status);
      expect(changes).toBe(1);
    });
  });

  describe('notices', () => {
    const notice = {
      id: 'n',
      level: 'warning',
      code: 'config_corrupt',
      message: 'Set aside.',
      params: {}
    } as const;

    it('should be shown once each', () => {
      state({ notices: [notice] });
      store.apply({ type: 'notice', notice: { ...notice, level: 'error' } });
      expect(store.notices).toEqual([{ ...notice, level: 'error' }]);
    });

    it('should be gone once the server says they no longer hold', () => {
      state({ notices: [notice] });
      store.apply({ type: 'noticesUpdated', notices: [] });
      expect(store.notices).toEqual([]);
    });

    it('should be put away here at once, and on the server', async () => {
      state({ notices: [notice] });
      await store.dismissNotice('n');
      expect(store.notices).toEqual([]);
      expect(client.asked('dismissNotice')).toEqual([
        { type: 'dismissNotice', id: 'n' }
      ]);
    });

    it('should stay away here even if the server cannot put them away', async () => {
      const warn = jest.spyOn(console, 'warn').mockImplementation();
      state({ notices: [notice] });
      client.answer = () =>
        Promise.reject(new RequestError({ code: 'unsupported', message: '' }));
      await store.dismissNotice('n');
      expect(store.notices).toEqual([]);
      expect(warn).toHaveBeenCalledTimes(1);
      warn.mockRestore();
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

    it('should ignore the messages of another task', () => {
      state({ currentTaskId: 't', clineMessages: [] });
      create(say(1, ''), 'another');
      expect(store.order).toEqual([]);
    });

    it('should follow what the task on screen is doing, and no other', () => {
      state({ currentTaskId: 't', clineMessages: [] });
      const progress: ExtensionMessage = {
        type: 'taskProgress',
        taskId: 't',
        status: 'interactive',
        todos: [],
        messageQueue: [],
        tokenUsage: {
          totalTokensIn: 1,
          totalTokensOut: 2,
          totalCost: 0.5,
          contextTokens: 3
        }
      };
      store.apply(progress);
      store.apply({ ...progress, taskId: 'another', status: 'idle' });
      expect(store.state).toMatchObject({
        currentTaskStatus: 'interactive',
        tokenUsage: { totalCost: 0.5 }
      });
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

  describe('conversations', () => {
    it('should be unknown until the server says whether it holds any', () => {
      expect(store.conversations).toBe('unknown');
      state({});
      expect(store.conversations).toBe('unknown');
    });

    it('should follow what the server says', () => {
      state({ canStartTasks: false });
      expect(store.conversations).toBe('unsupported');
      state({ canStartTasks: true });
      expect(store.conversations).toBe('supported');
    });
  });

  describe('open conversations', () => {
    const task = (taskId: string): OpenTask => ({
      ...{ taskId, title: taskId },
      status: 'idle',
      needsYou: false
    });
    const item = (id: string, totalCost: number): HistoryItem => ({
      ...{ id, number: 1, ts: 1, task: id },
      ...{ tokensIn: 0, tokensOut: 0, totalCost }
    });

    it('should be those the server says, all of them', () => {
      store.apply({ type: 'state', state: { openTasks: [task('a')] } });
      store.apply({
        type: 'openTasksUpdated',
        openTasks: [task('b'), task('c')]
      });
      expect(store.state?.openTasks).toEqual([task('b'), task('c')]);
    });

    it('should have the line of the history of the one on screen, and of no other', () => {
      store.apply({
        type: 'state',
        state: { currentTaskId: 'a', currentTaskItem: item('a', 1) }
      });
      for (const taskHistoryItem of [item('a', 2), item('b', 3)]) {
        store.apply({ type: 'taskHistoryItemUpdated', taskHistoryItem });
      }
      expect(store.state?.currentTaskItem).toEqual(item('a', 2));
    });
  });

  describe('a conversation that is changed', () => {
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
});

import { RequestError } from '../../comm/requesterror';
import type {
  ExtensionMessage,
  ExtensionState,
  GlobalSettings,
  HistoryItem,
  OpenTask
} from '../../generated/wire';
import { AgentStore } from '../store';
import { ScriptedClient } from './scriptedclient';

function settings(mode: string): GlobalSettings {
  return { mode } as GlobalSettings;
}

describe('the state of the agent', () => {
  let client: ScriptedClient;
  let store: AgentStore;

  beforeEach(() => {
    jest.useFakeTimers();
    client = new ScriptedClient();
    store = new AgentStore({ client, limit: 5 });
  });

  afterEach(() => {
    store.dispose();
    jest.useRealTimers();
  });

  function state(content: ExtensionState): void {
    store.apply({ type: 'state', state: content });
  }

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

  describe('notices', () => {
    const notice = {
      id: 'n',
      level: 'warning',
      code: 'config_corrupt',
      message: 'Set aside.',
      params: {}
    } as const;

    it('should be those the server says hold now', () => {
      state({ notices: [notice] });
      store.apply({
        type: 'noticesUpdated',
        notices: [{ ...notice, level: 'error' }]
      });
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

  describe('the commands that run', () => {
    beforeEach(() => {
      store.apply({ type: 'state', state: { currentTaskId: 't' } });
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
});

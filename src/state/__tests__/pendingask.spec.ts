import type { ClineAsk, ClineMessage, TaskStatus } from '../../generated/wire';
import { onPendingAsk, pendingAsk, takesText } from '../pendingask';
import type { AskMessage } from '../pendingask';
import { AgentStore } from '../store';
import { ScriptedClient } from './scriptedclient';

describe('pendingAsk', () => {
  let store: AgentStore;

  beforeEach(() => {
    jest.useFakeTimers();
    store = new AgentStore({ client: new ScriptedClient() });
  });

  afterEach(() => {
    store.dispose();
    jest.useRealTimers();
  });

  function ask(
    ts: number,
    kind: ClineAsk = 'tool',
    change: Partial<ClineMessage> = {}
  ): ClineMessage {
    return { ts, type: 'ask', ask: kind, text: '{}', ...change };
  }

  function say(ts: number, kind: ClineMessage['say']): ClineMessage {
    return { ts, type: 'say', say: kind, text: '' };
  }

  function begin(
    clineMessages: ClineMessage[],
    currentTaskStatus: TaskStatus = 'interactive'
  ): void {
    store.apply({
      type: 'state',
      state: { currentTaskId: 't', currentTaskStatus, clineMessages }
    });
    jest.runAllTimers();
  }

  function update(clineMessage: ClineMessage): void {
    store.apply({ type: 'messageUpdated', taskId: 't', clineMessage });
    jest.runAllTimers();
  }

  it('should be none before the server has told its state', () => {
    expect(pendingAsk(store)).toBeNull();
  });

  it('should be the newest question, also behind what was said since', () => {
    begin([ask(1, 'command'), say(2, 'checkpoint_saved')]);
    expect(pendingAsk(store)?.ts).toBe(1);
  });

  it('should be none while the task works', () => {
    begin([ask(1)], 'running');
    expect(pendingAsk(store)).toBeNull();
  });

  it('should be there for a conversation that nobody works on', () => {
    begin([ask(1, 'completion_result')], 'none');
    expect(pendingAsk(store)?.ts).toBe(1);
  });

  it('should pass over what was approved, refused or withdrawn', () => {
    begin([
      ask(1),
      ask(2, 'tool', { isAnswered: true }),
      ask(3, 'tool', { isAnswered: false })
    ]);
    expect(pendingAsk(store)?.ts).toBe(1);
  });

  it('should pass over calls whose turn has not come', () => {
    begin([ask(1), ask(2, 'tool', { partial: true })]);
    expect(pendingAsk(store)?.ts).toBe(1);
  });

  it('should take a question that was streamed when it is whole', () => {
    begin([ask(1, 'tool', { partial: true })]);
    expect(pendingAsk(store)).toBeNull();
    update(ask(1, 'tool', { partial: false }));
    expect(pendingAsk(store)?.ts).toBe(1);
  });

  it.each(['api_req_started', 'user_feedback'] as const)(
    'should be none when a “%s” came after the question',
    kind => {
      begin([ask(1), say(2, kind)], 'idle');
      expect(pendingAsk(store)).toBeNull();
    }
  );

  it('should leave out what does not stop the work', () => {
    begin([ask(1, 'command'), ask(2, 'command_output')]);
    expect(pendingAsk(store)?.ask).toBe('command');
  });

  it('should be the same object as long as the question says the same', () => {
    begin([ask(1)]);
    const before = pendingAsk(store);
    begin([ask(1)]);
    expect(pendingAsk(store)).toBe(before);
  });

  it('should be told when it is answered, which changes its message alone', () => {
    begin([ask(1), ask(2, 'tool', { partial: true })]);
    const heard: (number | undefined)[] = [];
    const end = onPendingAsk(store, () => heard.push(pendingAsk(store)?.ts));
    update(ask(1, 'tool', { isAnswered: true }));
    update(ask(2, 'tool', { partial: false }));
    update(ask(2, 'tool', { partial: false, isAnswered: true }));
    expect(heard).toEqual([undefined, 2, undefined]);
    end();
    begin([ask(3)]);
    expect(heard).toHaveLength(3);
  });

  it('should be told when it comes with its message', () => {
    begin([], 'interactive');
    const heard = jest.fn();
    const end = onPendingAsk(store, heard);
    store.apply({
      type: 'messageCreated',
      taskId: 't',
      message: ask(4, 'followup')
    });
    jest.runAllTimers();
    expect(heard).toHaveBeenCalledTimes(1);
    end();
  });

  it('should take words only where the server does', () => {
    const taken = (kind: ClineAsk) => takesText(ask(1, kind) as AskMessage);
    expect(taken('followup')).toBe(true);
    expect(taken('resume_task')).toBe(true);
    expect(taken('api_req_failed')).toBe(true);
    for (const approval of [
      'tool',
      'command',
      'auto_approval_max_req_reached'
    ] as const) {
      expect(taken(approval)).toBe(false);
    }
  });
});

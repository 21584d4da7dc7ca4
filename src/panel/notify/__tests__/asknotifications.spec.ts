import { Notification } from '@jupyterlab/apputils';
import type { IDisposable } from '@lumino/disposable';

import type { OpenTask } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { notifyAsks } from '../asknotifications';
import { ask, updated, waiting } from '../../asks/__tests__/openedask';

const TITLE = 'Clean the data';
const HIDING = 'Clean\u202E\nthe <attachment kind="cell"';

describe('watchAsks', () => {
  let page: OpenedPanel;
  let watch: IDisposable;
  let opened: number;

  beforeEach(() => {
    page = new OpenedPanel();
    opened = 0;
    page.commands.addCommand('hdsp-agent:open', {
      execute: () => {
        opened += 1;
      }
    });
    watch = notifyAsks(page.panel.services, page.panel);
  });

  afterEach(() => {
    watch.dispose();
    page.dispose();
    Notification.dismiss();
    Reflect.deleteProperty(document, 'hidden');
    Reflect.deleteProperty(globalThis, 'Notification');
  });

  const told = () =>
    Notification.manager.notifications.map(({ message }) => message);
  const other = (change: Partial<OpenTask> = {}): OpenTask => ({
    taskId: 'o',
    title: TITLE,
    status: 'interactive',
    needsYou: true,
    ...change
  });
  const hidePage = (hidden: boolean) => {
    Object.defineProperty(document, 'hidden', {
      value: hidden,
      configurable: true
    });
    page.act(() => {
      document.dispatchEvent(new Event('visibilitychange'));
    });
  };

  it('should count at the icon, and keep what Lab has there', () => {
    page.panel.title.dataset = { id: 'panel' };
    page.begin(waiting([ask(1, 'command', 'ls')]));
    expect(page.panel.title.dataset).toEqual({
      id: 'panel',
      'hdsp-agent-waiting': '1'
    });
    expect(page.panel.title.caption).toBe(
      'HDSP Agent: 1 conversation is waiting for you'
    );
    page.publish(updated(ask(1, 'command', 'ls', { isAnswered: true })));
    expect(page.panel.title.dataset).toEqual({ id: 'panel' });
    expect(page.panel.title.caption).toBe('HDSP Agent');
  });

  it('should not count who is done', () => {
    page.begin(waiting([ask(1, 'completion_result')]));
    expect(page.panel.title.dataset).toEqual({});
  });

  it('should not disturb who sees it', () => {
    page.begin(waiting([ask(1, 'command', 'ls')]));
    expect(told()).toEqual([]);
  });

  it('should tell who cannot see the panel, until it is answered', () => {
    page.act(() => page.panel.hide());
    page.begin(waiting([ask(1, 'command', 'ls')]));
    expect(told()).toEqual(['Run this command?']);
    page.publish(updated(ask(1, 'command', 'ls', { isAnswered: true })));
    expect(told()).toEqual([]);
  });

  it('should take it back when the panel is shown', () => {
    page.act(() => page.panel.hide());
    page.begin(waiting([ask(1, 'command', 'ls')]));
    page.act(() => page.panel.show());
    expect(told()).toEqual([]);
  });

  it('should tell who looks at another page of the panel', () => {
    page.act(() => {
      page.panel.services.state.page = 'history';
    });
    page.begin(waiting([ask(1, 'command', 'ls')]));
    expect(told()).toHaveLength(1);
    page.act(() => {
      page.panel.services.state.page = 'chat';
    });
    expect(told()).toEqual([]);
  });

  it('should name a conversation by what one can read of its title', () => {
    page.begin(
      waiting([], {
        openTasks: [other({ title: HIDING })]
      })
    );
    expect(told()).toEqual([
      'HDSP Agent is waiting for your answer in “Clean the”.'
    ]);
  });

  it('should end a sentence once, whatever the title ends with', () => {
    const title = 'Plot it, please.';
    page.begin(waiting([], { openTasks: [other({ title })] }));
    expect(told()).toEqual([
      'HDSP Agent is waiting for your answer in “Plot it, please”.'
    ]);
  });

  it('should tell which other conversation waits, once, and lead there', () => {
    page.begin(waiting([], { openTasks: [other()] }));
    page.publish({ type: 'openTasksUpdated', openTasks: [other()] });
    expect(told()).toEqual([
      'HDSP Agent is waiting for your answer in “Clean the data”.'
    ]);
    const [notification] = Notification.manager.notifications;
    page.act(() =>
      notification?.options.actions?.[0]?.callback(new MouseEvent('click'))
    );
    expect(opened).toBe(1);
    expect(page.sent('showTaskWithId')[0]).toMatchObject({ taskId: 'o' });
    page.publish({
      type: 'openTasksUpdated',
      openTasks: [other({ needsYou: false })]
    });
    expect(told()).toEqual([]);
  });

  it('should use the system only for a page out of sight, and if it may', () => {
    const shown: string[] = [];
    class SystemNotification {
      static permission = 'default';
      constructor(_: string, { body }: { body: string }) {
        shown.push(body);
      }
      close(): void {
        shown.pop();
      }
    }
    Object.defineProperty(globalThis, 'Notification', {
      value: SystemNotification,
      configurable: true
    });
    hidePage(true);
    page.begin(waiting([], { openTasks: [other()] }));
    expect(shown).toEqual([]);
    SystemNotification.permission = 'granted';
    page.publish({ type: 'openTasksUpdated', openTasks: [] });
    page.publish({ type: 'openTasksUpdated', openTasks: [other()] });
    expect(shown).toHaveLength(1);
    page.publish({ type: 'openTasksUpdated', openTasks: [] });
    expect(shown).toEqual([]);
  });

  describe('a command that runs long', () => {
    const COMMAND = { executionId: 'x', status: 'started' as const };
    const run = (startedAt = Date.now(), now = Date.now()) =>
      page.begin(
        waiting(
          [
            ask(1, 'command', 'make', { isAnswered: true }),
            {
              ts: 2,
              type: 'say',
              say: 'command_output',
              text: '',
              partial: true,
              commandRun: { executionId: 'x', startedAt, state: 'running' }
            }
          ],
          {
            currentTaskStatus: 'running',
            runningCommands: [{ ...COMMAND, command: 'make \u202Eall' }]
          }
        ),
        { now }
      );
    const TEXT =
      'A command has been running for more than 30 seconds: make ⟨U+202E⟩all';

    it('should be told once to who cannot see the panel, until they do', () => {
      page.act(() => page.panel.hide());
      run();
      page.act(() => jest.advanceTimersByTime(29_000));
      expect(told()).toEqual([]);
      page.act(() => jest.advanceTimersByTime(2_000));
      expect(told()).toEqual([TEXT]);
      page.act(() => page.panel.show());
      expect(told()).toEqual([]);
      page.act(() => page.panel.hide());
      page.act(() => jest.advanceTimersByTime(60_000));
      expect(told()).toEqual([]);
    });

    it('should count from when the command began', () => {
      page.act(() => page.panel.hide());
      run(Date.now() - 25_000);
      page.act(() => jest.advanceTimersByTime(6_000));
      expect(told()).toEqual([TEXT]);
      watch.dispose();
      expect(told()).toEqual([]);
    });

    it.each([
      ['behind', -3_600_000],
      ['ahead', 3_600_000]
    ])('should count by the clock of a server that is %s', (_, skew) => {
      page.act(() => page.panel.hide());
      const now = Date.now() + skew;
      run(now - 10_000, now);
      page.act(() => jest.advanceTimersByTime(18_000));
      expect(told()).toEqual([]);
      page.act(() => jest.advanceTimersByTime(3_000));
      expect(told()).toEqual([TEXT]);
    });

    it('should not be told to who sees it, nor of one that ended', () => {
      run();
      page.act(() => jest.advanceTimersByTime(31_000));
      expect(told()).toEqual([]);
      page.act(() => page.panel.hide());
      expect(told()).toEqual([]);
      watch.dispose();
      watch = notifyAsks(page.panel.services, page.panel);
      run();
      page.begin(waiting([ask(1, 'completion_result')]));
      page.act(() => jest.advanceTimersByTime(60_000));
      expect(told()).toEqual([]);
    });
  });

  it('should end without a trace', () => {
    page.act(() => page.panel.hide());
    page.begin(waiting([ask(1, 'command', 'ls')]));
    watch.dispose();
    expect(told()).toEqual([]);
    expect(page.panel.title.dataset).toEqual({});
  });
});

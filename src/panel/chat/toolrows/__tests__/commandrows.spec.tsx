import type {
  ClineMessage,
  CommandRun,
  ExtensionState
} from '../../../../generated/wire';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows, USER } from '../../rows/__tests__/shownrows';

describe('rows of commands', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  const COMMAND: Partial<ClineMessage> = {
    type: 'ask',
    ask: 'command',
    isAnswered: true,
    text: 'make test'
  };

  const RUN: CommandRun = {
    executionId: 'x',
    startedAt: Date.now(),
    state: 'running'
  };

  /** What the command has written so far, and how it fares. */
  function output(
    text: string,
    run: Partial<CommandRun> = {}
  ): ClineMessage & { readonly ts: 3 } {
    const commandRun = { ...RUN, ...run };
    return {
      ts: 3,
      type: 'say',
      say: 'command_output',
      text,
      partial: commandRun.state === 'running',
      commandRun
    };
  }

  /** The conversation works, and this command runs. */
  async function run(
    change: ExtensionState = {},
    startedAt = Date.now(),
    now = startedAt
  ): Promise<void> {
    const state: ExtensionState = {
      currentTaskId: 't',
      currentTaskStatus: 'running',
      clineMessages: [
        USER,
        { ts: 2, type: 'ask', ...COMMAND },
        output('', { startedAt })
      ],
      runningCommands: [
        { executionId: 'x', status: 'started', pid: 42, command: 'make test' }
      ],
      ...change
    };
    page.begin(state, { now });
    await page.settle();
  }

  const state = () =>
    rows.row(2).querySelector('.jp-hdspAgent-command-state')?.textContent;

  it.each([-3_600_000, 3_600_000])(
    'should say how long they run by the clock of a server %d ms off',
    async skew => {
      await run({}, Date.now() + skew);
      page.wait(3_000);
      expect(state()).toMatch(/^Running for [23]\u00a0s/);
    }
  );

  it('should not count while it is not known whether they still run', async () => {
    const began = Date.now();
    await run({}, began);
    page.wait(3_000);
    const known = state();
    expect(known).toMatch(/^Running for [23]\u00a0s/);
    page.act(() => page.server.socket.drop());
    page.wait(60_000);
    expect(state()).toBe(known);
    await run({}, began, Date.now());
    expect(state()).toMatch(/^Running for 1\u00a0min [34]\u00a0s/);
  });

  it('should show what they write as it comes, and how they end', async () => {
    await run();
    page.wait(3_000);
    expect(state()).toMatch(/^Running for [23]\u00a0sProcess 42/);
    expect(rows.row(2).textContent).toMatch(/^Running a command/);
    await rows.update(output('one'));
    expect(page.find('[data-ts="3"]')).toBeNull();
    expect(rows.row(2).textContent).toContain('one');
    page.publish({
      type: 'commandExecutionStatus',
      taskId: 't',
      text: JSON.stringify({
        executionId: 'x',
        status: 'exited',
        exitCode: 2
      })
    });
    await rows.update(
      output('one', { state: 'exited', exitCode: 2, durationMs: 3_100 })
    );
    expect(state()).toBe('Failed with exit code 23.1\u00a0s');
    expect(rows.row(2).textContent).toMatch(/^Ran a command/);
  });

  it.each([
    [{ state: 'exited', exitCode: 0 }, 'Succeeded1.5\u00a0sNo output.'],
    [{ state: 'exited', exitCode: 7 }, 'Failed with exit code 71.5\u00a0s'],
    [{ state: 'exited', exitCode: -9 }, 'Ended by signal 91.5\u00a0s'],
    [{ state: 'timed_out' }, 'Stopped: it took too long1.5\u00a0s'],
    [{ state: 'stopped' }, 'Stopped1.5\u00a0s']
  ] as const)(
    'should say how they ended after a reload: %j',
    async (end, said) => {
      await rows.show(COMMAND, output('', { ...end, durationMs: 1_500 }));
      expect(state()).toContain(said);
    }
  );

  it('should not count what took less than a second', async () => {
    await rows.show(
      COMMAND,
      output('one', { state: 'exited', exitCode: 0, durationMs: 40 })
    );
    expect(state()).toBe('Succeeded');
  });

  it('should not seem to run when a killed server has left them', async () => {
    await rows.show(COMMAND, output('one'));
    expect(rows.row(2).textContent).toContain('one');
    expect(state()).toBe('Exit status unknown.');
  });

  it('should be stopped, and left to go on, once', async () => {
    await run();
    await rows.click('Stop the command');
    await rows.click('One moment…');
    expect(page.sent('terminalOperation')).toEqual([
      expect.objectContaining({ terminalOperation: 'abort' })
    ]);
    await page.settle(() => page.answer('terminalOperation'));
    await rows.click('Continue without waiting');
    expect(page.sent('terminalOperation').at(-1)).toEqual(
      expect.objectContaining({ terminalOperation: 'continue' })
    );
    page.answer('terminalOperation');
    await page.settle();
  });

  it('should be offered to be stopped below while their row is out of sight', async () => {
    let tell: (isIntersecting: boolean) => void = () => undefined;
    const before = window.IntersectionObserver;
    window.IntersectionObserver = jest.fn(
      (callback: IntersectionObserverCallback) => {
        tell = isIntersecting =>
          callback(
            [{ isIntersecting } as IntersectionObserverEntry],
            {} as IntersectionObserver
          );
        return { observe: jest.fn(), disconnect: jest.fn() };
      }
    ) as unknown as typeof IntersectionObserver;
    const below = () => page.find('[data-ask="command_output"]');
    try {
      await run();
      expect(below()?.textContent).toContain('Stop the command');
      page.act(() => tell(true));
      expect(below()).toBeNull();
      page.act(() => tell(false));
      expect(below()).not.toBeNull();
    } finally {
      window.IntersectionObserver = before;
    }
  });

  it('should have no buttons in the background, where they would do nothing', async () => {
    await run({ currentTaskStatus: 'idle' });
    expect(state()).toMatch(/^Running in the background for .*Process 42$/);
    expect(rows.row(2).textContent).not.toContain('Stop');
  });

  it('should show the end of what is very long, and the rest on request', async () => {
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`);
    await rows.show(COMMAND, {
      ts: 3,
      say: 'command_output',
      text: `10%\r100%\n${lines.join('\n')}`
    });
    expect(rows.row(2).textContent).toContain('line 499');
    expect(rows.row(2).textContent).not.toContain('line 0');
    page.act(() =>
      rows
        .row(2)
        .querySelector<HTMLElement>('.jp-hdspAgent-bounded-more')
        ?.click()
    );
    expect(rows.row(2).textContent).toContain('line 0');
    expect(rows.row(2).textContent).not.toContain('10%');
  });
});

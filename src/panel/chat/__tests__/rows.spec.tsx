import type { IDocumentManager } from '@jupyterlab/docmanager';

import type { ClineMessage } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';

const USER: ClineMessage = { ts: 1, type: 'say', say: 'text', text: 'Plot it' };

describe('the rows of a conversation', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  async function show(
    ...messages: Partial<ClineMessage>[]
  ): Promise<(ts: number) => HTMLElement> {
    page.begin({
      currentTaskId: 't',
      currentTaskStatus: 'interactive',
      clineMessages: [
        USER,
        ...messages.map(message => ({
          type: 'say' as const,
          ts: 2,
          ...message
        }))
      ]
    });
    await page.settle();
    return row;
  }

  async function update(message: ClineMessage): Promise<void> {
    page.publish({
      type: 'messageUpdated',
      taskId: 't',
      clineMessage: message
    });
    await page.settle();
  }

  function row(ts: number): HTMLElement {
    const found = page.find(`[data-ts="${ts}"]`);
    if (!found) {
      throw new Error(`No row ${ts} in ${page.node.innerHTML}`);
    }
    return found;
  }

  async function click(label: string): Promise<void> {
    await page.settle(() => page.button(label).click());
  }

  function json(value: object): string {
    return JSON.stringify(value);
  }

  describe('what the person said', () => {
    it('should be told from what the agent says', async () => {
      await show({ say: 'text', text: 'Gladly' });
      expect(row(1).getAttribute('aria-label')).toBe('You');
      expect(row(2).getAttribute('aria-label')).toBe('Agent');
    });

    it('should show what went along as chips, and not as text', async () => {
      await show({
        say: 'user_feedback',
        text: 'Look at this\n\n<attachment kind="cell" path="a.ipynb" cellId="c" label="Cell 3">\nx = 1\n</attachment>'
      });
      expect(row(2).textContent).toContain('Look at this');
      expect(row(2).textContent).not.toContain('<attachment');
      expect(row(2).textContent).not.toContain('x = 1');
      await click('Cell 3');
      expect(row(2).textContent).toContain('x = 1');
    });

    it('should show pictures that are in it, and fetch none', async () => {
      await show({
        say: 'user_feedback',
        text: 'See',
        images: ['data:image/png;base64,AAAA', 'https://elsewhere.test/a.png']
      });
      const images = [...row(2).querySelectorAll('img')];
      expect(images.map(({ src }) => src)).toEqual([
        'data:image/png;base64,AAAA'
      ]);
      expect(images[0].alt).toBe('Image 1 of 1');
    });
  });

  describe('thoughts', () => {
    it('should be folded, with how long they took', async () => {
      await show(
        { ts: 1_000, say: 'reasoning', text: 'Hmm, a plot.' },
        { ts: 8_000, say: 'text', text: 'So' }
      );
      expect(row(1_000).textContent).toBe('Thought for 7 s');
      await click('Thought for 7 s');
      expect(row(1_000).textContent).toContain('Hmm, a plot.');
    });
  });

  describe('tools', () => {
    it('should say what, where, and how much changed, line by line', async () => {
      await show({
        type: 'ask',
        ask: 'tool',
        isAnswered: true,
        text: json({
          tool: 'appliedDiff',
          path: 'a.py',
          diff: '--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2',
          diffStats: { added: 1, removed: 1 }
        })
      });
      expect(row(2).textContent).toContain('Changed a file');
      expect(row(2).textContent).toContain('a.py');
      expect(row(2).textContent).toContain('+1 −1');
      const lines = [
        ...row(2).querySelectorAll('.jp-hdspAgent-chat-diff-line')
      ];
      expect(
        lines.map(line => [line.getAttribute('data-kind'), line.textContent])
      ).toEqual([
        ['place', '@@ -1 +1 @@'],
        ['removed', '-x = 1'],
        ['added', '+x = 2']
      ]);
    });

    it('should tell what waits from what is done and what is not', async () => {
      const ask: ClineMessage = {
        ts: 2,
        type: 'ask',
        ask: 'tool',
        text: json({ tool: 'readFile', path: 'a.py' })
      };
      await show(ask);
      expect(row(2).textContent).toContain('Waits for you');
      await update({ ...ask, isAnswered: false });
      expect(row(2).textContent).toContain('Not done');
      await update({ ...ask, isAnswered: true });
      expect(row(2).textContent).toBe('Read a filea.py');
    });

    it('should open the file, and say when there is none', async () => {
      page.dispose();
      const opened: string[] = [];
      const documents = {
        findWidget: () => undefined,
        openOrReveal: (path: string) => {
          opened.push(path);
          return {};
        },
        services: {
          contents: {
            get: (path: string) =>
              path === 'a.py'
                ? Promise.resolve({})
                : Promise.reject(new Error(path))
          }
        }
      };
      page = new OpenedPanel({
        documents: documents as unknown as IDocumentManager
      });
      const tool = (path: string) => ({
        type: 'ask' as const,
        ask: 'tool' as const,
        isAnswered: true,
        text: json({ tool: 'readFile', path })
      });
      await show(tool('a.py'), { ...tool('gone.py'), ts: 3 });
      await click('a.py');
      expect(opened).toEqual(['a.py']);
      await click('gone.py');
      await page.settle();
      expect(opened).toEqual(['a.py']);
      expect(row(3).textContent).toContain('gone.py is not there any more.');
    });

    it('should show each change of a cell', async () => {
      await show({
        type: 'ask',
        ask: 'tool',
        text: json({
          tool: 'editCells',
          path: 'a.ipynb',
          cellEdits: [
            {
              op: 'edit',
              cellId: 'c',
              number: 2,
              diff: '@@ -1 +1 @@\n-a\n+b',
              added: 1,
              removed: 1
            },
            {
              op: 'insert',
              after: 2,
              cellType: 'markdown',
              diff: '@@ -0,0 +1 @@\n+# T'
            },
            { op: 'delete', number: 4 }
          ]
        })
      });
      expect(row(2).textContent).toContain('Change cell 2');
      expect(row(2).textContent).toContain('New Markdown cell below cell 2');
      expect(row(2).textContent).toContain('Delete cell 4');
      expect(row(2).querySelectorAll('[data-kind="added"]')).toHaveLength(2);
    });

    it('should show several files at once, each to be unfolded', async () => {
      await show({
        type: 'ask',
        ask: 'tool',
        text: json({
          tool: 'appliedDiff',
          batchDiffs: [
            { key: 'k', path: 'b.py', changeCount: 1, content: '@@ @@\n+new' }
          ]
        })
      });
      expect(row(2).textContent).toContain('Change several files');
      expect(row(2).textContent).not.toContain('+new');
      page.act(() =>
        row(2).querySelector<HTMLElement>('[aria-expanded]')?.click()
      );
      expect(row(2).textContent).toContain('+new');
    });

    it('should show a plan as a list, with its states in words', async () => {
      await show({
        type: 'ask',
        ask: 'tool',
        isAnswered: true,
        text: json({
          tool: 'updateTodoList',
          content: '[x] one\n[-] two\n[ ] three'
        })
      });
      const items = [...row(2).querySelectorAll('li')];
      expect(items.map(item => item.textContent)).toEqual([
        '☑Done: one',
        '◐In progress: two',
        '☐To do: three'
      ]);
    });

    it('should warn of what is outside or protected', async () => {
      await show({
        type: 'ask',
        ask: 'tool',
        isProtected: true,
        text: json({
          tool: 'newFileCreated',
          path: '/x',
          content: 'a',
          isOutsideWorkspace: true
        })
      });
      expect(row(2).textContent).toContain('Outside of the workspace');
      expect(row(2).textContent).toContain('Protected file');
    });
  });

  describe('commands', () => {
    const COMMAND: Partial<ClineMessage> = {
      type: 'ask',
      ask: 'command',
      isAnswered: true,
      text: 'make test'
    };

    function status(value: object): void {
      page.publish({
        type: 'commandExecutionStatus',
        taskId: 't',
        text: json(value)
      });
    }

    it('should show what they write as it comes, and how they end', async () => {
      await show(COMMAND);
      status({
        executionId: 'x',
        status: 'started',
        pid: 42,
        command: 'make test'
      });
      expect(row(2).textContent).toContain('Running for');
      expect(row(2).textContent).toContain('Process 42');
      page.publish({
        type: 'messageCreated',
        taskId: 't',
        message: {
          ts: 3,
          type: 'say',
          say: 'command_output',
          text: 'one',
          partial: true
        }
      });
      await page.settle();
      expect(page.find('[data-ts="3"]')).toBeNull();
      expect(row(2).textContent).toContain('one');
      page.wait(3_000);
      status({ executionId: 'x', status: 'exited', exitCode: 2 });
      expect(row(2).textContent).toContain('Failed with exit code 2');
      expect(row(2).textContent).not.toContain('Running');
    });

    it('should be remembered to have ended when one looks elsewhere', async () => {
      await show(COMMAND);
      status({ executionId: 'x', status: 'started', command: 'make test' });
      status({ executionId: 'x', status: 'exited', exitCode: 0 });
      const { state } = page.panel.services;
      await page.settle(() => (state.page = 'history'));
      expect(page.find('[data-ts="2"]')).toBeNull();
      await page.settle(() => (state.page = 'chat'));
      await page.settle();
      expect(row(2).textContent).toContain('Succeeded');
    });

    it('should not seem to run when they were cut off long ago', async () => {
      await show(COMMAND, {
        ts: 3,
        say: 'command_output',
        text: 'one',
        partial: true
      });
      expect(row(2).textContent).toContain('one');
      expect(row(2).textContent).not.toContain('Running');
    });

    it('should be stopped, and left to go on, once', async () => {
      await show(COMMAND);
      status({ executionId: 'x', status: 'started', command: 'make test' });
      await click('Stop');
      await click('One moment…');
      expect(page.sent('terminalOperation')).toEqual([
        expect.objectContaining({ terminalOperation: 'abort' })
      ]);
      await page.settle(() => page.answer('terminalOperation'));
      await click('Let it go on');
      expect(page.sent('terminalOperation').at(-1)).toEqual(
        expect.objectContaining({ terminalOperation: 'continue' })
      );
      page.answer('terminalOperation');
      await page.settle();
    });

    it('should be known to run after a reload', async () => {
      page.begin({
        currentTaskId: 't',
        clineMessages: [
          USER,
          {
            ts: 2,
            type: 'ask',
            ask: 'command',
            text: 'sleep 9',
            isAnswered: true
          }
        ],
        runningCommands: [
          { executionId: 'x', status: 'started', command: 'sleep 9' }
        ]
      });
      await page.settle();
      expect(row(2).textContent).toContain('Running');
      expect(page.button('Stop')).toBeTruthy();
    });

    it('should show the end of what is very long, and the rest on request', async () => {
      const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`);
      await show(COMMAND, {
        ts: 3,
        say: 'command_output',
        text: `10%\r100%\n${lines.join('\n')}`
      });
      expect(row(2).textContent).toContain('line 499');
      expect(row(2).textContent).not.toContain('line 0');
      page.act(() =>
        row(2).querySelector<HTMLElement>('.jp-hdspAgent-bounded-more')?.click()
      );
      expect(row(2).textContent).toContain('line 0');
      expect(row(2).textContent).not.toContain('10%');
    });
  });

  describe('cells that run', () => {
    const notebook = { path: 'a.ipynb', cellId: 'c' };

    it('should show how they fare, what they say, and how they fail', async () => {
      const run = { path: 'a.ipynb', cellId: 'c', number: 3, runId: 'r' };
      await show(
        {
          say: 'cell_executed',
          partial: true,
          notebook,
          text: json({ ...run, state: 'running' })
        },
        { ts: 3, say: 'command_output', notebook, text: 'printed' },
        { ts: 4, say: 'error', notebook, text: 'Traceback: line 1' }
      );
      expect(row(2).textContent).toContain('Cell 3');
      expect(row(2).textContent).toContain('Running');
      expect(row(2).textContent).toContain('printed');
      await update({
        ts: 2,
        type: 'say',
        say: 'cell_executed',
        notebook,
        images: ['data:image/png;base64,AAAA'],
        text: json({
          ...run,
          state: 'error',
          executionCount: 7,
          durationMs: 1_500,
          error: 'ValueError: no'
        })
      });
      expect(row(2).textContent).toContain('[7]');
      expect(row(2).textContent).toContain('Failed after 1.5 s');
      expect(row(2).textContent).toContain('ValueError: no');
      expect(row(2).querySelectorAll('img')).toHaveLength(1);
      await click('Traceback');
      expect(row(2).textContent).toContain('Traceback: line 1');
      expect(page.find('[data-ts="4"]')).toBeNull();
    });

    it('should say what became of the kernel', async () => {
      await show({
        say: 'kernel_status',
        text: json({ path: 'a.ipynb', change: 'died', kernel: 'Python 3' })
      });
      expect(row(2).textContent).toContain(
        'Python 3 died. Its variables are gone.'
      );
    });
  });

  describe('errors', () => {
    it('should say what happened and what to do, with the rest folded', async () => {
      await show({
        type: 'ask',
        ask: 'api_req_failed',
        text: '401 Unauthorized\n\nThe key is not valid.\n\n{"error": {"message": "long"}}\n1\n2\n3\n4\n5'
      });
      expect(row(2).textContent).toContain('The model did not answer');
      expect(row(2).textContent).toContain('401 Unauthorized');
      expect(row(2).textContent).toContain('Check the key of the model');
      expect(row(2).textContent).not.toContain('"error"');
      await click('Open the settings');
      expect(page.openedSettings).toEqual(['models']);
      await click('Details');
      expect(row(2).textContent).toContain('"error"');
    });

    it('should put a code of the server into words', async () => {
      await show({ say: 'error', text: 'MODEL_NO_ASSISTANT_MESSAGES' });
      expect(row(2).textContent).toContain('The model gave no answer');
      expect(row(2).textContent).not.toContain('MODEL_NO');
    });
  });

  describe('requests to the model', () => {
    it('should count while the model thinks, and be a thin line then', async () => {
      const request: ClineMessage = {
        ts: Date.now(),
        type: 'say',
        say: 'api_req_started',
        text: json({ apiProtocol: 'openai' })
      };
      page.begin({
        currentTaskId: 't',
        currentTaskStatus: 'running',
        clineMessages: [USER, request]
      });
      await page.settle();
      page.wait(3_000);
      expect(row(request.ts).textContent).toMatch(/^Thinking… [23] s$/);
      await update({
        ...request,
        text: json({ tokensIn: 12_345, tokensOut: 321, cost: 0.0123 })
      });
      expect(row(request.ts).textContent).toBe('↑ 12.3K ↓ 321$0.01');
    });

    it('should say why an answer broke off', async () => {
      await show({
        say: 'api_req_started',
        text: json({
          cancelReason: 'streaming_failed',
          streamingFailedMessage: 'Reset.'
        })
      });
      expect(row(2).textContent).toContain('The answer broke off: Reset.');
    });

    it('should count down to the next attempt', async () => {
      const text = (left: number) =>
        `Busy.\n<retry_timer>${left}</retry_timer>`;
      await show({
        say: 'api_req_retry_delayed',
        partial: true,
        text: text(5)
      });
      expect(row(2).textContent).toBe('Trying again in 5 s.Busy.');
      await update({
        ts: 2,
        type: 'say',
        say: 'api_req_retry_delayed',
        partial: true,
        text: text(4)
      });
      expect(row(2).textContent).toContain('in 4 s');
      await update({
        ts: 2,
        type: 'say',
        say: 'api_req_retry_delayed',
        partial: false,
        text: 'Busy.'
      });
      expect(row(2).textContent).toBe('Tried again.Busy.');
    });
  });

  describe('questions', () => {
    it('should show what was offered, and what was taken', async () => {
      await show(
        {
          type: 'ask',
          ask: 'followup',
          isAnswered: true,
          text: json({
            question: 'Which?',
            suggest: [{ answer: 'This' }, { answer: 'That' }]
          })
        },
        { ts: 3, say: 'user_feedback', text: 'That' }
      );
      expect(row(2).textContent).toContain('Which?');
      expect(row(2).textContent).toContain('Chosen: That');
      expect(row(2).textContent).not.toContain('Chosen: This');
    });

    it('should show no pieces of JSON while they stream', async () => {
      await show({
        type: 'ask',
        ask: 'followup',
        partial: true,
        text: '{"question": "Whi'
      });
      expect(row(2).textContent).not.toContain('{');
    });
  });

  describe('other rows', () => {
    it('should say what condensing has brought', async () => {
      await show({
        say: 'condense_context',
        contextCondense: {
          cost: 0.02,
          prevContextTokens: 150_000,
          newContextTokens: 9_000,
          summary: 'We **plot**.'
        }
      });
      expect(row(2).textContent).toContain('150K → 9K tokens');
      expect(row(2).textContent).toContain('$0.02');
      await click('What the model remembers');
      expect(row(2).textContent).toContain('plot');
    });

    it('should lead to the subtask that is worked on', async () => {
      page.begin({
        currentTaskId: 't',
        currentTaskItem: {
          id: 't',
          number: 1,
          ts: 1,
          task: 'x',
          tokensIn: 0,
          tokensOut: 0,
          totalCost: 0,
          awaitingChildId: 'child'
        },
        clineMessages: [
          USER,
          {
            ts: 2,
            type: 'ask',
            ask: 'tool',
            isAnswered: true,
            text: json({ tool: 'newTask', mode: 'ask', content: 'Look it up' })
          }
        ]
      });
      await page.settle();
      expect(row(2).textContent).toContain('Look it up');
      await click('Open the subtask');
      expect(page.sent('showTaskWithId')).toEqual([
        expect.objectContaining({ taskId: 'child' })
      ]);
      page.answer('showTaskWithId');
      await page.settle();
    });

    it('should put a kind of another version in names and values, not JSON', async () => {
      await show({
        say: 'some_new_kind' as never,
        text: json({ colour: 'blue', sizes: [1, 2] })
      });
      await click('Details');
      expect(row(2).textContent).toBe('Detailscolourbluesizes1, 2');
    });

    it('should show the answer of a tool server with its call', async () => {
      await show(
        {
          type: 'ask',
          ask: 'use_mcp_server',
          isAnswered: true,
          text: json({
            serverName: 'files',
            type: 'use_mcp_tool',
            toolName: 'find',
            arguments: '{}'
          })
        },
        { ts: 3, say: 'mcp_server_response', text: 'found it' }
      );
      expect(row(2).textContent).toContain('files: find');
      await click('What it answered');
      expect(row(2).textContent).toContain('found it');
    });
  });
});

import type { ClineSayTool } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { anItem } from '../../header/__tests__/conversations';
import { AskAnswers } from '../../../state/panel/askanswers';
import { READY } from '../../composer/__tests__/openedcomposer';
import { ask, created, toolAsk, updated, waiting } from './openedask';

describe('AskBar', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  const bar = () => page.find('.jp-hdspAgent-ask');
  const preview = () => page.find('.jp-hdspAgent-ask-preview');
  const sentenceText = () =>
    page.find('.jp-hdspAgent-ask-sentence')?.textContent;
  const said = () =>
    page.find('.jp-hdspAgent-asks [role="status"]')?.textContent;
  const labels = () =>
    page
      .findAll('.jp-hdspAgent-ask-buttons button')
      .map(button => button.getAttribute('aria-label') ?? button.textContent);
  const type = (text: string) =>
    page.act(() => page.panel.services.state.setDraft('t', { text }));

  it('should not be there while nothing waits', () => {
    page.begin(waiting([], { currentTaskStatus: 'running' }));
    expect(bar()).toBeNull();
  });

  it('should say what will be changed and where, to eyes and to screen readers', () => {
    page.begin(
      waiting([
        toolAsk(1, {
          tool: 'appliedDiff',
          path: 'src/a.py',
          diffStats: { added: 3, removed: 1 }
        })
      ])
    );
    expect(bar()?.textContent).toContain('Edit src/a.py?');
    expect(bar()?.textContent).toContain('+3 −1');
    expect(said()).toBe('Edit src/a.py?');
    expect(labels()).toEqual(['Save', 'Approve always…', 'Edit…', 'Deny']);
  });

  it('should say the present name of what was renamed while it waits', () => {
    page.begin(
      waiting([toolAsk(5, { tool: 'editCells', path: 'kb.ipynb' })], {
        currentTaskItem: anItem({ id: 't' })
      })
    );
    expect(bar()?.textContent).toContain('kb.ipynb: Make');
    page.publish({
      type: 'taskHistoryItemUpdated',
      taskHistoryItem: anItem({
        id: 't',
        renames: [{ old: 'kb.ipynb', new: 'renamed.ipynb', ts: 6 }]
      })
    });
    expect(bar()?.textContent).toContain('renamed.ipynb: Make');
    expect(said()).toContain('renamed.ipynb');
  });

  it('should say what will run, byte for byte, and in which folder', () => {
    page.begin(
      waiting([ask(1, 'command', '# in /opt/data\npip install -q polars')])
    );
    expect(preview()?.textContent).toBe('pip install -q polars');
    expect(bar()?.textContent).toContain('Run this command in /opt/data?');
    expect(page.findAll('.jp-hdspAgent-ask-link')).toEqual([]);
    expect(labels()).toEqual([
      'Run',
      'Approve always…',
      'Edit…',
      'Deny',
      'Never allow…'
    ]);
  });

  it('should show all of a command that is longer than a line', () => {
    const command = 'for one in *; do\n  rm -r "$one"\u202e\ndone';
    const shown = command.replace('\u202e', '⟨U+202E⟩');
    page.begin(waiting([ask(1, 'command', command)]));
    expect(preview()?.textContent).toBe(shown);
    expect(preview()?.title).toBe(command);
    page.act(() => page.button('Show all').click());
    const code = page.find('.jp-hdspAgent-ask-code');
    expect(code?.textContent).toBe(shown);
    // It scrolls, so that it must be reached by keyboard.
    expect(code?.tabIndex).toBe(0);
    expect(code?.getAttribute('aria-label')).toBe('Full command');
    expect(preview()).toBeNull();
  });

  it.each([
    [
      { tool: 'runCells', path: 'a.ipynb', cells: [{ number: 3, code: 'x' }] },
      'a.ipynb: Run cell 3?'
    ],
    [
      {
        tool: 'runCells',
        path: 'a.ipynb',
        cells: [
          { number: 3, code: 'x' },
          { number: 5, code: 'y' }
        ]
      },
      'a.ipynb: Run cells 3, 5?'
    ],
    [
      { tool: 'restartKernel', path: 'a.ipynb' },
      'Restart the kernel of a.ipynb?'
    ],
    [
      {
        tool: 'editCells',
        path: 'a.ipynb',
        cellEdits: [{ op: 'delete', number: 2 }]
      },
      'a.ipynb: Delete cell 2?'
    ],
    [
      {
        tool: 'appliedDiff',
        batchDiffs: [
          { path: 'a.py', changeCount: 1, key: 'a', content: '' },
          { path: 'b.py', changeCount: 1, key: 'b', content: '' }
        ]
      },
      'Edit 2 files?'
    ],
    [
      {
        tool: 'readFile',
        batchFiles: ['a.py', 'b.py'].map(path => ({
          path,
          lineSnippet: '',
          key: path,
          content: ''
        }))
      },
      'Read 2 files and folders?'
    ],
    [{ tool: 'updateTodoList' }, 'Change the plan?']
  ] as const)('should put %j into words', (tool, sentence) => {
    page.begin(waiting([ask(1, 'tool', tool)]));
    expect(sentenceText()).toBe(sentence);
  });

  it.each([
    [[3], '3'],
    [[3, 4], '3, 4'],
    [[2, 3, 4, 7], '2–4, 7'],
    [[1, 3, 4, 5, 6, 8, 9], '1, 3–6, 8, 9'],
    [[5, 4], '5, 4']
  ])('should say that it runs the cells %j as %s', (cells, range) => {
    page.begin(
      waiting([
        toolAsk(1, {
          tool: 'runCells',
          path: 'a.ipynb',
          cells: cells.map(number => ({ number, code: 'x' }))
        })
      ])
    );
    expect(sentenceText()).toBe(
      `a.ipynb: Run cell${cells.length > 1 ? 's' : ''} ${range}?`
    );
  });

  it.each([
    [[{ code: 'x' }], 'a.ipynb: Run 1 cell?'],
    [[{ number: 3, code: 'x' }, { code: 'y' }], 'a.ipynb: Run 2 cells?']
  ])('should count the cells whose places are not known: %j', (cells, says) => {
    page.begin(
      waiting([toolAsk(1, { tool: 'runCells', path: 'a.ipynb', cells })])
    );
    expect(sentenceText()).toBe(says);
  });

  it.each([
    [{ tool: 'runCells', cells: [{ number: 3, code: 'x' }] }, 'Run cell 3?'],
    [
      { tool: 'editCells', cellEdits: [{ op: 'delete', number: 2 }] },
      'Delete cell 2?'
    ]
  ] as [Partial<ClineSayTool>, string][])(
    'should not name the notebook of the conversation: %j',
    (tool, sentence) => {
      page.begin(
        waiting([toolAsk(1, { ...tool, path: 'work/a.ipynb' })], {
          currentTaskItem: anItem({
            id: 't',
            notebook: { path: 'work/a.ipynb' }
          })
        })
      );
      expect(sentenceText()).toBe(sentence);
      page.publish(updated(toolAsk(1, { ...tool, path: 'b.ipynb' })));
      expect(sentenceText()).toBe(`b.ipynb: ${sentence}`);
    }
  );

  it('should leave the code of cells and the files of a batch to the row', async () => {
    page.begin(
      waiting([
        toolAsk(1, {
          tool: 'runCells',
          path: 'a.ipynb',
          cells: [{ number: 3, code: 'drop_tables()' }]
        })
      ])
    );
    await page.settle();
    expect(bar()?.textContent).not.toContain('drop_tables()');
    expect(page.find('[data-ts="1"]')?.textContent).toContain('drop_tables()');
    page.publish(
      updated(
        toolAsk(1, {
          tool: 'appliedDiff',
          batchDiffs: [
            { path: 'a.py', changeCount: 1, key: 'a', content: '' },
            { path: 'b.py', changeCount: 1, key: 'b', content: '' }
          ]
        })
      )
    );
    await page.settle();
    expect(bar()?.textContent).not.toContain('b.py');
    expect(page.find('[data-ts="1"]')?.textContent).toContain('b.py');
  });

  describe('Apply and run', () => {
    const edit = (canRun?: boolean) =>
      page.begin(
        waiting([
          toolAsk(1, {
            tool: 'editCells',
            path: 'a.ipynb',
            cellEdits: [{ op: 'insert', number: 2, diff: '@@ -0 +1 @@\n+x' }],
            ...(canRun === undefined ? {} : { canRun })
          })
        ])
      );

    it('should be offered first where the changed cells can run', () => {
      edit(true);
      expect(labels()).toEqual([
        'Apply and run',
        'Apply',
        'Approve always…',
        'Edit…',
        'Deny'
      ]);
      expect(
        page
          .findAll('.jp-hdspAgent-ask-buttons .jp-mod-accept')
          .map(({ textContent }) => textContent)
      ).toEqual(['Apply and run']);
    });

    it('should not be offered where nothing can run', () => {
      edit(false);
      expect(labels()).not.toContain('Apply and run');
      expect(page.button('Apply').className).toContain('jp-mod-accept');
    });

    it('should let the agent run what it changes, once', async () => {
      edit(true);
      type('and plot it');
      page.act(() => page.button('Apply and run').click());
      page.act(() => page.button('Apply and run').click());
      expect(page.sent('askResponse')).toMatchObject([
        {
          taskId: 't',
          messageTs: 1,
          askResponse: 'yesButtonClicked',
          text: 'and plot it',
          run: true
        }
      ]);
      await page.settle(() => page.answer('askResponse'));
    });

    it('should run nothing for who only applies', async () => {
      edit(true);
      page.act(() => page.button('Apply').click());
      expect(page.sent('askResponse')).toHaveLength(1);
      expect(page.sent('askResponse')[0]).not.toHaveProperty('run');
      await page.settle(() => page.answer('askResponse'));
    });
  });

  it('should show what a protected file is, and what is lost', () => {
    page.begin(
      waiting([
        toolAsk(
          1,
          { tool: 'newFileCreated', path: 'AGENTS.md' },
          {
            isProtected: true
          }
        )
      ])
    );
    expect(bar()?.textContent).toContain('Protected');
    page.publish(
      updated(toolAsk(1, { tool: 'restartKernel', path: 'a.ipynb' }))
    );
    expect(bar()?.textContent).toContain('Clears all variables');
  });

  it('should not be confused by a text it cannot read', () => {
    page.begin(waiting([ask(1, 'tool', '{"tool":')]));
    expect(labels()).toEqual(['Approve', 'Approve always…', 'Deny']);
  });

  it('should send one answer, however often one clicks', async () => {
    page.begin(waiting([toolAsk(1, { tool: 'readFile', path: 'a' })]));
    const approve = page.button('Approve');
    page.act(() => {
      approve.click();
      approve.click();
    });
    page.act(() => page.button('Deny').click());
    expect(page.sent('askResponse')).toHaveLength(1);
    expect(page.sent('askResponse')[0]).toMatchObject({
      taskId: 't',
      messageTs: 1,
      askResponse: 'yesButtonClicked'
    });
    expect(approve.textContent).toBe('Sending…');
    expect(approve.getAttribute('aria-disabled')).toBe('true');
    await page.settle(() => page.answer('askResponse'));
    page.act(() => approve.click());
    expect(page.sent('askResponse')).toHaveLength(1);
  });

  it('should not let the second click of a double click answer the next question', async () => {
    page.begin(waiting([toolAsk(1, { tool: 'readFile', path: 'a' })]));
    page.act(() => page.button('Approve').click());
    await page.settle(() => page.answer('askResponse'));
    page.publish(
      updated(
        toolAsk(1, { tool: 'readFile', path: 'a' }, { isAnswered: true })
      ),
      created(ask(2, 'command', 'rm -r data'))
    );
    page.act(() => page.button('Run').click());
    expect(page.sent('askResponse')).toHaveLength(1);
    page.wait(AskAnswers.PAUSE);
    page.act(() => page.button('Run').click());
    expect(page.sent('askResponse')[1]).toMatchObject({ messageTs: 2 });
  });

  it('should take no answer to a question nobody can have read, whoever answered the one before', () => {
    page.begin(waiting([ask(1, 'command', 'ls')]));
    page.publish(updated(ask(1, 'command', 'ls', { isAnswered: true })));
    page.wait(AskAnswers.PAUSE * 3);
    page.publish(created(ask(2, 'command', 'rm -r data')));
    page.act(() => page.button('Run').click());
    expect(page.sent('askResponse')).toEqual([]);
    page.wait(AskAnswers.PAUSE);
    page.act(() => page.button('Run').click());
    expect(page.sent('askResponse')[0]).toMatchObject({ messageTs: 2 });
  });

  it('should take what is typed along with either answer, and say so', async () => {
    page.begin(waiting([ask(1, 'command', 'ls')]));
    expect(page.find('.jp-hdspAgent-ask-note')).toBeNull();
    type('only the first page');
    expect(page.find('.jp-hdspAgent-ask-note')?.textContent).toBe(
      'Your text is sent with your answer.'
    );
    page.act(() => page.button('Deny').click());
    expect(page.sent('askResponse')[0]).toMatchObject({
      askResponse: 'noButtonClicked',
      text: 'only the first page'
    });
    expect(page.panel.services.state.draft('t').text).toBe('');
    await page.settle(() => page.answer('askResponse'));
  });

  it('should explain an answer that came too late, and give back what was typed', async () => {
    page.begin(waiting([ask(1, 'command', 'ls')]));
    type('a note');
    page.act(() => page.button('Run').click());
    page.publish(updated(ask(1, 'command', 'ls', { isAnswered: true })));
    await page.settle(() =>
      page.answer('askResponse', {
        code: 'conflict',
        message: 'This question is not open.',
        params: { ask: 1 }
      })
    );
    expect(bar()).toBeNull();
    const trouble = page.find('.jp-hdspAgent-ask-trouble');
    expect(trouble?.getAttribute('role')).toBe('alert');
    expect(trouble?.textContent).toContain('already answered');
    expect(trouble?.textContent).toContain('is back in the message box');
    expect(page.panel.services.state.draft('t').text).toBe('a note');
    page.act(() => page.button('Close').click());
    expect(page.find('.jp-hdspAgent-ask-trouble')).toBeNull();
  });

  it('should say what went wrong, and take the answer again', async () => {
    page.begin(waiting([ask(1, 'command', 'ls')]));
    page.act(() => page.button('Run').click());
    await page.settle(() =>
      page.answer('askResponse', {
        code: 'unavailable',
        message: 'The disk is full.',
        params: {}
      })
    );
    expect(page.find('.jp-hdspAgent-ask-trouble')?.textContent).toContain(
      'The disk is full.'
    );
    page.act(() => page.button('Run').click());
    expect(page.sent('askResponse')).toHaveLength(2);
    expect(page.find('.jp-hdspAgent-ask-trouble')).toBeNull();
  });

  it('should go when it is answered elsewhere, and come back with the page', () => {
    page.begin(waiting([ask(1, 'command', 'ls')]));
    expect(bar()).not.toBeNull();
    page.publish(updated(ask(1, 'command', 'ls', { isAnswered: true })));
    expect(bar()).toBeNull();
    page.publish({ type: 'state', state: waiting([ask(1, 'command', 'ls')]) });
    expect(bar()).not.toBeNull();
  });

  it('should leave the focus where one types, and bring it there after an answer by keyboard', () => {
    page.begin(waiting([], { ...READY, currentTaskStatus: 'running' }));
    const field = page.find('.jp-hdspAgent-composer-field');
    // Not every field of the panel is the one where one writes to the agent.
    page.node.prepend(document.createElement('textarea'));
    field?.focus();
    page.publish(created(ask(1, 'command', 'ls')), {
      type: 'taskProgress',
      taskId: 't',
      status: 'interactive',
      todos: [],
      messageQueue: [],
      tokenUsage: {
        totalTokensIn: 0,
        totalTokensOut: 0,
        totalCost: 0,
        contextTokens: 0
      }
    });
    expect(bar()).not.toBeNull();
    expect(document.activeElement).toBe(field);
    page.act(() => page.button('Run').focus());
    page.publish(updated(ask(1, 'command', 'ls', { isAnswered: true })));
    expect(document.activeElement).toBe(field);
  });

  describe('what is no approval', () => {
    it('should let one begin anew when the agent is done, and say that one can go on', () => {
      page.begin(
        waiting([ask(1, 'completion_result')], { currentTaskStatus: 'idle' })
      );
      expect(bar()?.textContent).toContain('The agent is done.');
      page.act(() => page.button('New conversation').click());
      expect(page.sent('newConversation')).toHaveLength(1);
    });

    it('should tell an interruption from having gone back', () => {
      const change = (ts: number) => ({
        currentTaskStatus: 'resumable' as const,
        currentTaskMarks: {
          undoable: { id: 'm', kind: 'rewind' as const, ts }
        }
      });
      page.begin(waiting([ask(9, 'resume_task')], change(5)));
      expect(bar()?.textContent).toContain('Restored to this point.');
      page.publish({
        type: 'state',
        state: waiting(
          [{ ts: 7, type: 'say', say: 'text' }, ask(9, 'resume_task')],
          change(5)
        )
      });
      expect(bar()?.textContent).toContain('was interrupted');
    });

    it('should not call it an interruption when the person stopped it', () => {
      page.begin(
        waiting([ask(1, 'resume_task', '', { stoppedBy: 'person' })], {
          currentTaskStatus: 'resumable'
        })
      );
      expect(bar()?.textContent).toContain('You stopped this.');
    });

    it('should say that an administrator stopped it', () => {
      page.begin(
        waiting([ask(1, 'resume_task', '', { stoppedBy: 'administrator' })], {
          currentTaskStatus: 'resumable'
        })
      );
      expect(bar()?.textContent).toContain(
        'An administrator stopped this task.'
      );
      expect(bar()?.textContent).toContain('Continue');
    });

    it('should leave it to the row why the model gave no answer, and retry', async () => {
      page.begin(
        waiting([ask(1, 'api_req_failed', 'The key is not accepted.')], {
          currentTaskStatus: 'idle'
        })
      );
      await page.settle();
      expect(bar()?.textContent).toContain('The model gave no answer.');
      expect(bar()?.textContent).not.toContain('The key is not accepted.');
      expect(page.find('[data-ts="1"]')?.textContent).toContain(
        'The key is not accepted.'
      );
      expect(labels()).toEqual(['Retry', 'New conversation']);
    });

    it('should not urge to send again what was too long', () => {
      page.begin(
        waiting(
          [
            ask(1, 'api_req_failed', '', { modelFailure: { kind: 'overflow' } })
          ],
          { currentTaskStatus: 'idle' }
        )
      );
      expect(
        [...(bar()?.querySelectorAll('.jp-mod-accept') ?? [])].map(
          ({ textContent }) => textContent
        )
      ).toEqual(['New conversation']);
    });

    it('should let one go on beyond a limit, or stop', () => {
      page.begin(
        waiting(
          [
            ask(1, 'auto_approval_max_req_reached', {
              count: 20,
              type: 'requests'
            })
          ],
          { currentTaskStatus: 'idle' }
        )
      );
      expect(bar()?.textContent).toContain('your limit of 20 requests');
      expect(labels()).toEqual(['Continue', 'Stop']);
    });

    it.each([
      ['resume_task', 'resumable', ['Continue', 'New conversation']],
      ['mistake_limit_reached', 'idle', ['Continue anyway', 'Stop']],
      ['resume_completed_task', 'idle', ['New conversation']],
      ['use_mcp_server', 'interactive', ['Approve', 'Approve always…', 'Deny']]
    ] as const)('should have the buttons of %s', (kind, status, expected) => {
      page.begin(waiting([ask(1, kind)], { currentTaskStatus: status }));
      expect(labels()).toEqual(expected);
    });
  });

  describe('a command that runs', () => {
    const running = () =>
      page.begin(
        waiting([ask(1, 'command', 'sleep 9', { isAnswered: true })], {
          currentTaskStatus: 'running',
          runningCommands: [
            { executionId: 'e', status: 'started', command: 'sleep 9' }
          ]
        })
      );

    it('should be stopped, or left to itself', async () => {
      running();
      expect(bar()?.textContent).toContain('sleep 9');
      page.act(() => page.button('Stop the command').click());
      expect(page.sent('terminalOperation')[0]).toMatchObject({
        taskId: 't',
        terminalOperation: 'abort'
      });
      await page.settle(() => page.answer('terminalOperation'));
      expect(bar()).toBeNull();
    });

    it('should go with the command, and when the agent goes on', () => {
      running();
      page.publish({
        type: 'commandExecutionStatus',
        taskId: 't',
        text: '{"executionId":"e","status":"exited","exitCode":0}'
      });
      expect(bar()).toBeNull();
      page.publish({
        type: 'commandExecutionStatus',
        taskId: 't',
        text: '{"executionId":"f","status":"started","command":"ls"}'
      });
      expect(bar()).not.toBeNull();
      page.publish(created({ ts: 9, type: 'say', say: 'api_req_started' }));
      expect(bar()).toBeNull();
    });
  });
});

import type { KernelStatusMessage } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { openedDocuments } from '../../__tests__/openeddocuments';
import { RestServer } from '../../history/__tests__/restserver';
import { addHeaderCommands } from '../headercommands';
import { anItem, showing } from './conversations';

describe('TaskHeader', () => {
  let page: OpenedPanel;
  let rest: RestServer;

  beforeEach(() => {
    rest = new RestServer();
    rest.answers.set('GET models', () => ({
      models: [{ id: 'm', contextWindow: 200_000 }]
    }));
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
    document.body.innerHTML = '';
  });

  function type(selector: string, text: string): void {
    page.act(() => {
      const input = page.find(selector) as HTMLInputElement;
      Object.getOwnPropertyDescriptor(
        HTMLInputElement.prototype,
        'value'
      )?.set?.call(input, text);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
  }

  function press(selector: string, key: string): void {
    page.act(() => {
      page
        .find(selector)
        ?.dispatchEvent(
          new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
        );
    });
  }

  /** Show the title, which is among the details. */
  function openDetails(): void {
    page.act(() => page.button('Details of this conversation').click());
  }

  const called = (title: string) => ({ title });
  const title = () => page.find('.jp-hdspAgent-taskTitle')?.textContent;
  const INPUT = '.jp-hdspAgent-taskTitle input';

  it('should show nothing while no conversation is on screen', () => {
    page.begin({ openTasks: [] });
    expect(page.find('.jp-hdspAgent-task')).toBeNull();
  });

  it('should say what the conversation is, and follow its new title', () => {
    page.begin(showing(anItem({ notebook: { path: 'work/sales.ipynb' } })));
    // The tab has it already.
    expect(title()).toBeUndefined();
    openDetails();
    expect(title()).toBe('Plot the sales');
    expect(page.find('.jp-hdspAgent-task')?.textContent).toContain(
      'sales.ipynb'
    );
    expect(page.find('.jp-hdspAgent-task-mode')?.textContent).toBe('Agent');
    page.publish({
      type: 'taskHistoryItemUpdated',
      taskHistoryItem: anItem(called('Sales 2025'))
    });
    expect(title()).toBe('Sales 2025');
    page.publish({
      type: 'taskHistoryItemUpdated',
      taskHistoryItem: anItem({ id: 'other', ...called('Rows') })
    });
    expect(title()).toBe('Sales 2025');
  });

  it('should say what the kernel of its notebook does, unless it is ready', () => {
    const kernel = () =>
      page.find('.jp-hdspAgent-task-kernel')?.textContent ?? null;
    const publish = (status: KernelStatusMessage['status'], path = 'a.ipynb') =>
      page.publish({ type: 'kernelStatus', path, status });
    page.begin(showing(anItem({ notebook: { path: 'a.ipynb' } })));
    expect(kernel()).toBeNull();
    publish('busy');
    publish('dead', 'other.ipynb');
    expect(kernel()).toBe('Kernel busy');
    publish('autorestarting');
    expect(kernel()).toBe('Kernel restarting');
    publish('idle');
    expect(kernel()).toBeNull();
    publish('dead');
    expect(kernel()).toBe('Kernel stopped');
  });

  it('should open the notebook, follow its new name, and say when it is gone', async () => {
    page.dispose();
    const { documents, opened } = openedDocuments();
    page = new OpenedPanel({ documents });
    const button = () =>
      page.find('.jp-hdspAgent-task-notebook') as HTMLElement;
    page.begin(showing(anItem({ notebook: { path: 'old.ipynb' } })));
    page.act(() => button().click());
    await page.settle(() => page.answer('findFile', null, false));
    expect(opened).toEqual([]);
    expect(page.find('.jp-hdspAgent-task')?.textContent).toContain(
      'old.ipynb no longer exists.'
    );
    page.publish({
      type: 'taskHistoryItemUpdated',
      taskHistoryItem: anItem({ notebook: { path: 'new.ipynb' } })
    });
    expect(button().textContent).toBe('new.ipynb');
    expect(page.find('.jp-hdspAgent-task')?.textContent).not.toContain(
      'not there'
    );
    page.act(() => button().click());
    await page.settle(() => page.answer('findFile', null, true));
    expect(page.sent('findFile')).toMatchObject([
      { path: 'old.ipynb' },
      { path: 'new.ipynb' }
    ]);
    expect(opened).toEqual(['new.ipynb']);
  });

  it('should be renamed in place', async () => {
    page.begin(showing(anItem()));
    openDetails();
    page.act(() => page.button('Plot the sales').click());
    type(INPUT, ' Sales ');
    press(INPUT, 'Enter');
    expect(page.sent('renameTask')).toMatchObject([
      { taskId: 'a', ...called('Sales') }
    ]);
    await page.settle(() => page.answer('renameTask'));
    expect(page.find(INPUT)).toBeNull();
  });

  it.each([{ isComposing: true }, { keyCode: 229 }])(
    'should not be renamed by a key of an input method: %j',
    init => {
      page.begin(showing(anItem()));
      openDetails();
      page.act(() => page.button('Plot the sales').click());
      type(INPUT, '売上');
      for (const key of ['Enter', 'Escape']) {
        page.act(() =>
          page
            .find(INPUT)
            ?.dispatchEvent(
              new KeyboardEvent('keydown', { key, bubbles: true, ...init })
            )
        );
      }
      expect(page.sent('renameTask')).toEqual([]);
      expect((page.find(INPUT) as HTMLInputElement).value).toBe('売上');
    }
  );

  it('should be shown in the direction of its language', () => {
    page.begin(showing(anItem()));
    openDetails();
    expect(page.button('Plot the sales').dir).toBe('auto');
    page.act(() => page.button('Plot the sales').click());
    expect((page.find(INPUT) as HTMLInputElement).dir).toBe('auto');
  });

  it('should keep what was typed when a title is refused, and say why', async () => {
    page.begin(showing(anItem()));
    openDetails();
    page.act(() => page.button('Plot the sales').click());
    type(INPUT, 'Sales');
    press(INPUT, 'Enter');
    await page.settle(() =>
      page.answer('renameTask', { code: 'x', message: 'Too long.', params: {} })
    );
    expect((page.find(INPUT) as HTMLInputElement).value).toBe('Sales');
    expect(title()).toContain('Too long.');
    press(INPUT, 'Escape');
    expect(title()).toBe('Plot the sales');
  });

  describe('the context', () => {
    const usage = {
      totalTokensIn: 1000,
      totalTokensOut: 200,
      totalCost: 0.25,
      contextTokens: 50_000
    };
    const profile = {
      id: 'p',
      name: 'work',
      apiProvider: 'anthropic',
      modelId: 'm',
      pinned: false,
      current: true,
      allowed: true
    };

    it('should be measured against the window the person set', () => {
      page.begin(
        showing(anItem(), {
          tokenUsage: usage,
          currentApiConfigName: 'work',
          listApiConfigMeta: [profile],
          apiConfiguration: {
            modelContextWindow: 100_000,
            modelMaxTokens: 10_000
          }
        })
      );
      const meter = page.find('[role="meter"]');
      expect(meter?.getAttribute('aria-valuenow')).toBe('50000');
      expect(meter?.getAttribute('aria-valuetext')).toBe(
        '50,000 of 100,000 tokens used, 10,000 reserved for the answer, 40,000 free'
      );
      expect(page.find('.jp-hdspAgent-context-share')?.textContent).toBe('50%');
      expect(rest.of('GET models')).toHaveLength(0);
    });

    it('should show what is kept for the answer, and where it is condensed', () => {
      page.commands.addCommand('hdsp-agent:show-context', {
        execute: ({ taskId }) => shown.push(taskId)
      });
      const shown: unknown[] = [];
      page.begin(
        showing(anItem(), {
          tokenUsage: usage,
          modelRoom: {
            contextWindow: 100_000,
            maxOutput: 90_000,
            reserved: 40_000,
            condenseAt: 60_000
          }
        })
      );
      expect(page.find('[role="meter"]')?.getAttribute('aria-valuetext')).toBe(
        '50,000 of 100,000 tokens used, 40,000 reserved for the answer, 10,000 free. At 60,000 the conversation is condensed.'
      );
      const limit = page.find('.jp-mod-limit') as HTMLElement;
      expect(limit.style.insetInlineStart).toBe('60%');
      openDetails();
      expect(page.find('.jp-hdspAgent-context-parts')?.textContent).toBe(
        'Used50,000Reserved for the answer40,000Free10,000Condensed at60,000'
      );
      page.act(() => page.button('What the model sees').click());
      expect(shown).toEqual(['a']);
    });

    it('should be measured against the window of the model of its profile', async () => {
      page.begin(
        showing(anItem({ apiConfigName: 'work' }), {
          tokenUsage: usage,
          currentApiConfigName: 'other',
          listApiConfigMeta: [profile]
        })
      );
      await page.settle();
      await page.settle();
      expect(page.find('.jp-hdspAgent-context-share')?.textContent).toBe('25%');
    });

    it('should be told in tokens where nobody knows the window', () => {
      page.begin(showing(anItem(), { tokenUsage: usage }));
      expect(page.find('[role="meter"]')).toBeNull();
      expect(page.find('.jp-hdspAgent-context-share')?.textContent).toBe(
        '50K tokens'
      );
    });

    it('should be condensed, once at a time', async () => {
      page.begin(showing(anItem(), { tokenUsage: usage }));
      openDetails();
      page.act(() => page.button('Condense').click());
      expect(page.sent('condenseTaskContextRequest')).toMatchObject([
        { taskId: 'a' }
      ]);
      expect(page.button('Condensing…').disabled).toBe(true);
      page.publish({ type: 'condenseTaskContextStarted', text: 'a' });
      await page.settle(() => page.answer('condenseTaskContextRequest'));
      expect(page.button('Condensing…').disabled).toBe(true);
    });

    it('should not be offered to be condensed by a server that cannot', async () => {
      page.begin(showing(anItem(), { tokenUsage: usage }));
      openDetails();
      page.act(() => page.button('Condense').click());
      await page.settle(() =>
        page.answer('condenseTaskContextRequest', {
          code: 'unsupported',
          message: 'Not yet.',
          params: {}
        })
      );
      expect(() => page.button('Condense')).toThrow();
      expect(page.find('.jp-hdspAgent-context')?.textContent).toContain(
        'not supported'
      );
    });
  });

  it('should not show a cost that nobody knows as none', () => {
    page.begin(
      showing(anItem({ totalCost: 0, tokensIn: 9, tokensOut: 1 }), {
        tokenUsage: undefined
      })
    );
    page.act(() => page.button('Details of this conversation').click());
    const facts = page.find('.jp-hdspAgent-task-details')?.textContent;
    expect(facts).toContain('Costunknown');
    expect(facts).not.toContain('$0.00');
  });

  it('should add what the subtasks cost', async () => {
    page.begin(showing(anItem({ childIds: ['s'] })));
    expect(page.sent('getTaskWithAggregatedCosts')).toMatchObject([
      { taskId: 'a' }
    ]);
    page.publish({
      type: 'taskWithAggregatedCosts',
      text: 'a',
      aggregatedCosts: { totalCost: 2, ownCost: 0.5, childrenCost: 1.5 }
    });
    expect(page.find('.jp-hdspAgent-task-figures')?.textContent).toContain(
      '$2.00'
    );
    await page.settle(() => page.answer('getTaskWithAggregatedCosts'));
  });

  it('should lead to the parent and to the subtask', async () => {
    page.begin(showing(anItem({ parentTaskId: 'p', childIds: ['s', 'u'] })));
    page.act(() => page.button('Back to the parent conversation').click());
    expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'p' }]);
    await page.settle(() => page.answer('showTaskWithId'));
    page.act(() => page.button('View the last subtask').click());
    expect(page.sent('showTaskWithId')[1]).toMatchObject({ taskId: 'u' });
    await page.settle(() => {
      page.answer('showTaskWithId');
      page.answer('getTaskWithAggregatedCosts');
    });
  });

  describe('the plan', () => {
    const todos = [
      { id: '1', content: 'Load', status: 'completed' },
      { id: '2', content: 'Clean', status: 'in_progress' },
      { id: '3', content: 'Plot', status: 'pending' }
    ] as const;

    it('should be folded to what the agent is at', () => {
      page.begin(showing(anItem(), { currentTaskTodos: [...todos] }));
      const plan = page.find('.jp-hdspAgent-todos');
      expect(plan?.textContent).toBe('Plan: 1 of 3 doneClean');
      page.act(() => page.find('.jp-hdspAgent-todos-head')?.click());
      expect(
        page.findAll('.jp-hdspAgent-todo').map(one => one.textContent)
      ).toEqual(['Load', 'Clean', 'Plot']);
    });

    it('should be changed by the person, as a whole', async () => {
      page.begin(showing(anItem(), { currentTaskTodos: [...todos] }));
      page.act(() => page.find('.jp-hdspAgent-todos-head')?.click());
      page.act(() => page.button('Change the plan').click());
      page.act(() => page.button('Remove item 1').click());
      type('.jp-hdspAgent-todoEditor input', 'Clean well');
      page.act(() => page.button('Add an item').click());
      page.act(() => page.button('Save the plan').click());
      expect(page.sent('updateTodoList')).toMatchObject([
        {
          taskId: 'a',
          payload: {
            todos: [{ ...todos[1], content: 'Clean well' }, todos[2]]
          }
        }
      ]);
      // Until the server has it, it is as it was.
      expect(page.find('.jp-hdspAgent-todos-count')?.textContent).toBe(
        'Plan: 1 of 3 done'
      );
      await page.settle(() => page.answer('updateTodoList'));
      expect(page.find('.jp-hdspAgent-todoEditor')).toBeNull();
    });

    it('should leave the focus where it was begun to change', async () => {
      page.begin(showing(anItem(), { currentTaskTodos: [...todos] }));
      page.act(() => page.find('.jp-hdspAgent-todos-head')?.click());
      const press = (name: string) =>
        page.act(() => {
          page.button(name).focus();
          page.button(name).click();
        });
      press('Change the plan');
      press('Cancel');
      expect(document.activeElement).toBe(page.button('Change the plan'));
      press('Change the plan');
      press('Save the plan');
      await page.settle(() => page.answer('updateTodoList'));
      expect(document.activeElement).toBe(page.button('Change the plan'));
    });

    it('should read in the direction of its language', () => {
      const [, todo] = todos;
      page.begin(
        showing(anItem(), { currentTaskTodos: [{ ...todo, content: 'שלום!' }] })
      );
      expect(page.find('.jp-hdspAgent-todos-current')?.dir).toBe('auto');
    });
  });

  describe('the menu', () => {
    beforeEach(() => {
      addHeaderCommands(page.panel.services);
      page.begin(showing(anItem()));
      page.publish({
        type: 'messageCreated',
        taskId: 'a',
        message: { ts: 7, type: 'say', say: 'text', text: 'Hi' }
      });
    });

    function open(): HTMLElement[] {
      page.act(() => page.button('Conversation actions').click());
      return [...document.querySelectorAll<HTMLElement>('.lm-Menu-itemLabel')];
    }

    it('should offer what can be done', () => {
      expect(
        open()
          .map(({ textContent }) => textContent)
          .filter(Boolean)
      ).toEqual([
        'Rename Conversation…',
        'Favorite Conversation',
        'Checkpoints',
        'Branch Conversation',
        'Export',
        'Share as a Link…',
        'Copy Conversation as Markdown',
        'Copy Prompt',
        'Use Memory in This Conversation',
        'Close Conversation',
        'Delete Conversation…'
      ]);
    });

    it('should lead to what is remembered, where there are settings', () => {
      const label = 'Memory';
      page.commands.addCommand('hdsp-agent:open-memory', {
        label,
        execute: () => undefined
      });
      expect(open().map(({ textContent }) => textContent)).toContain(label);
    });

    it('should delete only what one is sure of, and close it before', async () => {
      const deletion = page.commands.execute('hdsp-agent:delete-conversation');
      await page.settle();
      expect(document.querySelector('.jp-Dialog')?.textContent).toContain(
        'Delete “Plot the sales”?'
      );
      await page.settle(() =>
        document
          .querySelector<HTMLElement>('.jp-Dialog .jp-mod-accept')
          ?.click()
      );
      expect(page.sent('closeConversation')).toMatchObject([
        { taskId: 'a', stop: true }
      ]);
      await page.settle(() => page.answer('closeConversation'));
      expect(page.sent('deleteTaskWithId')).toMatchObject([{ taskId: 'a' }]);
      await page.settle(() => page.answer('deleteTaskWithId'));
      await deletion;
    });

    it('should go on in a copy from the newest message', () => {
      void page.commands.execute('hdsp-agent:fork-conversation');
      expect(page.sent('forkTask')).toMatchObject([
        { taskId: 'a', messageTs: 7 }
      ]);
    });

    it('should save the conversation where the browser puts downloads', async () => {
      const clicked: string[] = [];
      jest
        .spyOn(HTMLAnchorElement.prototype, 'click')
        .mockImplementation(function (this: HTMLAnchorElement) {
          clicked.push(this.href);
        });
      const saving = page.commands.execute('hdsp-agent:export-conversation', {
        format: 'notebook'
      });
      await page.settle(() =>
        page.answer(
          'exportTaskWithId',
          null,
          'hdsp-agent/api/tasks/a/export?format=markdown'
        )
      );
      await saving;
      expect(clicked).toEqual([
        'http://localhost/hdsp-agent/api/tasks/a/export?format=notebook'
      ]);
      jest.restoreAllMocks();
    });
  });
});

import { Dialog } from '@jupyterlab/apputils';

import { OpenedPanel } from '../../__tests__/openedpanel';
import { anItem, anOpenTask, showing } from './conversations';

const TASKS = [
  anOpenTask('a', 'Sales', { status: 'running' }),
  anOpenTask('b', 'Rows', { status: 'idle' }),
  anOpenTask('c', 'Model', { status: 'interactive', needsYou: true })
];

describe('TabStrip', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
    document.body.innerHTML = '';
  });

  function tabs(): HTMLElement[] {
    return page.findAll('[role="tab"]');
  }

  function begin(currentTaskId = 'a'): void {
    page.begin(showing(anItem({ id: currentTaskId }), { openTasks: TASKS }));
  }

  function press(key: string): void {
    page.act(() => {
      document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
      );
    });
  }

  it('should tell how each open conversation is, in words too', () => {
    begin();
    expect(tabs().map(tab => tab.getAttribute('aria-label'))).toEqual([
      'Sales, working',
      'Rows, done',
      'Model, needs you'
    ]);
    expect(tabs().map(tab => tab.getAttribute('aria-selected'))).toEqual([
      'true',
      'false',
      'false'
    ]);
  });

  it('should say which conversation an error stopped, though it waits for somebody too', () => {
    page.begin({
      openTasks: [
        anOpenTask('a', 'Sales', { needsYou: true, failed: true }),
        anOpenTask('b', 'Rows', { status: 'none', failed: true })
      ]
    });
    expect(tabs().map(tab => tab.getAttribute('aria-label'))).toEqual([
      'Sales, stopped by an error',
      'Rows, stopped by an error',
      null
    ]);
    expect(tabs()[0].title).toBe('Sales (stopped by an error)');
    expect(tabs()[1].dataset.phase).toBe('failed');
  });

  it('should leave out of a title what went along with the first message', () => {
    const cell = '<attachment kind="cell" path="a.ipynb" label="Cell 3"> x…';
    page.begin({
      openTasks: [
        anOpenTask('a', `Explain this ${cell}`),
        anOpenTask('b', cell),
        anOpenTask('c', 'Explain <attachment ki…'),
        anOpenTask(
          'd',
          '<attachment kind="file" path="x" label="a&#10;b\u202Ecod.exe &amp; 🎉.py">'
        ),
        anOpenTask('e', '', { pictures: 2 })
      ]
    });
    expect(
      page.findAll('.jp-hdspAgent-tab-title').map(one => one.textContent)
    ).toEqual([
      'Explain this',
      'Cell 3',
      'Explain <attachment ki…',
      'a bcod.exe & 🎉.py',
      '2 images',
      'New conversation'
    ]);
  });

  it('should follow what the server says is open', () => {
    begin();
    page.publish({
      type: 'openTasksUpdated',
      openTasks: [anOpenTask('a', 'Sales', { status: 'idle' })]
    });
    expect(tabs().map(tab => tab.getAttribute('aria-label'))).toEqual([
      'Sales, done'
    ]);
  });

  it('should show a conversation that is clicked', async () => {
    begin();
    page.act(() => tabs()[1].click());
    expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'b' }]);
    await page.settle(() => page.answer('showTaskWithId'));
    expect(page.panel.services.state.page).toBe('chat');
  });

  it('should hold one stop of the Tab key, and move by arrows around the ends', () => {
    begin('b');
    expect(tabs().map(tab => tab.tabIndex)).toEqual([-1, 0, -1]);
    tabs()[1].focus();
    press('ArrowRight');
    expect(document.activeElement).toBe(tabs()[2]);
    press('ArrowRight');
    expect(document.activeElement).toBe(tabs()[0]);
    press('ArrowLeft');
    expect(document.activeElement).toBe(tabs()[2]);
    press('Home');
    expect(document.activeElement).toBe(tabs()[0]);
    press('End');
    expect(document.activeElement).toBe(tabs()[2]);
    expect(page.sent('showTaskWithId')).toHaveLength(0);
  });

  it('should close what rests at once, by key and by cross', () => {
    begin();
    tabs()[1].focus();
    press('Delete');
    expect(page.sent('closeConversation')).toMatchObject([{ taskId: 'b' }]);
    expect(page.sent('closeConversation')[0].stop).toBeUndefined();
    page.publish({
      type: 'openTasksUpdated',
      openTasks: [TASKS[0], TASKS[2]]
    });
    expect(document.activeElement).toBe(tabs()[0]);
  });

  it('should close another one when the first is stopped at last', async () => {
    page.begin(
      showing(anItem({ id: 'a' }), {
        openTasks: TASKS.map(task => ({ ...task, status: 'idle' as const }))
      })
    );
    const crosses = page.findAll('.jp-hdspAgent-tab-close');
    page.act(() => crosses[1].click());
    page.act(() => crosses[2].click());
    expect(page.sent('closeConversation')).toHaveLength(1);
    await page.settle(() => page.answer('closeConversation'));
    expect(page.sent('closeConversation')).toMatchObject([
      { taskId: 'b' },
      { taskId: 'c' }
    ]);
  });

  it('should leave the focus where one writes when the last one goes', () => {
    page.begin(showing(anItem()));
    tabs()[0].focus();
    page.act(() => page.find('.jp-hdspAgent-tab-close')?.click());
    expect(page.sent('closeConversation')).toMatchObject([{ taskId: 'a' }]);
    page.publish({ type: 'openTasksUpdated', openTasks: [] });
    expect(document.activeElement).toBe(
      page.find('.jp-hdspAgent-composer-field')
    );
  });

  it('should ask about what works, and stop it only when one wants that', async () => {
    page.begin(
      showing(anItem({ id: 'a' }), {
        currentTaskStatus: 'running',
        openTasks: TASKS
      })
    );
    const cross = page.node.querySelector<HTMLElement>(
      '.jp-hdspAgent-tab-close'
    );
    await page.settle(() => cross?.click());
    expect(page.sent('closeConversation')).toHaveLength(0);
    const buttons = [
      ...document.querySelectorAll<HTMLElement>('.jp-Dialog button')
    ];
    const stop = buttons.find(one => one.textContent === 'Close and stop');
    await page.settle(() => stop?.click());
    expect(page.sent('closeConversation')).toMatchObject([
      { taskId: 'a', stop: true }
    ]);
  });

  it('should not ask about what is done, though the strip has not heard', async () => {
    page.begin(
      showing(anItem({ id: 'a' }), {
        currentTaskStatus: 'idle',
        openTasks: TASKS
      })
    );
    const cross = page.node.querySelector<HTMLElement>(
      '.jp-hdspAgent-tab-close'
    );
    await page.settle(() => cross?.click());
    expect(page.sent('closeConversation')).toMatchObject([{ taskId: 'a' }]);
  });

  it('should begin another conversation, and say why if that is refused', async () => {
    begin();
    page.act(() => page.button('New conversation').click());
    expect(page.sent('newConversation')).toHaveLength(1);
    expect(page.button('New conversation').disabled).toBe(true);
    await page.settle(() =>
      page.answer('newConversation', {
        code: 'some_code_without_translation',
        message: 'Not today.',
        params: {}
      })
    );
    expect(page.find('.jp-hdspAgent-strip [role="alert"]')?.textContent).toBe(
      'Not today.'
    );
    expect(page.button('New conversation').disabled).toBe(false);
  });

  describe('renaming', () => {
    const input = () =>
      document.querySelector<HTMLInputElement>('.jp-Dialog input');
    const called = (title: string) => ({ title });
    const rename = async (title: string) => {
      await page.settle();
      const field = input();
      if (field) {
        field.value = title;
      }
      await page.settle(() =>
        document
          .querySelector<HTMLElement>('.jp-Dialog-footer .jp-mod-accept')
          ?.click()
      );
    };

    afterEach(() => {
      Dialog.flush();
    });

    it('should be asked for by key, and leave other tabs alone', async () => {
      begin();
      tabs()[1].focus();
      press('F2');
      await page.settle();
      expect(input()?.value).toBe('Rows');
      expect(page.sent('showTaskWithId')).toEqual([]);
      await rename('Rows of 2025');
      expect(page.sent('renameTask')).toMatchObject([
        { taskId: 'b', ...called('Rows of 2025') }
      ]);
    });

    it('should be asked for by a double click, while the first click still shows it', async () => {
      begin();
      page.act(() => {
        tabs()[1].click();
        tabs()[1].click();
        tabs()[1].dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
      });
      expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'b' }]);
      await rename('Rows of 2025');
      expect(page.sent('renameTask')).toMatchObject([
        { taskId: 'b', ...called('Rows of 2025') }
      ]);
    });

    it('should say why it was refused', async () => {
      begin();
      tabs()[0].focus();
      press('F2');
      await rename('Sales of 2025');
      await page.settle(() =>
        page.answer('renameTask', {
          code: 'some_code_without_translation',
          message: 'Too long.',
          params: {}
        })
      );
      expect(page.find('.jp-hdspAgent-strip [role="alert"]')?.textContent).toBe(
        'Too long.'
      );
    });

    it('should not be offered for a conversation that has not begun', async () => {
      page.begin({ openTasks: TASKS });
      tabs().at(-1)?.focus();
      press('F2');
      await page.settle();
      expect(input()).toBeNull();
    });
  });

  it('should have a tab for a conversation that is yet to begin', () => {
    page.begin({ openTasks: TASKS });
    expect(tabs().at(-1)?.textContent).toBe('New conversation');
    expect(tabs().at(-1)?.getAttribute('aria-selected')).toBe('true');
  });

  it('should lead to the history and back', () => {
    begin();
    const history = () => page.button('Past conversations');
    page.act(() => history().click());
    expect(page.panel.services.state.page).toBe('history');
    expect(history().getAttribute('aria-pressed')).toBe('true');
    page.act(() => history().click());
    expect(page.panel.services.state.page).toBe('chat');
  });
});

import { OpenedPanel } from '../../__tests__/openedpanel';
import type { HistoryItem } from '../../../generated/wire';
import { addHeaderCommands } from '../../header/headercommands';
import { anItem, anOpenTask } from '../../header/__tests__/conversations';
import { RestServer, refusal } from './restserver';

const ITEMS = [
  anItem({ id: 'a', task: 'Plot the sales', ts: 3000 }),
  anItem({ id: 'b', task: 'Clean the rows', ts: 2000, childIds: ['s', 'u'] }),
  anItem({ id: 's', task: 'Read the rows', ts: 1000, parentTaskId: 'b' })
];

describe('HistoryView', () => {
  let page: OpenedPanel;
  let rest: RestServer;
  let listed: object;

  beforeEach(() => {
    rest = new RestServer();
    listed = { taskHistory: ITEMS, total: 3 };
    rest.answers.set('GET history', () => listed);
    rest.answers.set('GET history/places', () => ({
      workspaces: [{ path: '/work/project', tasks: 7 }],
      notebooks: [
        { path: 'a.ipynb', tasks: 3 },
        { path: 'deep/b.ipynb', tasks: 1 }
      ]
    }));
    page = new OpenedPanel();
    addHeaderCommands(page.panel.services);
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
    document.body.innerHTML = '';
  });

  async function open(): Promise<void> {
    page.begin({ openTasks: [] });
    page.act(() => {
      page.panel.services.state.page = 'history';
    });
    // The code comes first, then the page.
    for (let turn = 0; turn < 5; turn++) {
      await page.settle();
    }
  }

  function titles(): string[] {
    return page
      .findAll('.jp-hdspAgent-history-title')
      .map(({ textContent }) => textContent ?? '');
  }

  function set(
    selector: string,
    value: string,
    type: 'input' | 'change' = 'input'
  ): void {
    page.act(() => {
      const field = page.find(selector) as HTMLInputElement;
      const own = Object.getPrototypeOf(field) as object;
      Object.getOwnPropertyDescriptor(own, 'value')?.set?.call(field, value);
      field.dispatchEvent(new Event(type, { bubbles: true }));
    });
  }

  async function wait(milliseconds: number): Promise<void> {
    for (let passed = 0; passed <= milliseconds; passed += 20) {
      await page.settle();
    }
    await page.settle();
  }

  function publishItem(item: HistoryItem): void {
    page.publish({ type: 'taskHistoryItemUpdated', taskHistoryItem: item });
  }

  it('should list what the server keeps, subtasks below what they are part of', async () => {
    rest.answers.set('GET history/u', () =>
      anItem({ id: 'u', task: 'Drop the rows', parentTaskId: 'b' })
    );
    await open();
    expect(titles()).toEqual(['Plot the sales', 'Clean the rows']);
    page.act(() => page.button('2 subtasks').click());
    await wait(0);
    expect(titles()).toEqual([
      'Plot the sales',
      'Clean the rows',
      'Read the rows',
      'Drop the rows'
    ]);
  });

  it('should say how a conversation was left that nobody works on', async () => {
    listed = {
      taskHistory: [
        anItem({ id: 'p', state: 'paused' }),
        anItem({ id: 'f', state: 'failed' }),
        anItem({ id: 't', state: 'timeout' }),
        anItem({ id: 'c', status: 'completed' }),
        anItem({ id: 'w' })
      ],
      total: 5
    };
    await open();
    const labels = () =>
      page
        .findAll('.jp-hdspAgent-history-about')
        .map(row => row.querySelector('[data-phase], [data-state]'))
        .map(label => label?.textContent);
    expect(labels()).toEqual([
      'paused',
      'interrupted',
      'timed out',
      'done',
      undefined
    ]);
    page.publish({
      type: 'openTasksUpdated',
      openTasks: [anOpenTask('p', 'Plot', { status: 'running' })]
    });
    publishItem(anItem({ id: 'f' }));
    await wait(0);
    expect(labels()).toEqual([
      'working',
      undefined,
      'timed out',
      'done',
      undefined
    ]);
  });

  it('should search when one stops typing, best match first, and mark what was found', async () => {
    await open();
    listed = {
      taskHistory: [ITEMS[2]],
      total: 1,
      snippets: {
        s: {
          field: 'text',
          parts: [
            { text: 'all ', found: false },
            { text: 'rows', found: true }
          ]
        }
      }
    };
    set('input[type="search"]', 'ro');
    await wait(100);
    set('input[type="search"]', 'rows');
    await wait(300);
    expect(rest.of('GET history').map(({ query }) => query)).toEqual([
      { sort: 'newest' },
      { sort: 'mostRelevant', query: 'rows' }
    ]);
    expect(titles()).toEqual(['Read the rows']);
    expect(page.find('.jp-hdspAgent-history-snippet')?.innerHTML).toBe(
      'all <mark>rows</mark>'
    );
    set('input[type="search"]', '');
    await wait(300);
    expect(rest.of('GET history').at(-1)?.query).toEqual({ sort: 'newest' });
  });

  it('should mark what was found in a title, and not say the title twice', async () => {
    const found = (parts: object[]) => {
      listed = {
        taskHistory: [anItem({ id: 'a', task: 'Read all\nthe rows of it' })],
        total: 1,
        snippets: { a: { field: 'task', parts } }
      };
    };
    found([
      { text: 'Read all the ', found: false },
      { text: 'rows', found: true },
      { text: ' of…', found: false }
    ]);
    await open();
    expect(page.find('.jp-hdspAgent-history-title')?.innerHTML).toBe(
      'Read all the <mark>rows</mark> of it'
    );
    expect(page.find('.jp-hdspAgent-history-snippet')).toBeNull();
    // Far into a long first message it does add something.
    found([
      { text: '…', found: false },
      { text: 'rows', found: true },
      { text: ' of it', found: false }
    ]);
    set('input[type="search"]', 'rows');
    await wait(300);
    expect(page.find('.jp-hdspAgent-history-title')?.innerHTML).toBe(
      'Read all the rows of it'
    );
    expect(page.find('.jp-hdspAgent-history-snippet')?.innerHTML).toBe(
      '…<mark>rows</mark> of it'
    );
  });

  it('should offer every place there is, with how many conversations it has', async () => {
    await open();
    page.act(() => page.button('Filter by folder, notebook and date').click());
    await wait(0);
    const offered = (nth: number) =>
      page
        .findAll(`.jp-hdspAgent-history-more label:nth-child(${nth}) option`)
        .map(({ textContent }) => textContent);
    expect(offered(1)).toEqual(['Every folder', '/work/project (7)']);
    expect(offered(2)).toEqual([
      'Every notebook',
      'a.ipynb (3)',
      'deep/b.ipynb (1)'
    ]);
    set(
      '.jp-hdspAgent-history-more label:nth-child(1) select',
      '/work/project',
      'change'
    );
    await wait(0);
    expect(rest.of('GET history').at(-1)?.query).toEqual({
      sort: 'newest',
      workspace: '/work/project'
    });
  });

  it('should take the order and the favorites from the server', async () => {
    await open();
    set('.jp-hdspAgent-history-filters select', 'mostExpensive', 'change');
    page.act(() => page.button('Favorites only').click());
    await wait(0);
    expect(rest.of('GET history').at(-1)?.query).toEqual({
      sort: 'mostExpensive',
      favorites: 'true'
    });
  });

  it('should narrow the list to a notebook and to days', async () => {
    listed = {
      taskHistory: [anItem({ notebook: { path: 'a.ipynb' } })],
      total: 1
    };
    await open();
    page.act(() => page.button('Filter by folder, notebook and date').click());
    await wait(0);
    set(
      '.jp-hdspAgent-history-more label:nth-child(2) select',
      'a.ipynb',
      'change'
    );
    set('.jp-hdspAgent-history-more label:nth-child(3) input', '2026-01-30');
    set('.jp-hdspAgent-history-more label:nth-child(4) input', '2026-01-31');
    await wait(0);
    expect(rest.of('GET history').at(-1)?.query).toEqual({
      sort: 'newest',
      notebook: 'a.ipynb',
      since: String(new Date(2026, 0, 30).getTime()),
      until: String(new Date(2026, 1, 1).getTime())
    });
    expect(
      (
        page.find(
          '.jp-hdspAgent-history-more label:nth-child(4) input'
        ) as HTMLInputElement
      ).value
    ).toBe('2026-01-31');
  });

  it('should fetch what follows when one wants more', async () => {
    listed = { taskHistory: [ITEMS[0]], total: 2, nextCursor: 'c1' };
    await open();
    listed = { taskHistory: [ITEMS[1]], total: 2 };
    page.act(() => page.button('Show more').click());
    await wait(0);
    expect(rest.of('GET history').at(-1)?.query).toEqual({
      sort: 'newest',
      cursor: 'c1'
    });
    expect(titles()).toEqual(['Plot the sales', 'Clean the rows']);
    expect(() => page.button('Show more')).toThrow();
  });

  it('should stay as the server has it', async () => {
    await open();
    const title = 'Sales';
    publishItem({ ...ITEMS[0], title });
    expect(titles()[0]).toBe('Sales');
    publishItem(anItem({ id: 'n', task: 'New one', ts: 9000 }));
    expect(titles()).toEqual(['New one', 'Sales', 'Clean the rows']);
    page.publish({ type: 'taskHistoryItemsRemoved', taskIds: ['a'] });
    expect(titles()).toEqual(['New one', 'Clean the rows']);
    listed = { taskHistory: [], total: 0 };
    page.publish({ type: 'taskHistoryUpdated', taskHistory: [] });
    await wait(0);
    expect(page.find('.jp-hdspAgent-history')?.textContent).toContain(
      'There are no conversations yet.'
    );
  });

  it('should open a conversation', async () => {
    await open();
    page.act(() => page.find('.jp-hdspAgent-history-open')?.click());
    expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'a' }]);
    await page.settle(() => page.answer('showTaskWithId'));
    expect(page.panel.services.state.page).toBe('chat');
  });

  it('should say how many it deletes, and delete none when one is not sure', async () => {
    await open();
    page.publish({
      type: 'openTasksUpdated',
      openTasks: [anOpenTask('b', 'Clean the rows', { status: 'running' })]
    });
    for (const name of ['Plot the sales', 'Clean the rows']) {
      page.act(() => page.find(`[aria-label="Select “${name}”"]`)?.click());
    }
    const erase = async (answer: string) => {
      await page.settle(() => page.button('Delete 2 conversations…').click());
      const dialog = document.querySelector('.jp-Dialog');
      expect(dialog?.textContent).toContain('Delete 2 conversations?');
      expect(dialog?.textContent).toContain('stopped first');
      await page.settle(() =>
        dialog?.querySelector<HTMLElement>(answer)?.click()
      );
    };
    await erase('.jp-mod-reject');
    expect(page.sent('deleteMultipleTasksWithIds')).toHaveLength(0);
    await erase('.jp-mod-accept');
    expect(page.sent('closeConversation')).toMatchObject([
      { taskId: 'b', stop: true }
    ]);
    await page.settle(() => page.answer('closeConversation'));
    expect(page.sent('deleteMultipleTasksWithIds')).toMatchObject([
      { ids: ['a', 'b'] }
    ]);
    await page.settle(() => page.answer('deleteMultipleTasksWithIds'));
    expect(page.find('.jp-hdspAgent-history-selection')?.textContent).toContain(
      '3 conversations'
    );
  });

  it('should make a favorite of a conversation', async () => {
    await open();
    page.act(() => page.button('Favorite: “Plot the sales”').click());
    expect(page.sent('favoriteTask')).toMatchObject([
      { taskId: 'a', favorite: true }
    ]);
    await page.settle(() => page.answer('favoriteTask'));
    publishItem({ ...ITEMS[0], isFavorited: true });
    expect(
      page.button('Favorite: “Plot the sales”').getAttribute('aria-pressed')
    ).toBe('true');
  });

  it('should be walked through by arrows, and Delete asks', async () => {
    await open();
    const rows = page.findAll('.jp-hdspAgent-history-open');
    const press = (key: string) =>
      page.settle(() => {
        document.activeElement?.dispatchEvent(
          new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
        );
      });
    rows[0].focus();
    await press('ArrowDown');
    expect(document.activeElement).toBe(rows[1]);
    await press('Home');
    expect(document.activeElement).toBe(rows[0]);
    await press('Delete');
    expect(document.querySelector('.jp-Dialog')?.textContent).toContain(
      'Delete “Plot the sales”?'
    );
    await page.settle(() =>
      document.querySelector<HTMLElement>('.jp-Dialog .jp-mod-reject')?.click()
    );
    rows[0].focus();
    page.publish({ type: 'taskHistoryItemsRemoved', taskIds: ['a'] });
    expect(document.activeElement?.textContent).toContain('Clean the rows');
    await press('Escape');
    expect(page.panel.services.state.page).toBe('chat');
  });

  it('should say why the list does not come, and try again', async () => {
    rest.answers.set('GET history', () =>
      refusal('some_code_without_translation', 'The index is being made.')
    );
    await open();
    expect(page.find('[role="alert"]')?.textContent).toBe(
      'The index is being made.'
    );
    rest.answers.set('GET history', () => listed);
    page.act(() => page.button('Try again').click());
    await wait(0);
    expect(titles()).toHaveLength(2);
  });

  it('should say when nothing matches, and show all again', async () => {
    await open();
    listed = { taskHistory: [], total: 0 };
    set('input[type="search"]', 'nothing');
    await wait(300);
    expect(page.find('.jp-hdspAgent-history')?.textContent).toContain(
      'No conversation matches.'
    );
    listed = { taskHistory: ITEMS, total: 3 };
    page.act(() => page.button('Show all').click());
    await wait(0);
    expect(titles()).toHaveLength(2);
    expect((page.find('input[type="search"]') as HTMLInputElement).value).toBe(
      ''
    );
  });
});

import { ServerConnection } from '@jupyterlab/services';

import { OpenedPanel } from '../../__tests__/openedpanel';
import type { RecallFound } from '../../../generated/rest';
import type { HistoryItem } from '../../../generated/wire';
import { addHeaderCommands } from '../../header/headercommands';
import { CommandIDs } from '../../../ui/commandids';
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

  it('should name the other agent whose conversation it is, and not twice', async () => {
    const externalAgent = 'Claude Code';
    const title = 'Sales';
    listed = {
      taskHistory: [
        anItem({ id: 'a', task: externalAgent, externalAgent }),
        anItem({ id: 'b', task: externalAgent, title, externalAgent })
      ],
      total: 2
    };
    await open();
    const named = (id: string) =>
      page.find(`[data-task="${id}"]`)?.textContent?.split(externalAgent);
    expect(named('a')).toHaveLength(2);
    expect(named('b')).toHaveLength(2);
    expect(titles()).toEqual([externalAgent, title]);
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

  describe('Escape', () => {
    const leftPanel = jest.fn();

    beforeEach(() => {
      leftPanel.mockClear();
      document.addEventListener('keydown', leftPanel);
    });

    afterEach(() => {
      document.removeEventListener('keydown', leftPanel);
    });

    const press = () =>
      page.settle(() => {
        document.activeElement?.dispatchEvent(
          new KeyboardEvent('keydown', {
            key: 'Escape',
            bubbles: true,
            cancelable: true
          })
        );
      });
    const field = () =>
      page.find('.jp-hdspAgent-history [type="search"]') as HTMLInputElement;

    it('should end the search first, then go back to what opened the view', async () => {
      page.begin({ openTasks: [] });
      const opener = page.button('Past conversations');
      opener.focus();
      await open();
      field().focus();
      set('input[type="search"]', 'sales');
      await wait(300);
      await press();
      expect(field().value).toBe('');
      expect(rest.of('GET history').at(-1)?.query).toEqual({ sort: 'newest' });
      expect(document.activeElement).toBe(field());
      expect(page.panel.services.state.page).toBe('history');
      await press();
      await wait(0);
      expect(page.panel.services.state.page).toBe('chat');
      expect(document.activeElement).toBe(page.button('Past conversations'));
      expect(leftPanel).not.toHaveBeenCalled();
    });

    it('should end the search from the list too, and give up one just typed', async () => {
      await open();
      set('input[type="search"]', 'sales');
      await wait(300);
      page.find('.jp-hdspAgent-history-open')?.focus();
      await press();
      expect(field().value).toBe('');
      expect(document.activeElement).toBe(field());
      const before = rest.of('GET history').length;
      set('input[type="search"]', 'rows');
      await press();
      await wait(300);
      expect(
        rest
          .of('GET history')
          .slice(before)
          .map(({ query }) => query)
      ).toEqual([{ sort: 'newest' }]);
      expect(page.panel.services.state.page).toBe('history');
      expect(leftPanel).not.toHaveBeenCalled();
    });
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

  describe('passages that are found', () => {
    const cell = aPassage({
      kind: 'notebook',
      source: '/work/deep/rents.ipynb',
      path: 'deep/rents.ipynb',
      place: 'c7',
      text: 'rents = load()'
    });
    const note = aPassage({
      kind: 'memory',
      source: 'notes',
      place: '0',
      text: 'rents are cold'
    });

    async function search(query: string, ...found: RecallFound[]) {
      rest.answers.set('GET recall', () => ({ found }));
      await open();
      listed = { taskHistory: [ITEMS[1]], total: 1 };
      set('input[type="search"]', query);
      await wait(300);
    }

    function headings(): (string | null)[] {
      return page.findAll('h4').map(({ textContent }) => textContent);
    }

    function row(text: string): HTMLElement {
      const found = page
        .findAll('.jp-hdspAgent-history-open')
        .find(({ textContent }) => textContent?.includes(text));
      if (!found) {
        throw new Error(`No row “${text}” in ${page.node.innerHTML}`);
      }
      return found;
    }

    it('should stand below the conversations by kind, with what was looked for marked', async () => {
      await search(
        'rents',
        aPassage({ source: 'Old flats', text: 'cheap rents' }),
        cell,
        { ...cell, text: 'printed rents' },
        { ...cell, source: '/other/x.ipynb', path: undefined },
        note
      );
      expect(headings()).toEqual([
        'In other conversations',
        'In notebooks',
        'In memory'
      ]);
      expect(
        page
          .findAll('.jp-hdspAgent-history-found .jp-hdspAgent-history-open')
          .map(one => [
            one.querySelector('.jp-hdspAgent-history-title')?.textContent,
            one.querySelector('.jp-hdspAgent-history-snippet')?.innerHTML
          ])
      ).toEqual([
        ['Old flats', 'cheap <mark>rents</mark>'],
        ['rents.ipynb', '<mark>rents</mark> = load()'],
        ['Notes', '<mark>rents</mark> are cold']
      ]);
      expect(
        page.find('.jp-hdspAgent-history [role="status"]')?.textContent
      ).toBe('1 conversation, 3 other passages');
      // What was found stays while the list is sorted anew.
      set('select', 'newest', 'change');
      expect(
        page.find('.jp-hdspAgent-history [role="status"]')?.textContent
      ).toBe('3 other passages');
      await wait(0);
      page.act(() => page.button('In memory (1)').click());
      expect(document.activeElement?.textContent).toBe('In memory');
    });

    it('should be shown where their conversation stands, when it is listed', async () => {
      await search(
        'rents',
        aPassage({ source: 'b', place: '77', text: 'drop the rents' }),
        aPassage({ source: 'b', place: '78', text: 'rents again' })
      );
      expect(headings()).toEqual([]);
      expect(titles()).toEqual(['Clean the rows']);
      expect(page.find('.jp-hdspAgent-history-snippet')?.textContent).toBe(
        'drop the rents'
      );
      page.act(() => row('Clean the rows').click());
      await page.settle(() => page.answer('showTaskWithId'));
      expect(page.panel.services.state.wantedMessage).toEqual({
        taskId: 'b',
        ts: 77
      });
    });

    it('should go with their conversation, whether it is listed or not', async () => {
      await search(
        'rents',
        aPassage({ source: 'b', place: '77', text: 'drop the rents' }),
        aPassage({ source: 'z', place: '78', text: 'other rents' })
      );
      expect(headings()).toEqual(['In other conversations']);
      page.publish({ type: 'taskHistoryItemsRemoved', taskIds: ['b', 'z'] });
      await wait(0);
      expect(titles()).toEqual([]);
      expect(headings()).toEqual([]);
    });

    it('should not repeat a title, which opens the conversation at its end', async () => {
      await search(
        'rows',
        aPassage({ source: 'b', place: '1', text: 'Clean the rows' }, 'rows')
      );
      expect(page.find('.jp-hdspAgent-history-snippet')).toBeNull();
      page.act(() => row('Clean the rows').click());
      await page.settle(() => page.answer('showTaskWithId'));
      expect(page.panel.services.state.wantedMessage).toBeNull();
    });

    it('should open the message, the page of memory, or say what is gone', async () => {
      await search(
        'rents',
        aPassage({ source: 'Old', text: 'rents', place: '5' }),
        cell,
        note
      );
      page.act(() => row('cold').click());
      await wait(0);
      expect(page.openedSettings).toEqual(['memory']);
      page.act(() => row('rents.ipynb').click());
      await wait(0);
      expect(page.find('[role="alert"]')?.textContent).toBe(
        'deep/rents.ipynb no longer exists.'
      );
      page.act(() => row('Old').click());
      await page.settle(() => page.answer('showTaskWithId'));
      expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'Old' }]);
      expect(page.panel.services.state.wantedMessage).toEqual({
        taskId: 'Old',
        ts: 5
      });
    });

    it('should be reached with the arrows', async () => {
      await search(
        'rents',
        cell,
        aPassage({ ...cell, place: 'c8', text: 'more rents' })
      );
      row('load()').focus();
      page.act(() => {
        row('load()').dispatchEvent(
          new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true })
        );
      });
      expect(document.activeElement).toBe(row('more rents'));
    });

    it('should be asked for once one stops typing, and let go of what is no longer wanted', async () => {
      const signals: (AbortSignal | null | undefined)[] = [];
      await search('rents', cell);
      jest
        .mocked(ServerConnection.makeRequest)
        .mockImplementation((url, init) => {
          signals.push(url.includes('/recall') ? init.signal : null);
          return new Promise(() => undefined);
        });
      set('input[type="search"]', 'flats');
      await wait(300);
      set('input[type="search"]', 'houses');
      await wait(300);
      const asked = signals.filter(signal => signal instanceof AbortSignal);
      expect(asked.map(signal => signal.aborted)).toEqual([true, false]);
      expect(rest.of('GET recall').map(({ query }) => query)).toEqual([
        {
          query: 'rents',
          kinds: 'conversation,notebook,memory',
          limit: '40'
        }
      ]);
    });

    it('should be those of listed conversations only among favorites', async () => {
      await search('rents', cell);
      rest.answers.set('GET recall', () => ({
        found: [
          aPassage({ source: 'b', place: '7', text: 'favorite rents' }),
          aPassage({ source: 'z', place: '7', text: 'other rents' })
        ]
      }));
      page.act(() => page.button('Favorites only').click());
      await wait(0);
      expect(rest.of('GET recall').at(-1)?.query.kinds).toBe('conversation');
      expect(headings()).toEqual([]);
      expect(page.find('.jp-hdspAgent-history-snippet')?.textContent).toBe(
        'favorite rents'
      );
    });

    it('should say when there are none, and why they do not come', async () => {
      await search('rents');
      listed = { taskHistory: [], total: 0 };
      set('input[type="search"]', 'nothing');
      await wait(300);
      expect(page.find('.jp-hdspAgent-history')?.textContent).toContain(
        'Nothing matches in conversations, notebooks or memory.'
      );
      rest.answers.set('GET recall', () =>
        refusal('some_code_without_translation', 'The index is being made.')
      );
      set('input[type="search"]', 'rents');
      await wait(300);
      expect(page.find('.jp-hdspAgent-history')?.textContent).toContain(
        'Conversations, notebooks and memory could not be searched.'
      );
      rest.answers.set('GET recall', () => ({ found: [cell] }));
      page.act(() => page.button('Try again').click());
      await wait(0);
      expect(headings()).toEqual(['In notebooks']);
    });

    it('should be looked for by a command, with the focus in the field', async () => {
      rest.answers.set('GET recall', () => ({ found: [cell] }));
      page.commands.addCommand(CommandIDs.open, { execute: () => undefined });
      page.begin({ openTasks: [] });
      await page.during(() =>
        page.commands.execute(CommandIDs.search, { query: 'rents' })
      );
      await wait(100);
      const field = page.find('input[type="search"]') as HTMLInputElement;
      expect(document.activeElement).toBe(field);
      expect(field.value).toBe('rents');
      expect(headings()).toEqual(['In notebooks']);
      page.act(() => page.button('Usage').click());
      await page.during(() => page.commands.execute(CommandIDs.search));
      await wait(0);
      const again = page.find('input[type="search"]') as HTMLInputElement;
      expect(document.activeElement).toBe(again);
      expect(again.value).toBe('rents');
    });
  });
});

/** A message that was found, in which a word stands out. */
function aPassage(passage: Partial<RecallFound>, word = 'rents'): RecallFound {
  const { text = '' } = passage;
  const snippet = text
    .split(new RegExp(`(${word})`))
    .filter(part => part !== '')
    .map(part => ({ text: part, found: part === word }));
  return {
    kind: 'conversation',
    source: 'a',
    title: passage.path ?? passage.source ?? '',
    place: '1',
    ts: 1_000,
    author: 'agent',
    text,
    ...passage,
    snippet
  };
}

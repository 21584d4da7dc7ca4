import { fileIcon } from '@jupyterlab/ui-components';

import type {
  CommitSearchResultsMessage,
  GitCommit
} from '../../../../generated/wire';
import type { ISuggestion } from '../suggestions';
import { mentionOf, rank, replaced, triggerAt } from '../suggestions';
import { settings } from '../../../asks/__tests__/openedask';
import { RestServer, refusal } from '../../../history/__tests__/restserver';
import { READY, WORKING, WrittenPanel } from '../../__tests__/openedcomposer';

const PLOT_THE_SALES = 'Plot the sales';

describe('triggerAt', () => {
  it.each([
    ['@', 1, 'mention', 0, ''],
    ['look at @da', 11, 'mention', 8, 'da'],
    ['look at @/data/a', 16, 'mention', 8, 'data/a'],
    ['a\n@my\\ file', 11, 'mention', 2, 'my file'],
    ['@https://a.org/@b', 17, 'mention', 0, 'https://a.org/@b'],
    ['/', 1, 'command', 0, ''],
    ['/com', 4, 'command', 0, 'com'],
    ['/com pact', 3, 'command', 0, 'co']
  ])('should find in %j at %d a %s', (text, caret, kind, start, query) => {
    expect(triggerAt(text, caret)).toEqual({ kind, start, query });
  });

  it.each([
    ['me@home.org', 11],
    ['see /tmp', 8],
    ['@done ', 6],
    ['/compact now', 12]
  ])('should find nothing in %j at %d', (text, caret) => {
    expect(triggerAt(text, caret)).toBeNull();
  });
});

describe('rank', () => {
  const suggestion = (label: string, detail?: string): ISuggestion => ({
    key: label,
    icon: fileIcon,
    label,
    ...(detail ? { detail } : {}),
    choice: { kind: 'insert', text: label }
  });

  it('should find what has the letters in their order, likeliest first', () => {
    const found = rank(
      [suggestion('Readme'), suggestion('model.py'), suggestion('demo')],
      'DEM'
    );
    expect(found.map(({ suggestion }) => suggestion.label)).toEqual(['demo']);
    expect(found[0].found).toEqual([0, 1, 2]);
  });

  it('should look into descriptions too, which count less', () => {
    const found = rank(
      [suggestion('Cell 1', 'plot(x)'), suggestion('plot.py')],
      'plot'
    );
    expect(found.map(({ suggestion }) => suggestion.label)).toEqual([
      'plot.py',
      'Cell 1'
    ]);
  });
});

it('should write mentions with their blanks escaped', () => {
  expect(mentionOf('a b/c.csv')).toBe('@/a\\ b/c.csv');
  expect(replaced('see @da now', 4, 7, '@/data')).toEqual({
    text: 'see @/data now',
    caret: 10
  });
});

describe('the suggestions of the composer', () => {
  let page: WrittenPanel;

  beforeEach(() => {
    page = new WrittenPanel();
    page.begin(READY);
  });

  afterEach(() => {
    page.dispose();
  });

  const labels = () =>
    page
      .findAll('[role="option"] .jp-hdspAgent-suggestion-label')
      .map(node => node.textContent);
  const selected = () => page.find('[role="option"][aria-selected="true"]')?.id;

  /** Type, and let the server find these files, where there is no Git. */
  async function find(text: string, ...paths: string[]): Promise<void> {
    await findWith({ commits: [], error: 'No repository' }, text, ...paths);
  }

  /** The same with these commits. */
  async function findWith(
    found: Pick<CommitSearchResultsMessage, 'commits' | 'error'>,
    text: string,
    ...paths: string[]
  ): Promise<void> {
    page.type(text);
    page.wait(200);
    await page.settle();
    page.publish(
      {
        type: 'fileSearchResults',
        results: paths.map(path => ({
          path,
          type: path.endsWith('/') ? 'folder' : 'file'
        }))
      },
      { type: 'commitSearchResults', ...found }
    );
    await page.settle(() => {
      page.answer('searchFiles');
      page.answer('searchCommits');
    });
  }

  it('should offer files, and write the one that is chosen', async () => {
    await find('look at @da', 'data/a b.csv', 'day.py');
    expect(page.sent('searchFiles')).toMatchObject([{ query: 'da' }]);
    expect(labels()).toEqual(['a b.csv', 'day.py']);
    expect(page.field.getAttribute('role')).toBe('combobox');
    expect(page.field.getAttribute('aria-expanded')).toBe('true');
    expect(page.field.getAttribute('aria-activedescendant')).toBe(selected());
    expect(page.field.getAttribute('aria-controls')).toBe(
      page.find('[role="listbox"]')?.id
    );
    page.press('ArrowDown');
    page.press('ArrowDown');
    page.press('ArrowUp');
    page.press('ArrowUp');
    await page.settle(() => page.press('Enter'));
    expect(page.field.value).toBe('look at @/data/a\\ b.csv ');
    expect(page.find('[role="listbox"]')).toBeNull();
    expect(page.field.hasAttribute('role')).toBe(false);
    expect(page.sent('newTask')).toEqual([]);
  });

  describe('of MCP servers', () => {
    let rest: RestServer;

    beforeEach(() => {
      rest = new RestServer();
      const server = {
        name: 'db',
        status: 'connected',
        disabled: false,
        resources: [{ uri: 'table://my sales', name: 'sales' }]
      };
      rest.answers.set('GET mcp/servers', () => ({
        servers: [server, { ...server, name: 'off', disabled: true }]
      }));
    });

    afterEach(() => rest.dispose());

    it('should offer what they have to read, and start none for it', async () => {
      page.begin({ ...READY, settings: settings({ mcpEnabled: true }) });
      await find('@sal');
      await page.settle();
      expect(rest.of('GET mcp/servers')).toHaveLength(1);
      expect(labels()).toEqual(['sales']);
      await page.settle(() => page.press('Enter'));
      expect(page.field.value).toBe('@db:table://my\\ sales ');
    });

    it('should not ask where none are used, and do without where that fails', async () => {
      page.begin({ ...READY, settings: settings({ mcpEnabled: false }) });
      await find('@sal', 'sales.csv');
      expect(rest.of('GET mcp/servers')).toEqual([]);
      page.begin({ ...READY, settings: settings({ mcpEnabled: true }) });
      rest.answers.set('GET mcp/servers', () => refusal('odd', 'Broken.'));
      page.type('');
      await find('@sal', 'sales.csv');
      await page.settle();
      expect(labels()).toEqual(['sales.csv']);
      expect(page.node.textContent).not.toContain('Broken.');
    });
  });

  it('should go on in a folder that is chosen', async () => {
    await find('@d', 'data/');
    await page.settle(() => page.press('Tab'));
    expect(page.field.value).toBe('@/data/');
    page.wait(200);
    await page.settle();
    expect(page.sent('searchFiles').at(-1)).toMatchObject({ query: 'data/' });
  });

  it('should close by Escape, and stay closed for this word', async () => {
    await find('@d', 'data/');
    expect(page.field.hasAttribute('data-lm-suppress-shortcuts')).toBe(true);
    expect(page.press('Escape').defaultPrevented).toBe(true);
    expect(page.find('[role="listbox"]')).toBeNull();
    expect(page.field.hasAttribute('data-lm-suppress-shortcuts')).toBe(false);
    page.type('@da');
    expect(page.find('[role="listbox"]')).toBeNull();
    page.type('@da @x');
    expect(page.find('.jp-hdspAgent-suggestions')).not.toBeNull();
    expect(page.press('Escape').defaultPrevented).toBe(true);
    expect(page.press('Escape').defaultPrevented).toBe(false);
  });

  it('should not write what another query found', async () => {
    await find('look at @da', 'data/a.csv', 'day.py');
    page.type('look at @day');
    expect(labels()).toEqual(['day.py']);
    page.type('look at @dayz');
    expect(labels()).toEqual([]);
    await page.settle(() => page.press('Enter'));
    expect(page.sent('newTask')).toMatchObject([{ text: 'look at @dayz' }]);
  });

  it('should not write into a text that came in another way', async () => {
    await find('look at @da', 'data/a.csv');
    page.act(() =>
      page.panel.services.state.setDraft(null, { text: 'Explain @daily' })
    );
    expect(page.find('[role="listbox"]')).toBeNull();
    await page.settle(() => page.press('Enter'));
    expect(page.sent('newTask')).toMatchObject([{ text: 'Explain @daily' }]);
  });

  it('should not write into the same text of another conversation', async () => {
    await find('@da', 'data/a.csv');
    page.act(() => page.panel.services.state.setDraft('t', { text: '@da' }));
    page.publish({ type: 'state', state: WORKING });
    expect(page.find('[role="listbox"]')).toBeNull();
    await page.settle(() => page.press('Enter'));
    expect(page.sent('queueMessage')).toMatchObject([{ text: '@da' }]);
  });

  it('should say when nothing is found, and let Enter send then', async () => {
    await find('@nothing');
    expect(
      page.find('.jp-hdspAgent-suggestions [role="status"]')?.textContent
    ).toBe('Nothing found');
    await page.settle(() => page.press('Enter'));
    expect(page.sent('newTask')).toHaveLength(1);
  });

  it('should say why files cannot be searched', async () => {
    page.type('@d');
    page.wait(200);
    await page.settle();
    await page.settle(() =>
      page.answer('searchFiles', { code: 'nothing_known', message: 'No disk.' })
    );
    expect(
      page.find('.jp-hdspAgent-suggestions [role="alert"]')?.textContent
    ).toBe('No disk.');
  });

  describe('of what is elsewhere', () => {
    let rest: RestServer;

    beforeEach(() => {
      rest = new RestServer();
    });

    afterEach(() => {
      rest.dispose();
    });

    const attachments = () => page.panel.services.state.draft(null).attachments;

    it('should be conversations, once it is clear what is sought', async () => {
      rest.answers.set('GET history', () => ({
        taskHistory: [
          { id: 'a', number: 1, ts: 1, task: 'Plot the sales', totalCost: 0 },
          {
            id: 'b',
            number: 2,
            ts: 2,
            task: 'a part of it',
            parentTaskId: 'a',
            totalCost: 0
          }
        ],
        total: 2
      }));
      const sought = () =>
        rest.of('GET history').flatMap(({ query }) => query.query ?? []);
      await find('@pl');
      expect(sought()).toEqual([]);
      await find('@plo');
      expect(sought()).toEqual(['plo']);
      expect(labels()).toEqual(['Plot the sales']);
      await page.settle(() => page.press('Enter'));
      expect(page.field.value).toBe('');
      expect(attachments()).toEqual([
        {
          kind: 'conversation',
          path: 'a',
          cellId: null,
          label: PLOT_THE_SALES,
          content: null
        }
      ]);
    });

    it('should be checkpoints, by what they were made for', async () => {
      rest.answers.set('GET checkpoints', () => ({
        workspace: '/work',
        operations: [
          {
            id: 'o2',
            ts: 2,
            kind: 'restore',
            status: 'done',
            parts: [],
            checkpoint: { id: 'c2', ts: 2, kind: 'note', reason: 'no save' }
          },
          {
            id: 'o1',
            ts: 1,
            kind: 'save',
            status: 'done',
            parts: [],
            checkpoint: { id: 'c1', ts: 1, kind: 'note', reason: 'all is well' }
          }
        ],
        more: false,
        store: {}
      }));
      await find('@well');
      expect(labels()).toHaveLength(1);
      expect(labels()[0]).toMatch(/^Checkpoint .*: all is well$/);
      await page.settle(() => page.press('Enter'));
      expect(attachments()).toMatchObject([
        { kind: 'checkpoint', path: 'c1', content: null }
      ]);
    });

    it('should be a web page, if pages may be read', async () => {
      await find('@https://a.org/x');
      expect(labels()).toEqual([]);
      page.publish({
        type: 'state',
        state: { ...READY, settings: settings({ fetchUrlEnabled: true }) }
      });
      await find('@https://a.org/x?y');
      expect(labels()).toEqual(['https://a.org/x?y']);
      await page.settle(() => page.press('Enter'));
      expect(attachments()).toMatchObject([
        { kind: 'page', path: 'https://a.org/x?y', content: null }
      ]);
      await find('@https://a');
      expect(labels()).toEqual([]);
    });
  });

  describe('of Git', () => {
    const commit = (number: number): GitCommit => ({
      hash: `${number}`.repeat(40),
      shortHash: `${number}`.repeat(7),
      subject: `Fix plot ${number}`,
      author: 'Ada',
      date: '2026-01-02'
    });
    const all = { commits: [1, 2, 3, 4, 5, 6, 7].map(commit) };
    const many = Array.from({ length: 60 }, (_, index) => `f${index}.py`);

    it('should be the changes above the files, and a few commits below', async () => {
      await findWith(all, '@', ...many);
      expect(page.sent('searchCommits')).toMatchObject([{ query: '' }]);
      expect(labels()).toHaveLength(40);
      expect(labels()[0]).toBe('Changes since the last commit');
      expect(labels().slice(-6)).toEqual([
        'f33.py',
        'Fix plot 1',
        'Fix plot 2',
        'Fix plot 3',
        'Fix plot 4',
        'Fix plot 5'
      ]);
    });

    it('should be nothing without a repository', async () => {
      await find('@', 'a.py');
      expect(labels()).toEqual(['a.py']);
    });

    it('should write a commit by its short hash', async () => {
      await findWith({ commits: [commit(3)] }, 'see @plo');
      expect(page.sent('searchCommits')).toMatchObject([{ query: 'plo' }]);
      expect(labels()).toEqual(['Fix plot 3']);
      expect(page.find('[role="option"]')?.title).toContain(
        '3333333 — Ada, 2026-01-02'
      );
      await page.settle(() => page.press('Enter'));
      expect(page.field.value).toBe('see @3333333 ');
    });

    it('should write the changes, and send them once they are written', async () => {
      await findWith(all, '@chan');
      page.act(() => page.find('[role="option"]')?.click());
      expect(page.field.value).toBe('@git-changes ');
      await findWith({ commits: [] }, '@git-changes');
      await page.settle(() => page.press('Enter'));
      expect(page.sent('newTask')).toMatchObject([{ text: '@git-changes' }]);
    });

    it('should not be searched for by one letter, or in a path', async () => {
      await findWith(all, '@');
      page.type('@7');
      page.wait(200);
      await page.settle();
      expect(labels()).toEqual([]);
      page.type('@p');
      page.wait(200);
      await page.settle();
      expect(labels()).toHaveLength(5);
      page.type('@/plot');
      page.wait(200);
      await page.settle();
      expect(labels()).toEqual([]);
      expect(page.sent('searchCommits')).toHaveLength(1);
    });

    it('should search one query at a time', async () => {
      page.type('@pl');
      page.wait(200);
      await page.settle();
      page.type('@plo');
      page.wait(200);
      page.type('@plot');
      page.wait(200);
      await page.settle();
      expect(page.sent('searchCommits')).toMatchObject([{ query: 'pl' }]);
      page.publish({ type: 'commitSearchResults', commits: [commit(1)] });
      await page.settle(() => page.answer('searchCommits'));
      // What an older query found is not offered.
      expect(labels()).toEqual([]);
      expect(page.sent('searchCommits').slice(1)).toMatchObject([
        { query: 'plot' }
      ]);
    });
  });

  describe('of commands', () => {
    async function open(text: string): Promise<void> {
      page.type(text);
      page.publish(
        {
          type: 'commands',
          commands: [
            {
              name: 'init',
              source: 'built-in',
              description: 'Write AGENTS.md'
            },
            { name: 'review', source: 'project', argumentHint: '<file>' }
          ]
        },
        { type: 'modes', modes: [{ slug: 'architect', name: 'Architect' }] }
      );
      await page.settle(() => {
        page.answer('requestCommands');
        page.answer('requestModes');
      });
    }

    it('should tell what they do, with the modes', async () => {
      await open('/');
      expect(labels()).toEqual(['init', 'review', 'architect']);
      expect(page.find('[role="listbox"]')?.textContent).toContain(
        'Write AGENTS.md'
      );
    });

    it('should write a command, and send one that is written out', async () => {
      await open('/rev');
      await page.settle(() => page.press('Enter'));
      expect(page.field.value).toBe('/review ');
      await open('/review');
      await page.settle(() => page.press('Enter'));
      expect(page.sent('newTask')).toMatchObject([{ text: '/review' }]);
    });

    it('should take what the mouse was pressed on, wherever it is when it comes up', async () => {
      await open('/rev');
      const press = (type: string) =>
        page
          .find('[role="option"]')
          ?.dispatchEvent(
            new MouseEvent(type, { bubbles: true, cancelable: true, detail: 1 })
          );
      await page.settle(() => press('mousedown'));
      expect(page.field.value).toBe('/review ');
      // What is there now is not meant.
      await open('/rev');
      await page.settle(() => press('click'));
      expect(page.field.value).toBe('/rev');
    });

    it('should switch to a mode and take the word away', async () => {
      await open('/arch');
      await page.settle(() =>
        page
          .find('[role="option"]')
          ?.dispatchEvent(new MouseEvent('click', { bubbles: true }))
      );
      expect(page.sent('mode')).toMatchObject([{ text: 'architect' }]);
      expect(page.field.value).toBe('');
    });
  });
});

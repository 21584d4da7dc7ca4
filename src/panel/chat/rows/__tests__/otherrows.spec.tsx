import type {
  ClineMessage,
  Ending,
  ExtensionState,
  HistoryItem,
  RecalledItem
} from '../../../../generated/wire';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows, USER } from './shownrows';

describe('other rows', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  it('should say what condensing has brought', async () => {
    await rows.show({
      say: 'condense_context',
      contextCondense: {
        cost: 0.02,
        prevContextTokens: 150_000,
        newContextTokens: 9_000,
        summary: 'We **plot**.'
      }
    });
    expect(rows.row(2).textContent).toContain('150K → 9K tokens');
    expect(rows.row(2).textContent).toContain('$0.02');
    await rows.click('What the model remembers');
    expect(rows.row(2).textContent).toContain('plot');
  });

  it('should advise a new conversation from the second condensing on', async () => {
    const contextCondense = {
      cost: 0,
      prevContextTokens: 150_000,
      newContextTokens: 9_000,
      summary: 'We plot.'
    };
    await rows.show(
      { say: 'condense_context', contextCondense },
      { ts: 3, say: 'condense_context', contextCondense }
    );
    expect(rows.row(2).textContent).not.toContain('less accurate');
    expect(rows.row(3).textContent).toContain('less accurate');
  });

  describe('what an answer was given for', () => {
    const answer: ClineMessage = {
      ts: 2,
      type: 'say',
      say: 'completion_result',
      text: 'Plotted.',
      partial: false
    };
    const item = (
      kind: RecalledItem['kind'],
      source: string,
      title: string,
      more: Partial<RecalledItem> = {}
    ): RecalledItem => ({ kind, source, title, ...more });
    const told = [
      item('note', 'n1', 'Use polars', { told: true }),
      item('learned', 'memory_summary.md', 'summary', { told: true })
    ];

    it('should stand below it in a line, and lead to all of it', async () => {
      await rows.show({
        ...answer,
        recalled: [
          ...told,
          item('conversation', 'z', 'Old flats', { place: '77' }),
          item('conversation', 'z', 'Old flats', { place: '78' }),
          item('notebook', '/w/a.ipynb', 'a.ipynb')
        ]
      });
      const line =
        'From memory and search: 1 note, 1 memory file, 1 conversation, 1 notebook';
      expect(rows.row(2).textContent).toBe(`Plotted.${line}`);
      await rows.click(line);
      const lists = rows.row(2).querySelectorAll('ul');
      expect([...lists].map(list => list.children.length)).toEqual([2, 2]);
      await rows.click('Use polars');
      expect(page.openedSettings).toEqual(['memory']);
      await rows.click('Old flats');
      await page.settle(() => page.answer('showTaskWithId'));
      expect(page.panel.services.state.wantedMessage).toEqual({
        taskId: 'z',
        ts: 77
      });
    });

    it('should not be spoken of where it is nothing, or not whole yet', async () => {
      await rows.show(
        { ...answer, recalled: [] },
        { ...answer, ts: 3, partial: true, recalled: [...told] }
      );
      expect(page.node.textContent).not.toContain('From memory and search');
    });
  });

  describe('how a request to a small model ended', () => {
    const result = (ending: Ending): ClineMessage => ({
      ts: 2,
      type: 'say',
      say: 'completion_result',
      text: 'The sum is 6.',
      partial: false,
      ending
    });
    const line = () =>
      rows.row(2).querySelector('.jp-hdspAgent-chat-ending')?.textContent;

    it('should say what was checked, and nothing of what shows little', async () => {
      await rows.show(
        result({
          state: 'checked',
          checks: [
            { code: 'runs', params: { cell: 3 } },
            { code: 'fixed', params: { cell: 3, calls: ['mean'] } },
            { code: 'exists', params: { name: 'rent_eur' } }
          ],
          putBack: false
        })
      );
      expect(line()).toBe(
        'Checked: cell 3 runs now and still calls mean; rent_eur is there now.'
      );
    });

    it('should warn of what nobody has checked', async () => {
      await rows.show(
        result({ state: 'unchecked', checks: [], putBack: false })
      );
      expect(line()).toBe('Not checked. Look at the result before you use it.');
    });

    it('should say that what was asked for at a cell was not run', async () => {
      await rows.show({
        ...result({
          state: 'unchecked',
          checks: [{ code: 'changed', params: { cell: 3 } }],
          putBack: false
        }),
        text: 'In English.'
      });
      expect(rows.row(2).textContent).toBe(
        'Cell 3 was changed but not run. Look at it before you run it.'
      );
    });

    const undone: Ending = {
      state: 'not_done',
      checks: [],
      reason: { code: 'missing', params: { name: 'rent_eur' } },
      putBack: true
    };
    const why =
      'Not done. There is no rent_eur yet. Your cells are as they were.';

    it('should say that the cells are as they were, and why', async () => {
      await rows.show({ ...result(undone), say: 'text' });
      expect(rows.row(2).textContent).toBe(why);
    });

    it('should show what the last try showed, and no line twice', async () => {
      await rows.show({ ...result(undone), text: 'In English.' });
      expect(rows.row(2).textContent).toBe(why);
      await rows.show({
        ...result(undone),
        ts: 3,
        text: '```text\nCell 2 failed: KeyError\n```'
      });
      expect(rows.row(3).textContent).toContain('Cell 2 failed: KeyError');
      expect(rows.row(3).textContent).toContain(why);
    });
  });

  describe('subtasks', () => {
    const begin = (ts: number, content: string): ClineMessage => ({
      ts,
      type: 'ask',
      ask: 'tool',
      isAnswered: true,
      text: JSON.stringify({ tool: 'newTask', mode: 'ask', content })
    });
    const result = (ts: number): ClineMessage => ({
      ts,
      type: 'say',
      say: 'subtask_result',
      text: 'Found.'
    });
    const open = async (
      item: Partial<HistoryItem>,
      change: ExtensionState = {}
    ) => {
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
          ...item
        },
        clineMessages: [
          USER,
          begin(2, 'Look it up'),
          result(3),
          begin(4, 'Look again')
        ],
        ...change
      });
      // What all of them cost together is asked for too.
      await page.settle(() => page.answer('getTaskWithAggregatedCosts'));
    };
    const opens = async (ts: number) => {
      const button = [...rows.row(ts).querySelectorAll('button')].find(
        ({ textContent }) => textContent === 'Open the subtask'
      );
      if (!button) {
        return null;
      }
      await page.settle(() => button.click());
      await page.settle(() => page.answer('showTaskWithId'));
      return page.sent('showTaskWithId').at(-1)?.taskId;
    };

    it('should each be led to, while worked on and when done', async () => {
      await open({
        childIds: ['first', 'second'],
        awaitingChildId: 'second',
        completedByChildId: 'first'
      });
      expect(rows.row(2).textContent).toContain('Look it up');
      expect(await opens(2)).toBe('first');
      expect(await opens(3)).toBe('first');
      expect(await opens(4)).toBe('second');
    });

    it.each([
      ['one of them was taken back', ['first', 'gone', 'second'], {}],
      [
        'older ones are not here',
        ['first', 'second'],
        { hasOlderMessages: true }
      ]
    ] as const)(
      'should be led to only where it is sure which one it was: %s',
      async (_, childIds, change) => {
        await open(
          {
            childIds: [...childIds],
            awaitingChildId: 'second',
            completedByChildId: 'first'
          },
          change
        );
        expect(await opens(2)).toBeNull();
        expect(await opens(3)).toBe('first');
        expect(await opens(4)).toBe('second');
      }
    );
  });

  it('should put a kind of another version in names and values, not JSON', async () => {
    await rows.show({
      say: 'some_new_kind' as never,
      text: JSON.stringify({ colour: 'blue', sizes: [1, 2] })
    });
    await rows.click('Details');
    expect(rows.row(2).textContent).toBe('Detailscolourbluesizes1, 2');
  });

  it('should show the answer of a tool server with its call', async () => {
    await rows.show(
      {
        type: 'ask',
        ask: 'use_mcp_server',
        isAnswered: true,
        text: JSON.stringify({
          serverName: 'files',
          type: 'use_mcp_tool',
          toolName: 'find',
          arguments: '{}'
        })
      },
      { ts: 3, say: 'mcp_server_response', text: 'found it' }
    );
    expect(rows.row(2).textContent).toContain('files: find');
    await rows.click('Output');
    expect(rows.row(2).textContent).toContain('found it');
  });
});

import type { ClineMessage } from '../../../../generated/wire';
import { CommandIDs } from '../../../../ui/commandids';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows } from '../../rows/__tests__/shownrows';

describe('ReviewActions', () => {
  let rows: ShownRows;
  let page: OpenedPanel;
  let waiting: Map<string, number>;
  let done: [command: string, path: unknown][];

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
    waiting = new Map();
    done = [];
  });

  afterEach(() => {
    page.dispose();
  });

  const addCommands = (fails = false) => {
    for (const id of [CommandIDs.keepAll, CommandIDs.undoAll]) {
      page.commands.addCommand(id, {
        dataset: ({ path }) => ({
          count: String((typeof path === 'string' && waiting.get(path)) || 0)
        }),
        execute: ({ path }) => {
          done.push([id, path]);
          if (fails) {
            throw new Error('The notebook is closed.');
          }
        }
      });
    }
  };
  const wait = (path: string, count: number) => {
    waiting.set(path, count);
    page.act(() => page.commands.notifyCommandChanged(CommandIDs.keepAll));
  };
  const edit = (ts: number, path: string): ClineMessage => ({
    ts,
    type: 'ask',
    ask: 'tool',
    isAnswered: true,
    text: JSON.stringify({
      tool: 'editCells',
      path,
      diffStats: { added: 1, removed: 0 }
    })
  });
  const actions = () => page.findAll('.jp-hdspAgent-reviewActions');
  const FILES = [edit(2, 'a.ipynb'), edit(3, 'b.ipynb'), edit(4, 'c.ipynb')];

  it('should not be there where nothing can be reviewed', async () => {
    waiting.set('a.ipynb', 1);
    await rows.show(...FILES);
    expect(actions()).toEqual([]);
  });

  it('should be there as long as changes of the agent wait', async () => {
    addCommands();
    await rows.show(...FILES);
    expect(actions()).toEqual([]);
    wait('other.ipynb', 5);
    expect(actions()).toEqual([]);
    wait('a.ipynb', 2);
    expect(page.find('.jp-hdspAgent-filechanges')?.contains(actions()[0])).toBe(
      true
    );
    expect(page.button('Keep all (2)')).not.toBeNull();
    wait('b.ipynb', 1);
    expect(page.button('Keep all (3)')).not.toBeNull();
    wait('a.ipynb', 0);
    wait('b.ipynb', 0);
    expect(actions()).toEqual([]);
  });

  it.each([
    ['Keep all (3)', CommandIDs.keepAll],
    ['Undo all', CommandIDs.undoAll]
  ])(
    'should do it in each notebook in which some wait: %s',
    async (label, id) => {
      addCommands();
      await rows.show(...FILES);
      wait('a.ipynb', 2);
      wait('c.ipynb', 1);
      await rows.click(label);
      expect(done).toEqual([
        [id, 'a.ipynb'],
        [id, 'c.ipynb']
      ]);
    }
  );

  it('should say why it could not be done', async () => {
    addCommands(true);
    await rows.show(...FILES);
    wait('a.ipynb', 1);
    await rows.click('Undo all');
    expect(actions()[0].querySelector('[role="alert"]')?.textContent).toContain(
      'The notebook is closed.'
    );
  });

  it('should be beside what says that the agent is done, and nowhere else', async () => {
    addCommands();
    await rows.show(...FILES, { ts: 5, type: 'ask', ask: 'completion_result' });
    wait('a.ipynb', 1);
    expect(actions()).toHaveLength(1);
    expect(page.find('.jp-hdspAgent-ask')?.contains(actions()[0])).toBe(true);
  });

  it('should listen no more when it is gone', async () => {
    addCommands();
    await rows.show(...FILES);
    wait('a.ipynb', 1);
    page.publish({ type: 'state', state: {} });
    expect(() => wait('a.ipynb', 2)).not.toThrow();
    expect(actions()).toEqual([]);
  });
});

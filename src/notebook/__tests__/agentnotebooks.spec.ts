import type { YNotebook } from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';

import type {
  ApplyNotebookOperationsMessage,
  GlobalSettings,
  JsonValue
} from '../../generated/wire';
import type { IAgentChange } from '../agentnotebooks';
import { OpenedNotebook } from './openednotebook';

describe('the notebooks as the agent changes them', () => {
  let opened: OpenedNotebook;

  beforeEach(async () => {
    opened = await OpenedNotebook.open();
  });

  afterEach(() => opened.close());

  const ask = (
    opId: string,
    others: Partial<ApplyNotebookOperationsMessage> = {}
  ) =>
    opened.client.receive({
      type: 'applyNotebookOperations',
      opId,
      path: opened.path,
      operations: [
        {
          op: 'insertCell',
          cellId: `new-${opId}`,
          cellType: 'code',
          source: 'x'
        }
      ],
      save: false,
      review: false,
      ...others
    });

  const answers = () => opened.client.of('notebookOperationsResult');
  const told = () => opened.client.of('openNotebooks');

  it('does what it is asked, saves, and tells what became of it', async () => {
    ask('1', { save: true });
    await opened.settle();
    expect(opened.sources[0]).toBe('x');
    expect(opened.model.dirty).toBe(false);
    expect(answers()).toMatchObject([
      { opId: '1', status: 'applied', saved: true }
    ]);
  });

  it('saves once at a time, whoever saves', async () => {
    const states: string[] = [];
    opened.context.saveState.connect((_, state) => states.push(state));
    ask('1', { save: true });
    const own = opened.context.save();
    ask('2', { save: true });
    await Promise.all([own, opened.context.save()]);
    await opened.settle(300);
    expect(states).toEqual(
      Array.from({ length: 4 }, () => ['started', 'completed']).flat()
    );
    expect(answers()).toMatchObject([{ saved: true }, { saved: true }]);
  });

  it('does an operation once, however often it is asked', async () => {
    ask('1');
    ask('1');
    await opened.settle();
    ask('1');
    await opened.settle();
    expect(opened.ids.filter(id => id === 'new-1')).toHaveLength(1);
    expect(answers()).toHaveLength(3);
    expect(new Set(answers().map(answer => JSON.stringify(answer))).size).toBe(
      1
    );
  });

  it('answers for a notebook that is not open', async () => {
    ask('1', { path: 'elsewhere.ipynb' });
    await opened.settle();
    expect(answers()).toMatchObject([{ status: 'notOpen', saved: false }]);
  });

  it('changes nothing that may not be changed', async () => {
    opened.model.readOnly = true;
    ask('1');
    await opened.settle();
    expect(answers()).toMatchObject([{ status: 'readOnly' }]);
    expect(opened.ids).not.toContain('new-1');
  });

  it('tells which operations do not fit', async () => {
    ask('1', { operations: [{ op: 'deleteCell', cellId: 'nowhere' }] });
    await opened.settle();
    expect(answers()).toMatchObject([
      { status: 'mismatch', mismatches: [{ index: 0, cellId: 'nowhere' }] }
    ]);
  });

  it('says what the agent changed', async () => {
    const changes: IAgentChange[] = [];
    opened.agentNotebooks.changedByAgent.connect((_, change) =>
      changes.push(change)
    );
    ask('1', { review: true, taskId: 'task' });
    await opened.settle();
    expect(changes).toMatchObject([
      {
        path: opened.path,
        taskId: 'task',
        review: true,
        changes: [{ cellId: 'new-1', before: null, after: 'x' }]
      }
    ]);
    ask('2', { operations: [{ op: 'clearOutputs', cellId: 'cell-0' }] });
    await opened.settle();
    expect(changes).toHaveLength(1);
  });

  it('tells pages of a notebook', () => {
    const read = { type: 'readNotebook', outputs: 'none' } as const;
    opened.client.receive({
      ...read,
      opId: '1',
      path: opened.path,
      first: 1,
      budget: 1_000_000
    });
    opened.client.receive({
      ...read,
      opId: '2',
      path: 'elsewhere.ipynb',
      first: 0,
      budget: 1
    });
    expect(opened.client.of('notebookPage')).toMatchObject([
      { opId: '1', status: 'read', first: 1, total: 3, cells: [{}, {}] },
      { opId: '2', status: 'notOpen' }
    ]);
  });

  it('tells which notebooks are open, and again after a reconnect', async () => {
    expect(told().at(-1)?.notebooks).toMatchObject([{ path: opened.path }]);
    const before = told().length;
    opened.client.setPhase('reconnecting');
    opened.model.sharedModel.getCell(0).setSource('typed meanwhile');
    await opened.settle();
    expect(told()).toHaveLength(before);
    opened.client.setPhase('open');
    expect(told()).toHaveLength(before + 1);
    expect(told().at(-1)?.notebooks).toMatchObject([{ dirty: true }]);
  });

  it('tells the same only once', async () => {
    const before = told().length;
    opened.model.readOnly = true;
    opened.model.readOnly = false;
    await opened.settle();
    expect(told()).toHaveLength(before);
  });

  it('knows what the agent runs until the server is another one', () => {
    const seen: number[] = [];
    opened.client.setPhase('reconnecting');
    opened.client.setPhase('open');
    opened.agentNotebooks.workChanged.connect((_, { cells }) =>
      seen.push(cells.length)
    );
    opened.client.receive({
      type: 'notebookWork',
      path: opened.path,
      cells: [{ cellId: 'cell-0', state: 'running' }]
    });
    opened.client.setPhase('reconnecting');
    opened.client.setPhase('open');
    expect(opened.agentNotebooks.work(opened.path)).toHaveLength(1);
    opened.client.setPhase('reconnecting');
    opened.client.place.epoch = 'second';
    opened.client.setPhase('open');
    expect(opened.agentNotebooks.work(opened.path)).toEqual([]);
    expect(seen).toEqual([1, 0]);
  });

  /**
   * Have another tab write the file, and hold back those who read it.
   */
  const writtenElsewhere = async (
    change: (cells: nbformat.ICell[]) => void
  ): Promise<() => void> => {
    const { contents } = opened.services;
    (opened.model.sharedModel as YNotebook).nbformat_minor = 5;
    await opened.context.save();
    const content = opened.model.toJSON() as nbformat.INotebookContent;
    change(content.cells);
    await contents.save(opened.path, {
      type: 'notebook',
      format: 'json',
      content
    });
    let goOn = () => {};
    const mayGoOn = new Promise<void>(resolve => (goOn = resolve));
    // It is played already.
    const get = contents.get as jest.MockedFunction<typeof contents.get>;
    const answer = get.getMockImplementation();
    get.mockImplementation(async (path, options) => {
      await mayGoOn;
      return answer?.(path, options) as ReturnType<typeof contents.get>;
    });
    opened.client.receive({
      type: 'reloadNotebook',
      path: opened.path,
      contentHash: 'another'
    });
    await opened.settle();
    return goOn;
  };

  it('keeps what is typed while it reads a file anew', async () => {
    const goOn = await writtenElsewhere(cells => {
      cells[0].source = 'a = 10';
    });
    const [, mine] = opened.model.sharedModel.cells;
    mine.updateSource(5, 5, ' # typed');
    goOn();
    await opened.settle();
    expect(opened.sources).toEqual(['a = 10', 'b = 2 # typed', 'c = 3']);
    expect(opened.model.sharedModel.cells[1]).toBe(mine);
    expect(opened.notebooks.list()[0].dirty).toBe(true);
    await opened.context.save();
    expect(opened.model.dirty).toBe(false);
  });

  it('keeps what a cell printed again while it reads a file anew', async () => {
    const cell = opened.model.cells.get(0) as ICodeCellModel;
    const printed = (text: string): nbformat.IOutput => ({
      output_type: 'stream',
      name: 'stdout',
      text
    });
    cell.outputs.add(printed('before'));
    cell.executionCount = 1;
    const goOn = await writtenElsewhere(cells => {
      cells[1].source = 'b = 20';
    });
    expect(opened.model.dirty).toBe(false);
    // The kernel was restarted and counts as it did before.
    cell.clearExecution();
    cell.outputs.add(printed('after'));
    cell.executionCount = 1;
    goOn();
    await opened.settle();
    expect(opened.sources[1]).toBe('b = 20');
    expect(cell.outputs.toJSON()).toMatchObject([{ text: 'after' }]);
    expect(opened.notebooks.list()[0].dirty).toBe(true);
    await opened.context.save();
    expect(opened.model.dirty).toBe(false);
  });

  it('has nothing unsaved after it has read a file anew', async () => {
    const goOn = await writtenElsewhere(cells => {
      cells.pop();
    });
    goOn();
    await opened.settle();
    expect(opened.sources).toEqual(['a = 1', 'b = 2']);
    expect(opened.model.dirty).toBe(false);
  });

  it('counts as unsaved what is typed while Lab saves', async () => {
    const saving = opened.context.save();
    opened.context.saveState.connect((_, state) => {
      if (state === 'started') {
        void Promise.resolve().then(() =>
          opened.model.sharedModel.getCell(0).setSource('a = 1 # typed')
        );
      }
    });
    await saving;
    expect(opened.sources[0]).toBe('a = 1 # typed');
    expect(opened.model.dirty).toBe(true);
    await opened.context.save();
    expect(opened.model.dirty).toBe(false);
  });

  it.each(['agent', 'person'])(
    'says what it holds of checkpoints when the %s saves, and nobody can undo it',
    async who => {
      const { sharedModel } = opened.model;
      sharedModel.clearUndoHistory();
      const revision = opened.notebooks.revision(opened.panel);
      ask('1', {
        operations: [],
        pointers: [
          {
            op: 'setCellMetadata',
            cellId: 'cell-0',
            key: 'hdsp_checkpoint',
            value: { ts: 1 }
          },
          { op: 'setCellMetadata', cellId: 'gone', key: 'x', value: 1 },
          { op: 'setNotebookMetadata', key: 'hdsp_agent', value: { head: 'h' } }
        ]
      });
      await opened.settle();
      expect(opened.model.dirty).toBe(false);
      expect(opened.notebooks.revision(opened.panel)).toBe(revision);
      expect(opened.model.getMetadata('hdsp_agent')).toBeUndefined();
      if (who === 'agent') {
        ask('2', {
          operations: [{ op: 'clearOutputs', cellId: 'cell-0' }],
          save: true
        });
        await opened.settle(300);
      } else {
        await opened.context.save();
      }
      const file = await opened.services.contents.get(opened.path);
      const content = file.content as nbformat.INotebookContent;
      expect(content.metadata.hdsp_agent).toEqual({ head: 'h' });
      expect(content.cells[0].metadata.hdsp_checkpoint).toEqual({ ts: 1 });
      expect(opened.model.dirty).toBe(false);
      expect(sharedModel.canUndo()).toBe(false);
      expect(sharedModel.getCell(0).canUndo()).toBe(false);
    }
  );

  describe('what waits for a save', () => {
    const KEY = 'hdsp_conversation';
    const hold = async (key: string, value: JsonValue) => {
      ask(`${key} ${JSON.stringify(value)}`, {
        operations: [],
        save: false,
        pointers: [{ op: 'setNotebookMetadata', key, value }]
      });
      await opened.settle();
    };
    const saved = async () => {
      await opened.context.save();
      const file = await opened.services.contents.get(opened.path);
      return (file.content as nbformat.INotebookContent).metadata;
    };

    it('is replaced by more of its kind, checkpoints or the conversation', async () => {
      await hold('hdsp_agent', { head: 'a' });
      await hold(KEY, { version: 1, left_out: 1 });
      await hold('hdsp_agent', { head: 'b' });
      await hold(KEY, { version: 1, left_out: 2 });
      expect(opened.model.dirty).toBe(false);
      const { hdsp_agent: pointer, [KEY]: conversation } = await saved();
      expect(pointer).toEqual({ head: 'b' });
      expect(conversation).toEqual({ version: 1, left_out: 2 });
    });

    it('is no conversation any more once that is switched off', async () => {
      await hold('hdsp_agent', { head: 'a' });
      await hold(KEY, { version: 1 });
      opened.client.receive({
        type: 'settingsUpdated',
        settings: { embedHistoryInNotebook: false } as GlobalSettings,
        fixed: []
      });
      const { hdsp_agent: pointer, [KEY]: conversation } = await saved();
      expect(pointer).toEqual({ head: 'a' });
      expect(conversation).toBeUndefined();
    });

    it('does not bring back a conversation that somebody removed', async () => {
      await hold(KEY, { version: 1 });
      expect((await saved())[KEY]).toEqual({ version: 1 });
      await hold(KEY, { version: 1, left_out: 3 });
      opened.model.deleteMetadata(KEY);
      expect((await saved())[KEY]).toBeUndefined();
    });
  });

  it('does nothing any more when it is disposed', async () => {
    opened.agentNotebooks.dispose();
    const before = opened.client.sent.length;
    ask('1');
    await opened.settle();
    expect(opened.ids).not.toContain('new-1');
    expect(opened.client.sent).toHaveLength(before);
  });
});

import { Notification } from '@jupyterlab/apputils';
import type { CodeCell, MarkdownCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookTracker } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import { CommandIDs } from '../../commands/ids';
import type { NotebookOperation } from '../operations';
import { createReview } from '../reviewui';
import { OpenedNotebook } from './openednotebook';

describe('a review in a notebook', () => {
  let opened: OpenedNotebook;
  let commands: CommandRegistry;
  let created: IDisposable;
  let pointed: HTMLElement | undefined;

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['a = 1', 'b = 2', 'c = 3']);
    commands = new CommandRegistry();
    pointed = undefined;
    created = createReview({
      client: opened.client,
      commands,
      desk: opened.desk,
      tracker: opened.tracker,
      trans: nullTranslator.load('hdsp_agent'),
      early: [],
      pointed: () => pointed
    });
  });

  afterEach(() => {
    created.dispose();
    opened.close();
  });

  let count = 0;
  const act = async (...operations: NotebookOperation[]) => {
    opened.client.receive({
      type: 'applyNotebookOperations',
      opId: `op-${count++}`,
      path: opened.path,
      operations,
      save: false,
      review: true
    });
    await opened.settle(200);
  };
  const edit = (cellId: string, source: string): NotebookOperation => ({
    op: 'replaceSource',
    cellId,
    source
  });
  const work = async (state: 'running' | 'queued', ...cellIds: string[]) => {
    opened.client.receive({
      type: 'notebookWork',
      path: opened.path,
      cells: cellIds.map(cellId => ({ cellId, state }))
    });
    await opened.settle(60);
  };

  const nodeOf = (place: number, panel: NotebookPanel = opened.panel) =>
    panel.content.widgets[place].node;
  const kinds = (place: number, panel?: NotebookPanel) =>
    [
      ...nodeOf(place, panel).querySelectorAll<HTMLElement>(
        '.jp-hdspAgent-CellRow'
      )
    ].map(row => row.dataset.kind);
  const deletedText = (place: number, panel?: NotebookPanel) =>
    nodeOf(place, panel).querySelector('.cm-deletedChunk')?.textContent ?? '';
  const press = async (place: number, action: string) => {
    const button = nodeOf(place).querySelector<HTMLElement>(
      `.jp-hdspAgent-CellRow [data-action="${action}"]`
    );
    button?.click();
    await opened.settle();
  };
  const verdicts = () =>
    opened.client
      .of('cellReview')
      .map(({ cellId, accepted, part }) => [cellId, accepted, part]);

  it('shows the difference, and what can be done', async () => {
    await act(edit('cell-1', 'b = 20'));
    expect(kinds(1)).toEqual(['edited']);
    expect(deletedText(1)).toContain('b = 2');
    expect(kinds(0)).toEqual([]);
    expect(nodeOf(1).dataset.hdspAgent).toBe('changed');
    expect(
      nodeOf(1).querySelector('.jp-hdspAgent-CellMark')?.getAttribute('title')
    ).toBe('The agent changed this cell');
  });

  it('tells the task that changed the cell', async () => {
    opened.client.receive({
      type: 'applyNotebookOperations',
      opId: `op-${count++}`,
      path: opened.path,
      operations: [edit('cell-1', 'b = 20')],
      save: false,
      review: true,
      taskId: 'task-1'
    });
    await opened.settle(200);
    await act(edit('cell-2', 'c = 30'));
    await press(1, 'undo');
    await press(2, 'undo');
    const [first, second] = opened.client.of('cellReview');
    expect(first.taskId).toBe('task-1');
    expect(second).not.toHaveProperty('taskId');
  });

  it('keeps a cell', async () => {
    await act(edit('cell-1', 'b = 20'));
    await press(1, 'keep');
    expect(kinds(1)).toEqual([]);
    expect(deletedText(1)).toBe('');
    expect(nodeOf(1).dataset.hdspAgent).toBeUndefined();
    expect(nodeOf(1).querySelector('.jp-hdspAgent-CellMark')).toBeNull();
    expect(opened.sources[1]).toBe('b = 20');
    expect(verdicts()).toEqual([['cell-1', true, 'whole']]);
  });

  it('takes a cell back', async () => {
    await act(edit('cell-1', 'b = 20'));
    await press(1, 'undo');
    expect(kinds(1)).toEqual([]);
    expect(opened.sources[1]).toBe('b = 2');
    expect(verdicts()).toEqual([['cell-1', false, 'whole']]);
  });

  it('says what was decided of a task that is gone, or another person’s', async () => {
    opened.client.receive({
      type: 'applyNotebookOperations',
      opId: `op-${count++}`,
      path: opened.path,
      operations: [edit('cell-1', 'b = 20')],
      save: false,
      review: true,
      taskId: 'gone'
    });
    await opened.settle(200);
    opened.client.refusal = new Error('no such task');
    await press(1, 'keep');
    expect(
      opened.client.of('cellReview').map(({ taskId }) => taskId ?? null)
    ).toEqual(['gone', null]);
  });

  it('shows what the agent did before the page had the notebook', async () => {
    opened.fill(['a = 10', 'b = 2', 'made']);
    opened.client.answers.set('openNotebooks', {
      unreviewed: {
        [opened.path]: [
          {
            cellId: 'cell-0',
            taskId: 'task-1',
            before: 'a = 1',
            after: 'a = 10'
          },
          { cellId: 'cell-1', before: 'b = 2', after: 'b = 20' },
          { cellId: 'cell-2', after: 'made' },
          {
            cellId: 'gone',
            before: 'was here',
            removed: {
              cell: { cell_type: 'code', id: 'gone', source: 'x' },
              behind: 'cell-1',
              place: 2
            }
          }
        ]
      }
    });
    opened.client.setPhase('reconnecting');
    opened.client.setPhase('open');
    await opened.settle(200);
    expect(deletedText(0)).toContain('a = 1');
    expect([0, 1, 2].map(place => kinds(place))).toEqual([
      ['edited'],
      ['deleted'],
      ['inserted']
    ]);
    await press(0, 'undo');
    expect(opened.sources[0]).toBe('a = 1');
    expect(opened.client.of('cellReview')[0].taskId).toBe('task-1');
    await press(2, 'keep');
    opened.client.setPhase('reconnecting');
    opened.client.setPhase('open');
    await opened.settle(200);
    expect(kinds(2)).toEqual([]);
    await press(1, 'undo');
    expect(opened.sources).toEqual(['a = 1', 'b = 2', 'was here', 'made']);
  });

  it('does not mind a server that takes up no reviews', async () => {
    opened.client.refusal = new Error('unknown type');
    await act(edit('cell-1', 'b = 20'));
    await press(1, 'keep');
    expect(kinds(1)).toEqual([]);
  });

  it('shows the difference to what was before several edits', async () => {
    await act(edit('cell-1', 'b = 20'));
    await act(edit('cell-1', 'b = 200'));
    expect(deletedText(1)).toContain('b = 2');
    expect(deletedText(1)).not.toContain('b = 20');
    await act(edit('cell-1', 'b = 2'));
    expect(kinds(1)).toEqual([]);
    expect(deletedText(1)).toBe('');
  });

  it('keeps and takes back parts', async () => {
    const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    opened.fill([lines.join('\n')]);
    lines[0] = 'ONE';
    lines[6] = 'SEVEN';
    await act(edit('cell-0', lines.join('\n')));
    const buttons = (name: string) =>
      nodeOf(0).querySelectorAll<HTMLElement>(
        `.jp-hdspAgent-hunk-button.jp-mod-${name}`
      );
    expect(buttons('accept')).toHaveLength(2);
    buttons('accept')[0].click();
    await opened.settle();
    expect(buttons('accept')).toHaveLength(1);
    buttons('reject')[0].click();
    await opened.settle();
    expect(opened.sources[0]).toBe('ONE\ntwo\nthree\nfour\nfive\nsix\nseven');
    expect(kinds(0)).toEqual([]);
    expect(verdicts()).toEqual([
      ['cell-0', true, 'hunk'],
      ['cell-0', false, 'hunk']
    ]);
  });

  it('takes back parts without what the person wrote there', async () => {
    opened.fill(['a\nb\nc']);
    await act(edit('cell-0', 'a\nb\nc\nd'));
    const cell = opened.model.sharedModel.getCell(0);
    cell.setSource('a\nb\nc\nd\nmine');
    await opened.settle();
    const undo = () =>
      nodeOf(0)
        .querySelector<HTMLElement>('.jp-hdspAgent-hunk-button.jp-mod-reject')
        ?.click();
    undo();
    await opened.settle();
    expect(opened.sources[0]).toBe('a\nb\nc\nmine');
    expect(Notification.manager.count).toBe(0);
    undo();
    await opened.settle();
    expect(opened.sources[0]).toBe('a\nb\nc\nmine');
    expect(Notification.manager.count).toBe(1);
    Notification.dismiss();
  });

  it('says so where it does not take back what the person wrote over', async () => {
    await act(edit('cell-1', 'b = 20'));
    opened.model.sharedModel.getCell(1).setSource('b = 20 + mine');
    await press(1, 'undo');
    expect(opened.sources[1]).toBe('b = 20 + mine');
    expect(kinds(1)).toEqual(['edited']);
    expect(verdicts()).toEqual([]);
    expect(Notification.manager.notifications[0].message).toContain(
      'written in the same lines since'
    );
    Notification.dismiss();
  });

  it('goes along with what the person types', async () => {
    await act(edit('cell-1', 'b = 20'));
    const cell = opened.model.sharedModel.getCell(1);
    cell.updateSource(0, 0, '# mine\n');
    await opened.settle();
    expect(deletedText(1)).toContain('b = 2');
    expect(kinds(1)).toEqual(['edited']);
    cell.setSource('b = 2');
    await opened.settle();
    expect(kinds(1)).toEqual([]);
    expect(deletedText(1)).toBe('');
  });

  it('marks new cells, to keep or remove', async () => {
    await act({
      op: 'insertCell',
      cellId: 'new',
      after: 'cell-0',
      cellType: 'code',
      source: 'new'
    });
    expect(kinds(1)).toEqual(['inserted']);
    expect(deletedText(1)).toBe('');
    await press(1, 'undo');
    expect(opened.ids).toEqual(['cell-0', 'cell-1', 'cell-2']);
  });

  it('keeps a place for deleted cells, the first one too', async () => {
    await act(
      { op: 'deleteCell', cellId: 'cell-0' },
      { op: 'deleteCell', cellId: 'cell-2' }
    );
    expect(kinds(0)).toEqual(['deleted', 'deleted']);
    await press(0, 'undo');
    expect(opened.sources).toEqual(['a = 1', 'b = 2']);
    expect(kinds(0)).toEqual([]);
    expect(kinds(1)).toEqual(['deleted']);
    await press(1, 'keep');
    expect(kinds(1)).toEqual([]);
    expect(verdicts()).toEqual([
      ['cell-0', false, 'whole'],
      ['cell-2', true, 'whole']
    ]);
  });

  it('shows nothing where only outputs or metadata changed', async () => {
    await act(
      { op: 'setCellMetadata', cellId: 'cell-0', key: 'k', value: 1 },
      { op: 'clearOutputs', cellId: 'cell-1' },
      { op: 'moveCell', cellId: 'cell-2' }
    );
    expect([0, 1, 2].flatMap(place => kinds(place))).toEqual([]);
  });

  it('offers to show the text of a rendered Markdown cell', async () => {
    await act({ op: 'changeCellType', cellId: 'cell-0', cellType: 'markdown' });
    const cell = () => opened.panel.content.widgets[0] as MarkdownCell;
    cell().rendered = true;
    await act(edit('cell-0', '# Title'));
    const show = () =>
      nodeOf(0).querySelector<HTMLElement>('[data-action="show"]');
    expect(show()?.hidden).toBe(false);
    await press(0, 'show');
    expect(cell().rendered).toBe(false);
    expect(show()?.hidden).toBe(true);
  });

  it('is one for several views of a notebook', async () => {
    const other = opened.addView();
    await opened.settle();
    await act(edit('cell-1', 'b = 20'));
    expect(kinds(1, other)).toEqual(['edited']);
    expect(deletedText(1, other)).toContain('b = 2');
    await press(1, 'keep');
    expect(kinds(1, other)).toEqual([]);
    expect(deletedText(1, other)).toBe('');
    expect(verdicts()).toHaveLength(1);
    other.dispose();
    await act(edit('cell-1', 'b = 30'));
    expect(kinds(1)).toEqual(['edited']);
  });

  describe('in a cell that is far away', () => {
    // As the notebook does with cells that leave the view, or come into it.
    const cell = () => opened.panel.content.widgets[1];
    const leave = () => {
      cell().inViewport = false;
      cell().layout?.processParentMessage(Widget.Msg.AfterDetach);
      expect(cell().node.children).toHaveLength(1);
    };
    const enter = async () => {
      cell().layout?.processParentMessage(Widget.Msg.BeforeAttach);
      cell().inViewport = true;
      await opened.settle();
    };
    const parts = () =>
      [...cell().node.children].flatMap(({ className }) => {
        const part = /CellRow|inputWrapper|outputWrapper/.exec(className);
        return part ? [part[0]] : [];
      });

    it('waits until it comes into view', async () => {
      leave();
      await act(edit('cell-1', 'b = 20'));
      expect(kinds(1)).toEqual([]);
      await enter();
      expect(parts()).toEqual(['inputWrapper', 'CellRow', 'outputWrapper']);
      expect(deletedText(1)).toContain('b = 2');
      expect(nodeOf(1).querySelector('.jp-hdspAgent-CellMark')).not.toBeNull();
    });

    it('is there again with it', async () => {
      await act(edit('cell-1', 'b = 20'));
      leave();
      await enter();
      expect(parts()).toEqual(['inputWrapper', 'CellRow', 'outputWrapper']);
      expect(deletedText(1)).toContain('b = 2');
    });

    it('can be over meanwhile', async () => {
      await act(edit('cell-1', 'b = 20'));
      leave();
      await commands.execute(CommandIDs.keepAll, { path: opened.path });
      await opened.settle();
      await enter();
      expect(parts()).toEqual(['inputWrapper', 'outputWrapper']);
      expect(deletedText(1)).toBe('');
      expect(nodeOf(1).dataset.hdspAgent).toBeUndefined();
    });
  });

  it('stands between the input and the output, not in the way of Lab', async () => {
    await act(edit('cell-1', 'b = 20'));
    const cell = opened.panel.content.widgets[1] as CodeCell;
    const names = [...cell.node.children].map(({ className }) =>
      className.includes('CellRow')
        ? 'row'
        : (/jp-Cell-(input|output)Wrapper/.exec(className)?.[1] ?? '')
    );
    expect(names.filter(name => name !== '')).toEqual([
      'input',
      'row',
      'output'
    ]);
  });

  it('marks the cells the agent runs and is going to run', async () => {
    await act(edit('cell-1', 'b = 20'));
    await work('running', 'cell-1');
    expect(nodeOf(1).dataset.hdspAgent).toBe('running');
    await work('queued', 'cell-0', 'cell-1');
    expect(nodeOf(0).dataset.hdspAgent).toBe('queued');
    await work('queued');
    expect(nodeOf(0).dataset.hdspAgent).toBeUndefined();
    expect(nodeOf(1).dataset.hdspAgent).toBe('changed');
  });

  describe('has commands', () => {
    beforeEach(async () => {
      Object.defineProperty(opened.tracker, 'currentWidget', {
        get: () => opened.panel
      });
      await act(edit('cell-0', 'a = 10'), edit('cell-2', 'c = 30'));
    });

    it('for the active cell', async () => {
      opened.panel.content.activeCellIndex = 1;
      expect(commands.isEnabled(CommandIDs.keepCell)).toBe(false);
      opened.panel.content.activeCellIndex = 0;
      expect(commands.isVisible(CommandIDs.keepCell)).toBe(true);
      await commands.execute(CommandIDs.keepCell);
      await commands.execute(CommandIDs.undoCell, { cellId: 'cell-2' });
      expect(opened.sources).toEqual(['a = 10', 'b = 2', 'c = 3']);
    });

    it('for the cell the context menu was opened at', async () => {
      opened.panel.content.activeCellIndex = 1;
      pointed = nodeOf(2);
      await commands.execute(CommandIDs.undoCell, { atPointer: true });
      expect(opened.sources).toEqual(['a = 10', 'b = 2', 'c = 3']);
    });

    it('for the part at the cursor', async () => {
      opened.panel.content.activeCellIndex = 0;
      expect(await commands.execute(CommandIDs.undoPart)).toBe(true);
      expect(opened.sources[0]).toBe('a = 1');
      expect(
        await commands.execute(CommandIDs.keepPart, { cellId: 'cell-2' })
      ).toBe(true);
      expect(verdicts()).toEqual([
        ['cell-0', false, 'hunk'],
        // Nothing is left of it.
        ['cell-2', true, 'whole']
      ]);
      await opened.settle();
      expect(commands.isEnabled(CommandIDs.keepPart)).toBe(false);
    });

    it('for the whole notebook', async () => {
      await commands.execute(CommandIDs.undoAll, { path: opened.path });
      expect(opened.sources).toEqual(['a = 1', 'b = 2', 'c = 3']);
      expect(commands.isEnabled(CommandIDs.keepAll)).toBe(false);
    });

    it('to go from one change to the next, round the ends', async () => {
      const { content } = opened.panel;
      jest.spyOn(content, 'scrollToCell').mockResolvedValue(undefined);
      content.activeCellIndex = 0;
      await commands.execute(CommandIDs.nextChange);
      expect(content.activeCellIndex).toBe(2);
      await commands.execute(CommandIDs.nextChange);
      expect(content.activeCellIndex).toBe(0);
      await commands.execute(CommandIDs.previousChange);
      expect(content.activeCellIndex).toBe(2);
    });

    it('that describe their arguments', async () => {
      for (const id of commands.listCommands()) {
        const { args } = await commands.describedBy(id);
        expect(args).toMatchObject({
          properties: { path: { type: 'string' } }
        });
      }
    });
  });

  it('leaves nothing behind when it is taken away', async () => {
    await act(
      edit('cell-0', 'a = 10'),
      { op: 'deleteCell', cellId: 'cell-1' },
      edit('cell-2', 'c = 30')
    );
    await work('running', 'cell-0');
    created.dispose();
    const { node } = opened.panel;
    expect(node.querySelector('[class*="hdspAgent"]')).toBeNull();
    expect(node.querySelector('[data-hdsp-agent]')).toBeNull();
    expect(node.querySelector('.cm-deletedChunk')).toBeNull();
    expect(commands.listCommands()).toEqual([]);
    await act(edit('cell-0', 'a = 11'));
    expect(kinds(0)).toEqual([]);
  });

  it('is forgotten with its notebook', async () => {
    await act(edit('cell-0', 'a = 10'));
    const warn = jest.spyOn(console, 'error');
    opened.panel.dispose();
    opened.model.sharedModel.getCell(0).setSource('still alive');
    await work('running', 'cell-0');
    opened.context.dispose();
    await opened.settle();
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('knows what was changed before it was there', async () => {
    created.dispose();
    const tracker = new NotebookTracker({ namespace: 'other' });
    created = createReview({
      client: opened.client,
      commands,
      desk: opened.desk,
      tracker,
      trans: nullTranslator.load('hdsp_agent'),
      early: [
        {
          panel: opened.panel,
          path: opened.path,
          taskId: null,
          review: true,
          changes: [{ cellId: 'cell-0', before: 'old', after: 'a = 1' }]
        }
      ],
      pointed: () => undefined
    });
    await opened.settle(200);
    expect(deletedText(0)).toContain('old');
    tracker.dispose();
  });
});

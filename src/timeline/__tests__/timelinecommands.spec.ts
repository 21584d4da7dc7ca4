import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import { CommandIDs } from '../../ui/commandids';
import { CellFinder } from '../../notebook/cells/cellplace';
import { OpenedNotebook } from '../../notebook/__tests__/openednotebook';
import { addTimelineCommands } from '../timelinecommands';
import type { INotebookHead } from '../notebookheads';
import type { ITimelineUi } from '../createtimeline';

describe('the commands of the time line', () => {
  let opened: OpenedNotebook;
  let commands: CommandRegistry;
  let head: INotebookHead | null;
  let asked: unknown[][];

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['a = 1', 'b = 2']);
    Object.defineProperty(opened.tracker, 'currentWidget', {
      get: () => opened.panel
    });
    opened.panel.content.activeCellIndex = 0;
    head = null;
    asked = [];
    commands = new CommandRegistry();
    const note =
      (what: string, answer: unknown) =>
      (...args: unknown[]) => {
        asked.push([what, ...args]);
        return Promise.resolve(answer);
      };
    const done = { operation: { id: 'op' } };
    const ui = {
      restoreActions: {
        save: note('save', { id: 'm-1' }),
        restore: note('restore', done),
        undo: note('undo', done),
        chooseCell: note('cell', done),
        restart: note('restart', { id: 'run' })
      },
      model: { show: note('show', true), reveal: note('reveal', true) }
    } as unknown as ITimelineUi;
    addTimelineCommands(commands, {
      trans: nullTranslator.load('hdsp_agent'),
      cells: new CellFinder({
        notebooks: opened.notebooks,
        tracker: opened.tracker,
        pointed: () => undefined
      }),
      pathOf: () => opened.path,
      headOf: () => head,
      ui: () => Promise.resolve(ui),
      reveal: () => asked.push(['in sight'])
    });
  });

  afterEach(() => {
    opened.close();
  });

  it('save with the notebook in front, or what is named', async () => {
    const { saveCheckpoint } = CommandIDs;
    expect(await commands.execute(saveCheckpoint, { note: 'good' })).toBe(
      'm-1'
    );
    await commands.execute(saveCheckpoint, { taskId: 'task' });
    expect(asked).toEqual([
      ['save', { path: opened.path }, 'good'],
      ['save', { task: 'task' }, undefined]
    ]);
  });

  it('open the time line at a checkpoint', async () => {
    await commands.execute(CommandIDs.openTimeline, {
      taskId: 'task',
      only: 'task',
      checkpoint: 'abcd',
      against: 'now'
    });
    expect(asked).toEqual([
      ['in sight'],
      ['show', { place: { task: 'task' }, only: 'task' }],
      ['reveal', 'abcd', 'now']
    ]);
  });

  it('restore parts of a checkpoint', async () => {
    const { restoreCheckpoint } = CommandIDs;
    expect(commands.isEnabled(restoreCheckpoint)).toBe(false);
    await commands.execute(restoreCheckpoint, {
      checkpoint: 'abcd',
      taskId: 'task',
      parts: ['files']
    });
    expect(asked).toEqual([['restore', { task: 'task' }, 'abcd', ['files']]]);
  });

  it('restore a cell, unless there is nothing to restore it from', async () => {
    const { restoreCell } = CommandIDs;
    await commands.execute(restoreCell, { cellId: 'cell-1' });
    expect(asked).toEqual([['cell', opened.path, 'cell-1', 'b = 2']]);
    expect(commands.isEnabled(restoreCell)).toBe(true);
    head = { hasCheckpoints: false, hasUndoable: false };
    expect(commands.isEnabled(restoreCell)).toBe(false);
    expect(commands.caption(restoreCell)).toContain('no checkpoint yet');
    expect(commands.caption(restoreCell, { cellId: 'gone' })).toBe(
      'Cell history… — There is no cell to restore'
    );
  });

  it('restart a kernel and run its cells up to one', async () => {
    const { restartToCell } = CommandIDs;
    expect(await commands.execute(restartToCell, { cellId: 'cell-1' })).toBe(
      'run'
    );
    expect(asked).toEqual([['restart', { path: opened.path, cell: 'cell-1' }]]);
    expect(commands.isEnabled(restartToCell, { cellId: 'gone' })).toBe(false);
  });

  it('undo a restore, unless nothing was restored', async () => {
    const { undoRestore } = CommandIDs;
    await commands.execute(undoRestore, { operation: 'op' });
    expect(asked).toEqual([['undo', { path: opened.path }, 'op']]);
    head = { hasCheckpoints: true, hasUndoable: false };
    expect(commands.isEnabled(undoRestore)).toBe(false);
    expect(commands.caption(undoRestore)).toContain('There is no restore');
    expect(commands.isEnabled(undoRestore, { operation: 'op' })).toBe(true);
  });

  it('say what they take', async () => {
    for (const id of commands.listCommands()) {
      const { args } = await commands.describedBy(id);
      expect(Object.keys(args?.properties ?? {})).toContain('path');
    }
  });
});

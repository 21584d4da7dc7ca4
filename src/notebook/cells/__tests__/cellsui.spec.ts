import type { ICodeCellModel } from '@jupyterlab/cells';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';

import { CommandIDs } from '../../../ui/commandids';
import { createCells } from '../cellsui';
import { OpenedNotebook } from '../../__tests__/openednotebook';

describe('actions on cells', () => {
  let opened: OpenedNotebook;
  let commands: CommandRegistry;
  let created: IDisposable;
  let openings: number;

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['1/0', 'b = 2']);
    Object.defineProperty(opened.tracker, 'currentWidget', {
      get: () => opened.panel
    });
    commands = new CommandRegistry();
    openings = 0;
    created = createCells({
      agent: {
        open: () => {
          openings++;
        }
      },
      client: opened.client,
      commands,
      notebooks: opened.notebooks,
      tracker: opened.tracker,
      trans: nullTranslator.load('hdsp_agent'),
      pointed: () => undefined
    });
    opened.panel.content.activeCellIndex = 0;
    await opened.settle();
  });

  afterEach(() => {
    created.dispose();
    opened.close();
  });

  const outputs = () => (opened.model.cells.get(0) as ICodeCellModel).outputs;
  const fail = async () => {
    outputs().add({ output_type: 'stream', name: 'stdout', text: 'first' });
    outputs().add({
      output_type: 'error',
      ename: 'ZeroDivisionError',
      evalue: 'division by zero',
      traceback: ['\u001b[0;31mTraceback\u001b[0m', 'line 1']
    });
    await opened.settle(300);
  };
  const rows = () =>
    opened.panel.node.querySelectorAll<HTMLElement>(
      '.jp-hdspAgent-CellRow[data-kind="failed"]'
    );

  it('are offered below the output of a cell that failed', async () => {
    expect(rows()).toHaveLength(0);
    await fail();
    expect(rows()).toHaveLength(1);
    const { node } = opened.panel.content.widgets[0];
    expect(rows()[0].previousElementSibling?.className).toContain(
      'jp-Cell-outputWrapper'
    );
    expect(node.contains(rows()[0])).toBe(true);
    outputs().add({ output_type: 'stream', name: 'stdout', text: 'more' });
    await opened.settle(300);
    expect(rows()).toHaveLength(0);
  });

  it('have a failed cell fixed, with what it said', async () => {
    await fail();
    rows()[0].querySelector<HTMLElement>('[data-action="fix"]')?.click();
    await opened.settle();
    const [{ label, ...asked }, ...others] = opened.client.of('fixCell');
    expect(label).toBe('Fix cell 1: ZeroDivisionError: division by zero');
    expect(asked).toEqual({
      type: 'fixCell',
      path: opened.path,
      cellId: 'cell-0',
      source: '1/0',
      traceback: 'Traceback\nline 1'
    });
    expect(others).toEqual([]);
    expect(openings).toBe(1);
  });

  it('offer to fix only what failed', async () => {
    expect(commands.isVisible(CommandIDs.fixCell)).toBe(false);
    await fail();
    expect(commands.isVisible(CommandIDs.fixCell)).toBe(true);
    expect(commands.isVisible(CommandIDs.fixCell, { cellId: 'cell-1' })).toBe(
      false
    );
    await commands.execute(CommandIDs.fixCell, { path: opened.path });
    expect(opened.client.of('fixCell')).toHaveLength(1);
  });

  it('say when the server does not begin', async () => {
    await fail();
    opened.client.refusal = new Error('no');
    await expect(commands.execute(CommandIDs.fixCell)).resolves.toBeUndefined();
  });

  it('ask about a cell', async () => {
    await commands.execute(CommandIDs.askAboutCell, {
      cellId: 'cell-1',
      question: ' Why? '
    });
    expect(opened.client.of('newTask')).toEqual([
      {
        type: 'newTask',
        text: 'Why?',
        notebook: { path: opened.path, cellId: 'cell-1' }
      }
    ]);
    expect(openings).toBe(1);
  });

  it('bring the cell to where one writes, without a question', async () => {
    const attached: unknown[] = [];
    const added = commands.addCommand(CommandIDs.attachCell, {
      execute: args => attached.push(args)
    });
    await commands.execute(CommandIDs.askAboutCell, { cellId: 'cell-1' });
    added.dispose();
    expect(attached).toEqual([{ path: opened.path, cellId: 'cell-1' }]);
    expect(opened.client.of('newTask')).toEqual([]);
  });

  it('leave nothing behind', async () => {
    await fail();
    created.dispose();
    expect(rows()).toHaveLength(0);
    expect(commands.listCommands()).toEqual([]);
    outputs().clear();
    await fail();
    expect(rows()).toHaveLength(0);
  });
});

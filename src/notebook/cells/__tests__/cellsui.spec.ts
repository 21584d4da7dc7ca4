import type { ICodeCellModel, MarkdownCell } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { Menu } from '@lumino/widgets';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

import { CommandIDs } from '../../../ui/commandids';
import { builtInActions } from '../actionlist';
import { createCells } from '../cellsui';
import { OpenedNotebook } from '../../__tests__/openednotebook';
import { FakeStore } from '../../prompt/__tests__/fakestore';
import type { ChannelClient } from '../../../comm/client';
import type { AgentStore } from '../../../state/store';

const CELL_2 = 'Cell 2';

describe('actions on cells', () => {
  let opened: OpenedNotebook;
  let commands: CommandRegistry;
  let created: IDisposable;
  let openings: number;
  let submenus: Menu[];

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['1/0', 'b = 2']);
    Object.defineProperty(opened.tracker, 'currentWidget', {
      get: () => opened.panel
    });
    commands = new CommandRegistry();
    openings = 0;
    submenus = [];
    created = createCells({
      agent: {
        open: () => {
          openings++;
        }
      },
      client: opened.client as unknown as ChannelClient,
      commands,
      notebooks: opened.notebooks,
      store: new FakeStore() as unknown as AgentStore,
      tracker: opened.tracker,
      trans: nullTranslator.load('hdsp_agent'),
      pointed: () => undefined,
      addSubmenu: submenu => {
        submenus.push(submenu);
        return new DisposableDelegate(() => submenus.pop());
      }
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

  const act = (action: string, args = {}) =>
    commands.execute(CommandIDs.cellAction, { action, ...args });
  const along = () =>
    opened.client.of('newTask').map(({ attachments = [] }) => attachments);
  const labels = (menu: Menu) => menu.items.map(({ label }) => label);

  it('do with a cell what a slash command says', async () => {
    await act('improve', { cellId: 'cell-1' });
    expect(opened.client.of('newTask')).toEqual([
      {
        type: 'newTask',
        text: '/improve',
        attachments: [
          {
            kind: 'cell',
            path: opened.path,
            cellId: 'cell-1',
            label: CELL_2,
            content: 'b = 2'
          }
        ],
        notebook: { path: opened.path, cellId: 'cell-1' }
      }
    ]);
    expect(openings).toBe(1);
  });

  it.each([
    ['to-function', 'Turn into a Function'],
    ['to-pandas', 'Rewrite with pandas'],
    ['to-polars', 'Rewrite with Polars'],
    ['to-sql', 'Rewrite as SQL'],
    ['to-plot', 'Show as a Plot']
  ])('convert a cell: %s', async (action, label) => {
    expect(labels(submenus[0])).toContain(label);
    expect(commands.label(CommandIDs.cellAction, { action })).toBe(label);
    await act(action, { cellId: 'cell-1' });
    expect(opened.client.of('newTask')).toMatchObject([
      { text: `/${action}`, attachments: [{ kind: 'cell', content: 'b = 2' }] }
    ]);
  });

  it('are about what is selected in the cell', async () => {
    opened.panel.content.widgets[1].editor?.setSelection({
      start: { line: 0, column: 4 },
      end: { line: 0, column: 5 }
    });
    await act('explain', { cellId: 'cell-1' });
    expect(along()).toMatchObject([
      [
        {
          kind: 'selection',
          path: opened.path,
          cellId: 'cell-1',
          content: '2'
        }
      ]
    ]);
  });

  it('are about all of a text that is rendered, whatever was selected before', async () => {
    const { content } = opened.panel;
    content.activeCellIndex = 1;
    NotebookActions.changeCellType(content, 'markdown');
    const cell = content.widgets[1] as MarkdownCell;
    cell.editor?.setSelection({
      start: { line: 0, column: 4 },
      end: { line: 0, column: 5 }
    });
    cell.rendered = true;
    await act('explain', { cellId: 'cell-1' });
    expect(along()).toMatchObject([[{ kind: 'cell', content: 'b = 2' }]]);
  });

  it('change no cell that nobody may edit', async () => {
    const isEnabled = (cellId: string) =>
      commands.isEnabled(CommandIDs.editCell, { cellId });
    opened.model.cells.get(0).setMetadata('editable', false);
    await opened.settle();
    expect([isEnabled('cell-0'), isEnabled('cell-1')]).toEqual([false, true]);
  });

  it('are about all cells that are selected, if it is one of them', async () => {
    const { content } = opened.panel;
    content.extendContiguousSelectionTo(1);
    await act('improve', { cellId: 'cell-0' });
    content.deselectAll();
    content.activeCellIndex = 0;
    await act('improve', { cellId: 'cell-1' });
    expect(along().map(({ length }) => length)).toEqual([2, 1]);
  });

  it('explain a failed cell with its error', async () => {
    await fail();
    rows()[0].querySelector<HTMLElement>('[data-action="explain"]')?.click();
    await opened.settle();
    expect(opened.client.of('newTask')).toMatchObject([
      { text: '/explain', attachments: [{ kind: 'error' }] }
    ]);
    expect(along()[0][0].content).toContain('1/0\n\nTraceback\nline 1');
  });

  it('are not offered where there is nothing to do it with', async () => {
    expect(commands.isEnabled(CommandIDs.cellAction, { action: 'test' })).toBe(
      true
    );
    expect(commands.isEnabled(CommandIDs.cellAction, { action: 'no' })).toBe(
      false
    );
    opened.fill([' ']);
    await opened.settle();
    expect(commands.isEnabled(CommandIDs.cellAction, { action: 'test' })).toBe(
      false
    );
    await act('no');
    expect(along()).toEqual([]);
  });

  it('have their names in menus and in the palette', () => {
    const args = { action: 'speed-up' };
    expect(commands.label(CommandIDs.cellAction, args)).toBe('Speed Up');
    expect(
      commands.label(CommandIDs.cellAction, { ...args, isPalette: true })
    ).toBe('Agent: Speed Up (cell)');
    expect(commands.caption(CommandIDs.cellAction, args)).not.toBe('');
  });

  it('are in the context menu, with those a person has written', async () => {
    const [menu] = submenus;
    const before = labels(menu);
    expect(before).toContain('Explain');
    expect(before.filter(label => label !== '')).toEqual([
      'Edit This Cell by Prompt…',
      ...builtInActions(nullTranslator.load('hdsp_agent')).map(
        ({ label }) => label
      )
    ]);
    opened.client.receive({
      type: 'commands',
      commands: [
        { name: 'check', source: 'project', cellLabel: 'Check the units' },
        { name: 'improve', source: 'global', description: 'As we do it' },
        { name: 'plot', source: 'global' },
        { name: 'test', source: 'built-in', cellLabel: 'Add Tests' }
      ]
    });
    expect(labels(menu)).toEqual([...before, 'Check the units']);
    expect(commands.caption(CommandIDs.cellAction, { action: 'improve' })).toBe(
      'As we do it'
    );
    await act('check', { cellId: 'cell-1' });
    expect(opened.client.of('newTask')).toMatchObject([{ text: '/check' }]);
    opened.client.receive({ type: 'commands', commands: [] });
    expect(labels(menu)).toEqual(before);
  });

  it('are asked for when there is a server to ask, each time anew', () => {
    const count = () => opened.client.of('requestCommands').length;
    expect(count()).toBe(1);
    opened.client.setPhase('connecting');
    expect(count()).toBe(1);
    opened.client.setPhase('open');
    expect(count()).toBe(2);
  });

  it('are in a menu at the cell, and the focus comes back', async () => {
    const button = document.createElement('button');
    document.body.append(button);
    button.focus();
    await commands.execute(CommandIDs.showCellActions, { cellId: 'cell-1' });
    const shown = document.querySelector<HTMLElement>('.lm-Menu');
    expect(shown?.textContent).toContain('Add Types');
    shown?.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Escape', keyCode: 27 })
    );
    await opened.settle();
    expect(document.querySelector('.lm-Menu')).toBeNull();
    expect(document.activeElement).toBe(button);
    button.remove();
  });

  it('leave nothing behind', async () => {
    await fail();
    created.dispose();
    expect(rows()).toHaveLength(0);
    expect(commands.listCommands()).toEqual([]);
    expect(submenus).toEqual([]);
    outputs().clear();
    await fail();
    expect(rows()).toHaveLength(0);
  });
});

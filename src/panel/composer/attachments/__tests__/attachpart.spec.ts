import type { CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { Signal } from '@lumino/signaling';

import { CommandIDs } from '../../../../ui/commandids';
import { OpenedNotebook } from '../../../../notebook/__tests__/openednotebook';
import { PanelState } from '../../../../state/panel/panelstate';
import type { IPanelServices } from '../../../../ui/services';
import { attachPart, findCell } from '../attachpart';
import { chosenNotebook, openPaths } from '../../../../ui/notebookchoice';
import {
  firstLine,
  lastFailed,
  partsOf
} from '../../../../notebook/cells/cellparts';
import { addComposerCommands } from '../../composercommands';
import { notebookSuggestions } from '../../suggestions/suggestionsources';

describe('what of a notebook goes along', () => {
  let opened: OpenedNotebook;
  let state: PanelState;
  let services: IPanelServices;

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['\n a = 1\nb', '1/0', '']);
    Object.defineProperty(opened.tracker, 'currentWidget', {
      get: () => opened.panel
    });
    opened.panel.content.activeCellIndex = 0;
    state = new PanelState();
    services = {
      notebooks: opened.tracker,
      state,
      store: { state: { currentTaskId: 't' } },
      commands: new CommandRegistry(),
      client: opened.client,
      trans: nullTranslator.load('hdsp_agent')
    } as unknown as IPanelServices;
  });

  afterEach(() => {
    state.dispose();
    opened.close();
  });

  const outputs = (index: number) =>
    (opened.model.cells.get(index) as ICodeCellModel).outputs;
  const fail = () =>
    outputs(1).add({
      output_type: 'error',
      ename: 'ZeroDivisionError',
      evalue: 'division by zero',
      traceback: ['\u001b[31mTraceback\u001b[0m']
    });
  const at = (cellId: string) => findCell(services, opened.path, cellId);

  it('should be the cell one is at, once', async () => {
    expect(await attachPart(services, 'cell')).toBeNull();
    expect(await attachPart(services, 'cell')).toBeNull();
    expect(state.draft('t').attachments).toMatchObject([
      {
        kind: 'cell',
        path: opened.path,
        cellId: 'cell-0',
        content: '\n a = 1\nb'
      }
    ]);
    expect(state.draft('t').attachments[0].label).toBe('Cell 1');
  });

  it('should be what is selected', async () => {
    const { editor } = opened.panel.content.widgets[0] as CodeCell;
    expect(await attachPart(services, 'selection')).toContain('selected');
    editor?.setSelection({
      start: { line: 1, column: 1 },
      end: { line: 1, column: 6 }
    });
    expect(await attachPart(services, 'selection')).toBeNull();
    expect(state.draft('t').attachments).toMatchObject([{ content: 'a = 1' }]);
  });

  it('should be an output, its pictures as pictures', async () => {
    outputs(0).add({ output_type: 'stream', name: 'stdout', text: 'hello\n' });
    outputs(0).add({
      output_type: 'display_data',
      data: { 'image/png': 'iVBORw0=\n', 'text/plain': '<Figure>' },
      metadata: {}
    });
    expect(await attachPart(services, 'output')).toBeNull();
    expect(state.draft('t').attachments).toMatchObject([
      { kind: 'output', content: 'hello\n<Figure>\n' }
    ]);
    expect(state.draft('t').images).toEqual(['data:image/png;base64,iVBORw0=']);
  });

  it('should be of a long output its begin and its end', async () => {
    const text = `begin${'x'.repeat(50_000)}end`;
    outputs(0).add({ output_type: 'stream', name: 'stdout', text });
    await attachPart(services, 'output');
    const [{ content }] = state.draft('t').attachments;
    expect(content?.length).toBeLessThan(21_000);
    expect(content).toMatch(/^begin.*30008 characters left out.*end$/s);
  });

  it('should be an error with the code it came from', async () => {
    expect(await attachPart(services, 'error', at('cell-1'))).toContain(
      'did not fail'
    );
    fail();
    expect(await attachPart(services, 'error', at('cell-1'))).toBeNull();
    expect(state.draft('t').attachments).toMatchObject([
      { kind: 'error', cellId: 'cell-1', content: '1/0\n\nTraceback' }
    ]);
  });

  it('should be nothing where there is nothing, and say so', async () => {
    expect(await attachPart(services, 'cell', at('cell-2'))).toContain('empty');
    expect(await attachPart(services, 'output')).toContain('no output');
    expect(await attachPart(services, 'cell', at('gone'))).toContain('no cell');
    expect(state.draft('t').attachments).toEqual([]);
  });

  it('should be found: its parts, its first line, what failed last', () => {
    const { widgets } = opened.panel.content;
    expect(firstLine(widgets[0])).toBe('a = 1');
    expect([...partsOf(widgets[0])]).toEqual(['cell']);
    expect(lastFailed(opened.panel)).toBeNull();
    fail();
    expect(lastFailed(opened.panel)).toBe(widgets[1]);
    expect([...partsOf(widgets[1])]).toEqual(['cell', 'output', 'error']);
  });

  it('should be suggested: the notebook, the cell, the failure, all cells', async () => {
    fail();
    const refusals: string[] = [];
    const suggestions = await notebookSuggestions(services, refusal =>
      refusals.push(refusal)
    );
    expect(suggestions.map(({ label }) => label)).toEqual([
      'This notebook',
      'Errors in this notebook',
      'Current cell',
      'Last failed cell',
      'Cell 1',
      'Cell 2',
      'Cell 3',
      'Output of cell 2'
    ]);
    const { choice } = suggestions[3];
    if (choice.kind === 'run') {
      choice.run();
    }
    await opened.settle();
    expect(state.draft('t').attachments).toMatchObject([{ kind: 'error' }]);
    expect(refusals).toEqual([]);
  });

  it('should be a section, by its heading', async () => {
    const { sharedModel } = opened.model;
    sharedModel.insertCells(0, [
      { cell_type: 'markdown', source: '# Load the data' },
      { cell_type: 'markdown', source: 'of last year' }
    ]);
    sharedModel.insertCell(3, { cell_type: 'markdown', source: '## By day\n' });
    sharedModel.insertCell(5, { cell_type: 'markdown', source: '# Plots' });
    await opened.settle();
    const suggestions = await notebookSuggestions(services, () => undefined);
    const sections = suggestions.filter(({ key }) => key.startsWith('section'));
    expect(sections.map(({ label, detail }) => [label, detail])).toEqual([
      ['Section: Load the data', '5 cells'],
      ['Section: By day', '2 cells'],
      ['Section: Plots', '2 cells']
    ]);
    const { choice } = sections[2];
    if (choice.kind === 'run') {
      choice.run();
    }
    await opened.settle();
    // The other cell of it is empty.
    expect(state.draft('t').attachments.map(({ content }) => content)).toEqual([
      '# Plots'
    ]);
  });

  it('should be what a conversation works on: the one in front, another, or none', () => {
    const { tracker, path } = opened;
    expect(chosenNotebook({ kind: 'front' }, tracker)).toEqual({
      path,
      cellId: 'cell-0'
    });
    expect(
      chosenNotebook({ kind: 'chosen', path: 'b.ipynb' }, tracker)
    ).toEqual({ path: 'b.ipynb' });
    expect(chosenNotebook({ kind: 'none' }, tracker)).toBeNull();
    expect(chosenNotebook({ kind: 'front' }, null)).toBeNull();
    expect(openPaths(tracker)).toEqual([path]);
  });

  it('should be attached by a command, which opens the panel', async () => {
    const { commands } = services;
    const added = addComposerCommands(services);
    const openings: unknown[] = [];
    commands.addCommand(CommandIDs.open, {
      execute: args => openings.push(args)
    });
    state.page = 'history';
    expect(commands.isEnabled(CommandIDs.attachCell, { cellId: 'gone' })).toBe(
      false
    );
    await commands.execute(CommandIDs.attachCell, {
      path: opened.path,
      cellId: 'cell-1'
    });
    expect(state.draft('t').attachments).toMatchObject([{ cellId: 'cell-1' }]);
    expect(state.page).toBe('chat');
    expect(openings).toHaveLength(1);
    let changes = 0;
    commands.commandChanged.connect(() => changes++);
    (opened.tracker.activeCellChanged as Signal<unknown, null>).emit(null);
    expect(changes).toBe(4);
    added.dispose();
    expect(commands.listCommands()).toEqual([CommandIDs.open]);
  });
});

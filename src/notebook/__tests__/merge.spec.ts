import type { YNotebook } from '@jupyter/ydoc';
import type * as nbformat from '@jupyterlab/nbformat';
import type { ICodeCellModel } from '@jupyterlab/cells';

import type { IFiledNotebook } from '../filed';
import { filedNotebook } from '../filed';
import { longestRise } from '../longestrise';
import { mergeFile } from '../merge';
import { pairedByText } from '../pairing';
import { OpenedNotebook } from './openednotebook';

type Cell = nbformat.ICell;

describe('what somebody else wrote into the file', () => {
  let opened: OpenedNotebook;
  let base: IFiledNotebook;
  let file: nbformat.INotebookContent;

  beforeEach(async () => {
    opened = await OpenedNotebook.open();
    // From then on files have the cells' ids.
    (opened.model.sharedModel as YNotebook).nbformat_minor = 5;
    base = filedNotebook(opened.model.sharedModel);
    file = opened.model.toJSON() as nbformat.INotebookContent;
  });

  afterEach(() => opened.close());

  const merge = () => mergeFile(opened.model, base, file);
  const here = (index: number) => opened.model.sharedModel.getCell(index);
  const code = (
    id: string,
    source: string,
    others: Partial<Cell> = {}
  ): Cell => ({
    id,
    cell_type: 'code',
    source,
    metadata: {},
    outputs: [],
    execution_count: null,
    ...others
  });
  const stream = (text: string) => ({
    output_type: 'stream',
    name: 'stdout',
    text
  });
  const outputs = (index: number) =>
    (opened.model.cells.get(index) as ICodeCellModel).outputs.toJSON();

  it('is shown in cells that stay the ones they were', () => {
    const cells = [...opened.model.sharedModel.cells];
    file.cells[1].source = 'b = 20';
    file.cells.splice(1, 0, code('new', 'x'));
    expect(merge().unsaved).toBe(false);
    expect(opened.sources).toEqual(['a = 1', 'x', 'b = 20', 'c = 3']);
    expect(opened.ids).toEqual(['cell-0', 'new', 'cell-1', 'cell-2']);
    expect([0, 2, 3].map(here)).toEqual(cells);
  });

  it('leaves what was typed here since', () => {
    here(1).setSource('b = 2 # typed');
    file.cells[0].source = 'a = 10';
    file.cells.pop();
    expect(merge().unsaved).toBe(true);
    expect(opened.sources).toEqual(['a = 10', 'b = 2 # typed']);
  });

  it('goes into a cell that was written in here in another place', () => {
    here(0).setSource('a = 1 # typed');
    file.cells[0].source = 'new\na = 1';
    expect(merge().unsaved).toBe(true);
    expect(opened.sources[0]).toBe('new\na = 1 # typed');
  });

  it('is there twice where both wrote in one place', () => {
    here(0).setSource('a = 11');
    file.cells[0].source = 'a = 12';
    expect(merge().unsaved).toBe(true);
    expect(opened.sources).toEqual(['a = 11', 'a = 12', 'b = 2', 'c = 3']);
    expect(new Set(opened.ids).size).toBe(4);
  });

  it('takes away no cell that somebody writes in', () => {
    here(1).setSource('b = 2 # typed');
    file.cells.splice(1, 2);
    expect(merge().unsaved).toBe(true);
    expect(opened.sources).toEqual(['a = 1', 'b = 2 # typed']);
  });

  it('brings back no cell that was deleted here, unless it was written in there', () => {
    opened.model.sharedModel.deleteCellRange(0, 2);
    file.cells[1].source = 'b = 20';
    expect(merge().unsaved).toBe(true);
    expect(opened.sources).toEqual(['b = 20', 'c = 3']);
  });

  it('leaves a cell that was made here where it is', () => {
    opened.model.sharedModel.insertCell(1, code('made', 'here'));
    file.cells.push(code('new', 'there'));
    expect(merge().unsaved).toBe(true);
    expect(opened.sources).toEqual([
      'a = 1',
      'here',
      'b = 2',
      'c = 3',
      'there'
    ]);
  });

  it('moves the fewest cells', () => {
    const [first, second] = opened.model.sharedModel.cells;
    file.cells.unshift(file.cells.pop() as Cell);
    expect(merge().unsaved).toBe(false);
    expect(opened.ids).toEqual(['cell-2', 'cell-0', 'cell-1']);
    expect([here(1), here(2)]).toEqual([first, second]);
  });

  it('moves nothing where cells were moved here', () => {
    opened.model.sharedModel.moveCell(0, 2);
    file.cells[0].source = 'a = 10';
    expect(merge().unsaved).toBe(true);
    expect(opened.sources).toEqual(['b = 2', 'c = 3', 'a = 10']);
  });

  it('changes the type of a cell', () => {
    file.cells[1] = { ...file.cells[1], cell_type: 'markdown' };
    expect(merge().unsaved).toBe(false);
    expect(here(1).cell_type).toBe('markdown');
    expect(opened.ids).toEqual(['cell-0', 'cell-1', 'cell-2']);
  });

  it('finds a cell that somebody writes in although the file calls it otherwise', () => {
    here(1).setSource('b = 2 # typed');
    file.cells = file.cells.map((cell, index) => ({
      ...cell,
      id: `other-${index}`
    }));
    const { unsaved } = merge();
    expect(unsaved).toBe(true);
    expect(opened.sources).toEqual(['a = 1', 'b = 2 # typed', 'c = 3']);
    expect(opened.ids).toEqual(['other-0', 'cell-1', 'other-2']);
  });

  it('is found by what cells say in a file without ids', () => {
    const cells = [...opened.model.sharedModel.cells];
    here(2).setSource('c = 3 # typed');
    file.cells = file.cells.map(({ id, ...cell }) => cell as Cell);
    file.cells[1].source = 'b = 20';
    file.cells.splice(1, 0, {
      cell_type: 'markdown',
      source: 'new',
      metadata: {}
    });
    expect(merge().unsaved).toBe(true);
    expect(opened.sources).toEqual(['a = 1', 'new', 'b = 20', 'c = 3 # typed']);
    expect([here(0), here(3)]).toEqual([cells[0], cells[2]]);
  });

  it('is shown with its outputs, trusted as they are there', () => {
    file.cells[0].outputs = [stream('1')];
    file.cells[0].execution_count = 3;
    file.cells[0].metadata.trusted = true;
    file.cells[1].outputs = [stream('2')];
    (opened.model.cells.get(1) as ICodeCellModel).trusted = true;
    expect(merge().unsaved).toBe(false);
    expect(outputs(0)).toMatchObject([{ text: '1' }]);
    expect(opened.model.cells.get(0)).toMatchObject({
      executionCount: 3,
      trusted: true
    });
    expect(opened.model.cells.get(1).trusted).toBe(false);
  });

  it('takes no outputs from a cell that was run here since', () => {
    const cell = opened.model.cells.get(0) as ICodeCellModel;
    cell.outputs.add(stream('mine'));
    cell.executionCount = 7;
    file.cells[0].outputs = [stream('theirs')];
    file.cells[0].execution_count = 6;
    expect(merge().unsaved).toBe(true);
    expect(outputs(0)).toMatchObject([{ text: 'mine' }]);
    expect(cell.executionCount).toBe(7);
  });

  it('brings metadata, and leaves what was set here', () => {
    here(0).setMetadata('tags', ['mine']);
    file.cells[0].metadata.tags = ['theirs'];
    file.cells[1].metadata.tags = ['theirs'];
    file.metadata.author = 'Anna';
    expect(merge().unsaved).toBe(true);
    expect(here(0).getMetadata('tags')).toEqual(['mine']);
    expect(here(1).getMetadata('tags')).toEqual(['theirs']);
    expect(opened.model.getMetadata('author')).toBe('Anna');
  });

  it('is no step that could be undone here', () => {
    const { sharedModel } = opened.model;
    here(0).setSource('a = 1 # typed');
    sharedModel.clearUndoHistory();
    file.cells[1].source = 'b = 20';
    file.cells.push(code('new', 'x'));
    merge();
    expect(sharedModel.canUndo()).toBe(false);
    expect(here(1).canUndo()).toBe(false);
    expect(here(0).undo()).toBe(true);
    expect(opened.sources).toEqual(['a = 1', 'b = 20', 'c = 3', 'x']);
  });

  it('is known after it', () => {
    file.cells[0].source = 'a = 10';
    const { filed } = merge();
    expect(filed.cells).toEqual(filedNotebook(opened.model.sharedModel).cells);
  });
});

describe('lists without names', () => {
  const pairs = (before: string, now: string) => {
    const list = (text: string) =>
      [...text].map(each => ({ text: each, type: 'code' }));
    return [...pairedByText(list(before), list(now))].sort(
      ([one], [other]) => one - other
    );
  };

  it('are paired by what is there once, what stands beside it and what is alone between', () => {
    expect(pairs('abc', 'axc')).toEqual([
      [0, 0],
      [1, 1],
      [2, 2]
    ]);
    expect(pairs('abc', 'anbc')).toEqual([
      [0, 0],
      [2, 1],
      [3, 2]
    ]);
    expect(pairs('xxbxx', 'xbx')).toEqual([
      [0, 0],
      [1, 2],
      [2, 3]
    ]);
    expect(pairs('ab', '')).toEqual([]);
    expect(pairs('abc', 'cab')).toEqual([
      [1, 0],
      [2, 1]
    ]);
  });
});

describe('the longest rise', () => {
  it('is the most numbers that rise as they stand', () => {
    expect(longestRise([])).toEqual([]);
    expect(longestRise([0, 1, 2])).toEqual([0, 1, 2]);
    expect(longestRise([2, 0, 1])).toEqual([0, 1]);
    expect(longestRise([3, 1, 0, 2, 4])).toHaveLength(3);
  });
});

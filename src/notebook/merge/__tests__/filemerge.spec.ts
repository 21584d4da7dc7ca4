import type { ISharedAttachmentsCell, YNotebook } from '@jupyter/ydoc';
import type * as nbformat from '@jupyterlab/nbformat';
import type { ICodeCellModel } from '@jupyterlab/cells';
import { UUID } from '@lumino/coreutils';

import type { ISavedNotebook } from '../savedform';
import { savedNotebook } from '../savedform';
import { longestIncreasing } from '../longestincreasing';
import { mergeFile } from '../filemerge';
import { pairedByText } from '../cellpairing';
import { OpenedNotebook } from '../../__tests__/openednotebook';

type Cell = nbformat.ICell;

describe('what somebody else wrote into the file', () => {
  let opened: OpenedNotebook;
  let base: ISavedNotebook;
  let file: nbformat.INotebookContent;

  beforeEach(async () => {
    opened = await OpenedNotebook.open();
    // From then on files have the cells' ids.
    (opened.model.sharedModel as YNotebook).nbformat_minor = 5;
    base = savedNotebook(opened.model.sharedModel);
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
  const picture = (data: string) => ({
    output_type: 'display_data',
    data: { 'image/png': data },
    metadata: {}
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

  describe.each([
    ['without ids', ({ id, ...cell }: Cell) => cell as Cell],
    [
      'with new ids at every reading',
      (cell: Cell) => ({ ...cell, id: UUID.uuid4() })
    ]
  ])('in a file %s', (_, renamed) => {
    const read = (...cells: Cell[]) => {
      file.cells = cells.map(renamed);
      const { inFile, unsaved } = merge();
      base = inFile;
      return unsaved;
    };

    it('leaves a cell that somebody writes in, between one more and one less', () => {
      const [a, b, c] = file.cells;
      const mine = here(1);
      mine.setSource('b = 2 # typed');
      expect(read(a, code('new', 'x'), b)).toBe(true);
      expect(opened.sources).toEqual(['a = 1', 'x', 'b = 2 # typed']);
      expect(here(2)).toBe(mine);
      mine.setSource('b = 2 # typed on');
      // What is read once more, or was changed again, is there once.
      expect(read(a, code('new', 'x'), b, c)).toBe(true);
      expect(opened.sources).toEqual([
        'a = 1',
        'x',
        'b = 2 # typed on',
        'c = 3'
      ]);
      expect(here(2)).toBe(mine);
      expect(opened.ids).toHaveLength(new Set(opened.ids).size);
    });

    it('leaves it where cells are empty or alike', () => {
      opened.fill(['', 'same', '', 'same', '']);
      base = savedNotebook(opened.model.sharedModel);
      const cells = (opened.model.toJSON() as typeof file).cells;
      const mine = here(2);
      mine.setSource('typed');
      expect(
        read(cells[0], cells[1], code('new', 'x'), ...cells.slice(2, 4))
      ).toBe(true);
      expect(opened.sources).toEqual(['', 'same', 'x', 'typed', 'same']);
      expect(here(3)).toBe(mine);
    });

    it('finds it where they wrote in it too', () => {
      opened.fill(['a = 1', 'b = 2\nprint(b)', 'c = 3', 'd = 4']);
      base = savedNotebook(opened.model.sharedModel);
      const [a, , , d] = (opened.model.toJSON() as typeof file).cells;
      const mine = here(1);
      mine.setSource('b = 2 # typed\nprint(b)');
      expect(
        read(a, code('new', 'x'), code('b', 'b = 2\nprint(b, 1)'), d)
      ).toBe(true);
      expect(opened.sources).toEqual([
        'a = 1',
        'x',
        'b = 2 # typed\nprint(b, 1)',
        'd = 4'
      ]);
      expect(here(2)).toBe(mine);
    });

    it('says nothing anew of what it has said', () => {
      opened.fill(['a', '', '']);
      base = savedNotebook(opened.model.sharedModel);
      const cells = (opened.model.toJSON() as typeof file).cells;
      expect(read(...cells, code('new', 'b'))).toBe(false);
      expect(read(...cells, code('new', 'b'))).toBe(false);
      expect(opened.sources).toEqual(['a', '', '', 'b']);
    });
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

  describe('where a cell was run again here, counted as before', () => {
    const cell = () => opened.model.cells.get(0) as ICodeCellModel;
    const ofTwo = () => [stream('1'), picture('old')];

    beforeEach(() => {
      cell().outputs.fromJSON(ofTwo());
      cell().executionCount = 1;
      base = savedNotebook(opened.model.sharedModel);
      file = opened.model.toJSON() as nbformat.INotebookContent;
      file.cells[1].source = 'b = 20';
    });

    it('leaves its outputs, which are in no file yet', () => {
      cell().outputs.fromJSON([stream('1'), picture('new')]);
      const { inFile, unsaved } = merge();
      expect(unsaved).toBe(true);
      expect(outputs(0)).toMatchObject([{ text: '1' }, picture('new')]);
      expect(opened.sources[1]).toBe('b = 20');
      // And it stays so, however often the file is read.
      base = inFile;
      expect(merge().unsaved).toBe(true);
      expect(outputs(0)).toMatchObject([{ text: '1' }, picture('new')]);
    });

    it('leaves them where it was run there as well', () => {
      cell().outputs.fromJSON([stream('mine')]);
      file.cells[0].outputs = [stream('theirs')];
      expect(merge().unsaved).toBe(true);
      expect(outputs(0)).toMatchObject([{ text: 'mine' }]);
    });

    it('leaves it without outputs that were cleared', () => {
      cell().outputs.clear();
      expect(merge().unsaved).toBe(true);
      expect(outputs(0)).toEqual([]);
    });

    it('leaves a text that grows', () => {
      cell().outputs.fromJSON([stream('1')]);
      base = savedNotebook(opened.model.sharedModel);
      file.cells[0].outputs = [stream('1')];
      cell().outputs.add(stream('\n2'));
      expect(merge().unsaved).toBe(true);
      expect(outputs(0)).toMatchObject([{ text: '1\n2' }]);
    });

    it('is saved where the file says the same', () => {
      cell().outputs.fromJSON([stream('1\n2'), picture('new')]);
      file.cells[0].outputs = [
        { ...stream(''), text: ['1\n', '2'] },
        picture('new')
      ];
      const { inFile, unsaved } = merge();
      expect(unsaved).toBe(false);
      expect(inFile.cells).toEqual(
        savedNotebook(opened.model.sharedModel).cells
      );
    });

    it('is saved where it printed the same again, and takes what they print', () => {
      cell().outputs.fromJSON(ofTwo());
      cell().trusted = true;
      file.cells[0].outputs = [stream('theirs')];
      expect(merge().unsaved).toBe(false);
      expect(outputs(0)).toMatchObject([{ text: 'theirs' }]);
    });

    it('leaves outputs of a cell with another count that has the count of the file', () => {
      cell().outputs.fromJSON([stream('mine')]);
      cell().executionCount = 2;
      file.cells[0].outputs = [stream('theirs')];
      file.cells[0].execution_count = 2;
      expect(merge().unsaved).toBe(true);
      expect(outputs(0)).toMatchObject([{ text: 'mine' }]);
    });

    it('finds it although the file calls it otherwise', () => {
      cell().outputs.fromJSON([stream('mine')]);
      file.cells.forEach((each, index) => {
        each.id = `other-${index}`;
      });
      expect(merge().unsaved).toBe(true);
      expect(outputs(0)).toMatchObject([{ text: 'mine' }]);
      expect(opened.sources).toEqual(['a = 1', 'b = 20', 'c = 3']);
    });
  });

  it('leaves outputs of a cell that came after the file was read', () => {
    const cell = opened.model.cells.get(0) as ICodeCellModel;
    base = { ...base, cells: new Map([...base.cells].slice(1)) };
    cell.outputs.add(stream('mine'));
    expect(merge().unsaved).toBe(true);
    expect(outputs(0)).toMatchObject([{ text: 'mine' }]);
  });

  it('takes outputs that the file has with returns as often as they change', () => {
    const printed = (text: string) => {
      file.cells[0].outputs = [stream(text)];
      const { inFile, unsaved } = merge();
      base = inFile;
      return unsaved;
    };
    expect(printed('10 %\r20 %\n')).toBe(false);
    expect(outputs(0)).toMatchObject([{ text: '20 %\n' }]);
    expect(printed('30 %\r40 %\n')).toBe(false);
    expect(outputs(0)).toMatchObject([{ text: '40 %\n' }]);
  });

  describe('into a cell with attachments', () => {
    const attach = (data: string) => ({ 'image/png': data });
    const markdown = () => {
      opened.model.sharedModel.insertCell(0, {
        id: 'md',
        cell_type: 'markdown',
        source: 'x',
        metadata: {},
        attachments: { 'old.png': attach('old') }
      });
      base = savedNotebook(opened.model.sharedModel);
      file = opened.model.toJSON() as nbformat.INotebookContent;
    };
    const attached = () =>
      (here(0) as unknown as ISharedAttachmentsCell).getAttachments();

    beforeEach(markdown);

    it('brings its picture where somebody types', () => {
      here(0).setSource('x mine');
      file.cells[0].source = '![i](attachment:p.png)\nx';
      file.cells[0].attachments = {
        'old.png': attach('old'),
        'p.png': attach('new')
      };
      expect(merge().unsaved).toBe(true);
      expect(here(0).getSource()).toBe('![i](attachment:p.png)\nx mine');
      expect(attached()).toEqual({
        'old.png': attach('old'),
        'p.png': attach('new')
      });
    });

    it('leaves a picture that was put in here', () => {
      (here(0) as unknown as ISharedAttachmentsCell).setAttachments({
        'old.png': attach('old'),
        'mine.png': attach('mine')
      });
      delete file.cells[0].attachments;
      expect(merge().unsaved).toBe(true);
      expect(attached()).toEqual({ 'mine.png': attach('mine') });
    });

    it('takes away no cell into which a picture was put here', () => {
      (here(0) as unknown as ISharedAttachmentsCell).setAttachments({
        'mine.png': attach('mine')
      });
      file.cells.shift();
      expect(merge().unsaved).toBe(true);
      expect(attached()).toEqual({ 'mine.png': attach('mine') });
    });
  });

  describe('with a new cell that has the id of a new one here', () => {
    const markdown = (source: string): Cell => ({
      id: 'n',
      cell_type: 'markdown',
      source,
      metadata: {}
    });

    it.each([
      ['another type', markdown('my text')],
      ['the same type', code('n', 'my text')]
    ])('loses neither text, of %s', (_, mine) => {
      opened.model.sharedModel.insertCell(3, mine);
      file.cells.push(code('n', 'their code'));
      let merged = merge();
      expect(merged.unsaved).toBe(true);
      const both = ['a = 1', 'b = 2', 'c = 3', 'my text', 'their code'];
      expect(opened.sources).toEqual(both);
      merged = mergeFile(opened.model, merged.inFile, file);
      expect(merged.unsaved).toBe(true);
      expect(opened.sources).toEqual(both);
    });

    it('makes no copy where one text has the other in it', () => {
      opened.model.sharedModel.insertCell(3, code('n', 'x = 1 # typed'));
      file.cells.push(code('n', 'x = 1'));
      expect(merge().unsaved).toBe(true);
      expect(opened.sources).toEqual([
        'a = 1',
        'b = 2',
        'c = 3',
        'x = 1 # typed'
      ]);
    });
  });

  describe('again and again', () => {
    const mergeAgain = (...sources: string[]) => {
      let inFile = base;
      for (const source of sources) {
        file.cells[0].source = source;
        inFile = mergeFile(opened.model, inFile, file).inFile;
      }
      return inFile;
    };

    it('piles up no copies of a cell that both write in', () => {
      here(0).setSource('mine');
      mergeAgain('theirs', 'theirs, too', 'something else');
      expect(opened.sources).toEqual([
        'mine',
        'something else',
        'b = 2',
        'c = 3'
      ]);
    });

    it('leaves what somebody wrote into the copy', () => {
      here(0).setSource('mine');
      const inFile = mergeAgain('theirs');
      here(1).setSource('theirs # looks right');
      base = inFile;
      mergeAgain('now theirs');
      expect(opened.sources.slice(0, 3)).toEqual([
        'mine',
        'now theirs # looks right',
        'b = 2'
      ]);
    });

    it('takes the copy away once both say the same', () => {
      here(0).setSource('mine');
      mergeAgain('theirs', 'mine');
      expect(opened.sources).toEqual(['mine', 'b = 2', 'c = 3']);
    });

    it('piles up no cells with one id', () => {
      file.cells.splice(1, 0, code('cell-0', 'y'));
      const cells = ['a = 1', 'y', 'b = 2', 'c = 3'];
      let inFile = base;
      for (let time = 0; time < 3; time++) {
        const merged = mergeFile(opened.model, inFile, file);
        inFile = merged.inFile;
        expect(merged.unsaved).toBe(false);
        expect(opened.sources).toEqual(cells);
      }
      expect(new Set(opened.ids).size).toBe(4);
      opened.model.sharedModel.deleteCell(1);
      mergeFile(opened.model, inFile, file);
      expect(opened.sources).toEqual(['a = 1', 'b = 2', 'c = 3']);
    });

    it('leaves cells that were opened with one id as they are', () => {
      opened.model.sharedModel.insertCell(1, code('cell-0', 'y'));
      expect(opened.ids.slice(0, 2)).toEqual(['cell-0', 'cell-0']);
      let inFile = savedNotebook(opened.model.sharedModel);
      file = opened.model.toJSON() as nbformat.INotebookContent;
      for (const source of ['y', 'y', 'z']) {
        file.cells[1].source = source;
        const merged = mergeFile(opened.model, inFile, file);
        inFile = merged.inFile;
        expect(merged.unsaved).toBe(false);
        expect(opened.sources).toEqual(['a = 1', source, 'b = 2', 'c = 3']);
      }
    });
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
    const { inFile } = merge();
    expect(inFile.cells).toEqual(savedNotebook(opened.model.sharedModel).cells);
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
    expect(pairs('xyxyx', 'xynxy')).toEqual([
      [0, 0],
      [1, 1],
      [3, 2],
      [4, 3]
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
    expect(longestIncreasing([])).toEqual([]);
    expect(longestIncreasing([0, 1, 2])).toEqual([0, 1, 2]);
    expect(longestIncreasing([2, 0, 1])).toEqual([0, 1]);
    expect(longestIncreasing([3, 1, 0, 2, 4])).toHaveLength(3);
  });
});

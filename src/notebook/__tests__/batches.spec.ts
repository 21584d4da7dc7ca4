import { YNotebook } from '@jupyter/ydoc';
import { NotebookModel } from '@jupyterlab/notebook';

import type { NotebookOperation } from '../operations';
import { applyOperations } from '../operations';

describe('a batch of operations', () => {
  let model: NotebookModel;

  beforeEach(() => {
    model = new NotebookModel({ sharedModel: YNotebook.create() });
    model.sharedModel.deleteCellRange(0, model.sharedModel.cells.length);
    for (const id of ['a', 'b', 'c']) {
      model.sharedModel.addCell({ id, cell_type: 'code', source: id });
    }
  });

  afterEach(() => {
    model.dispose();
  });

  function sources(): string[] {
    return model.sharedModel.cells.map(
      cell => `${cell.getId()}: ${cell.getSource()}`
    );
  }

  function apply(...operations: NotebookOperation[]): void {
    expect(applyOperations(model, operations).status).toBe('applied');
  }

  function insert(cellId: string, after?: string): NotebookOperation {
    return {
      op: 'insertCell',
      cellId,
      cellType: 'code',
      source: cellId,
      ...(after === undefined ? {} : { after })
    };
  }

  it('puts a cell behind one after another was taken away', () => {
    apply({ op: 'deleteCell', cellId: 'a' }, insert('d', 'c'));
    expect(sources()).toEqual(['b: b', 'c: c', 'd: d']);
  });

  it('changes the right cell after another was put before it', () => {
    apply(insert('z'), { op: 'replaceSource', cellId: 'b', source: 'B' });
    expect(sources()).toEqual(['z: z', 'a: a', 'b: B', 'c: c']);
  });

  it('changes, moves and takes away what it put there itself', () => {
    apply(
      insert('d', 'a'),
      insert('e', 'd'),
      { op: 'replaceSource', cellId: 'd', source: 'D' },
      { op: 'moveCell', cellId: 'd', after: 'c' },
      { op: 'changeCellType', cellId: 'd', cellType: 'markdown' },
      { op: 'deleteCell', cellId: 'e' }
    );
    expect(sources()).toEqual(['a: a', 'b: b', 'c: c', 'd: D']);
    expect(model.sharedModel.cells[3].cell_type).toBe('markdown');
  });

  it('moves one cell after another, forth and back', () => {
    apply(
      { op: 'moveCell', cellId: 'a', after: 'c' },
      { op: 'moveCell', cellId: 'c' },
      { op: 'moveCell', cellId: 'b', after: 'a' }
    );
    expect(sources()).toEqual(['c: c', 'a: a', 'b: b']);
  });

  it('is one step of the undo history', () => {
    apply({ op: 'deleteCell', cellId: 'a' }, insert('d', 'c'), {
      op: 'replaceSource',
      cellId: 'b',
      source: 'B'
    });
    model.sharedModel.undo();
    expect(sources()).toEqual(['a: a', 'b: b', 'c: c']);
  });
});

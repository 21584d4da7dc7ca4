import { YNotebook } from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';

import { sourceHash } from '../hashes';
import type { NotebookOperation } from '../operations';
import { applyOperations } from '../operations';
import { OpenedNotebook } from './openednotebook';

describe('operations', () => {
  let opened: OpenedNotebook;

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['a = 1', 'b = 2', 'c = 3']);
  });

  afterEach(() => opened.close());

  const apply = (...operations: NotebookOperation[]) =>
    applyOperations(opened.model, operations);

  const outputsOf = (place: number) =>
    (opened.model.cells.get(place) as ICodeCellModel).outputs.toJSON();

  const stream = (text: string) => ({
    output_type: 'stream',
    name: 'stdout',
    text
  });

  describe('that replace a source', () => {
    const replaced = (old: string, source: string) => {
      opened.fill([old]);
      const deltas: unknown[] = [];
      const { sharedModel } = opened.model;
      sharedModel.getCell(0).changed.connect((_, { sourceChange }) => {
        deltas.push(...(sourceChange ?? []));
      });
      apply({ op: 'replaceSource', cellId: 'cell-0', source });
      expect(sharedModel.getCell(0).getSource()).toBe(source);
      return deltas;
    };

    it('change only what differs', () => {
      expect(replaced('x = old + 1', 'x = new + 1')).toEqual([
        { retain: 4 },
        { insert: 'new' },
        { delete: 3 }
      ]);
    });

    it.each([
      ['', 'text'],
      ['text', ''],
      ['aaa', 'aa'],
      ['aa', 'aaa'],
      ['abab', 'ab'],
      ['one\r\ntwo', 'one\ntwo']
    ])('make %j into %j', (old, source) => {
      replaced(old, source);
    });

    it.each([
      // One half of the character is the same, before or behind.
      ['x \u{1F600} y', 'x \u{1F601} y'],
      ['x \u{1F600} y', 'x \u{1FA00} y'],
      ['\u{1F600}', '\u{1F600}\u{1F600}'],
      ['\u{1F600}\u{1F601}', '\u{1F601}']
    ])('never part the halves of a character in %j', (old, source) => {
      let place = 0;
      for (const delta of replaced(old, source)) {
        const { insert, retain, delete: gone } = delta as Private.Delta;
        const length = retain ?? gone ?? 0;
        // It throws at half a character.
        encodeURIComponent(insert ?? old.slice(place, place + length));
        place += length;
      }
    });

    it('say what was before and is after', () => {
      expect(
        apply({ op: 'replaceSource', cellId: 'cell-1', source: 'b = 20' })
      ).toEqual({
        status: 'applied',
        changes: [{ cellId: 'cell-1', before: 'b = 2', after: 'b = 20' }]
      });
    });

    it('are no change if nothing differs', () => {
      expect(
        apply({ op: 'replaceSource', cellId: 'cell-1', source: 'b = 2' })
      ).toEqual({ status: 'applied', changes: [] });
    });
  });

  describe('that do not fit', () => {
    it('leave everything as it is, with what the cells say', () => {
      const before = opened.sources;
      const outcome = apply(
        { op: 'replaceSource', cellId: 'cell-0', source: 'changed' },
        {
          op: 'replaceSource',
          cellId: 'cell-1',
          expect: sourceHash('something else'),
          source: 'changed'
        },
        { op: 'deleteCell', cellId: 'nowhere' },
        { op: 'moveCell', cellId: 'cell-2', after: 'nowhere' }
      );
      expect(outcome).toEqual({
        status: 'mismatch',
        mismatches: [
          { index: 1, cellId: 'cell-1', source: 'b = 2' },
          { index: 2, cellId: 'nowhere' },
          { index: 3, cellId: 'nowhere' }
        ]
      });
      expect(opened.sources).toEqual(before);
      expect(opened.model.dirty).toBe(false);
    });

    it('are found against what the batch itself leaves behind', () => {
      const expectation = sourceHash('first');
      expect(
        apply(
          { op: 'replaceSource', cellId: 'cell-0', source: 'first' },
          {
            op: 'replaceSource',
            cellId: 'cell-0',
            expect: expectation,
            source: 'second'
          }
        ).status
      ).toBe('applied');
      expect(
        apply(
          { op: 'deleteCell', cellId: 'cell-0' },
          { op: 'replaceSource', cellId: 'cell-0', source: 'third' }
        )
      ).toEqual({
        status: 'mismatch',
        mismatches: [{ index: 1, cellId: 'cell-0' }]
      });
    });

    it('do not put in a cell that is there', () => {
      expect(
        apply({
          op: 'insertCell',
          cellId: 'cell-0',
          cellType: 'code',
          source: ''
        })
      ).toMatchObject({ status: 'mismatch' });
    });
  });

  it('insert, move, delete and change the type of cells', () => {
    apply(
      {
        op: 'insertCell',
        cellId: 'first',
        cellType: 'markdown',
        source: '# First'
      },
      {
        op: 'insertCell',
        cellId: 'last',
        after: 'cell-2',
        cellType: 'raw',
        source: 'last'
      },
      { op: 'moveCell', cellId: 'cell-2' },
      { op: 'deleteCell', cellId: 'cell-0' },
      { op: 'changeCellType', cellId: 'cell-1', cellType: 'markdown' }
    );
    expect(
      opened.model.sharedModel.cells.map(cell => [
        cell.getId(),
        cell.cell_type,
        cell.getSource()
      ])
    ).toEqual([
      ['cell-2', 'code', 'c = 3'],
      ['first', 'markdown', '# First'],
      ['cell-1', 'markdown', 'b = 2'],
      ['last', 'raw', 'last']
    ]);
  });

  it('say of a cell that is gone all there was, and where', () => {
    apply({ op: 'setOutputs', cellId: 'cell-1', outputs: [stream('2')] });
    const outcome = apply({ op: 'deleteCell', cellId: 'cell-1' });
    expect(outcome).toMatchObject({
      changes: [
        {
          cellId: 'cell-1',
          before: 'b = 2',
          after: null,
          removed: {
            behind: 'cell-0',
            place: 1,
            cell: { id: 'cell-1', cell_type: 'code', source: 'b = 2' }
          }
        }
      ]
    });
  });

  it('set and remove metadata', () => {
    apply(
      { op: 'setCellMetadata', cellId: 'cell-0', key: 'tags', value: ['x'] },
      { op: 'setNotebookMetadata', key: 'title', value: 'T' }
    );
    const { sharedModel } = opened.model;
    expect(sharedModel.getCell(0).getMetadata('tags')).toEqual(['x']);
    expect(sharedModel.getMetadata('title')).toBe('T');
    apply(
      { op: 'setCellMetadata', cellId: 'cell-0', key: 'tags' },
      { op: 'setNotebookMetadata', key: 'title' }
    );
    expect(sharedModel.getCell(0).getMetadata('tags')).toBeUndefined();
    expect(sharedModel.getMetadata('title')).toBeUndefined();
  });

  describe('on outputs', () => {
    it('go through the models of the cells, each text once', () => {
      apply({
        op: 'setOutputs',
        cellId: 'cell-0',
        outputs: [stream('one\n')],
        executionCount: 4
      });
      apply({
        op: 'appendOutput',
        cellId: 'cell-0',
        output: { output_type: 'error', ename: 'E', evalue: 'v', traceback: [] }
      });
      expect(outputsOf(0)).toMatchObject([
        stream('one\n'),
        { output_type: 'error', ename: 'E' }
      ]);
      const saved = opened.model.sharedModel.getCell(0).toJSON();
      expect(saved).toMatchObject({
        execution_count: 4,
        outputs: [{ text: 'one\n' }, { ename: 'E' }]
      });
      apply({ op: 'clearOutputs', cellId: 'cell-0' });
      expect(outputsOf(0)).toEqual([]);
    });

    it('leave alone what is there already', () => {
      apply({ op: 'setOutputs', cellId: 'cell-0', outputs: [stream('a\nb')] });
      const { outputs } = opened.model.cells.get(0) as ICodeCellModel;
      const shown = outputs.get(0);
      apply({
        op: 'setOutputs',
        cellId: 'cell-0',
        outputs: [{ ...stream(''), text: ['a\n', 'b'] }]
      });
      expect(outputs.get(0)).toBe(shown);
    });

    it('come back trusted as they were, and others as the cell is', () => {
      const cell = opened.model.cells.get(0) as ICodeCellModel;
      const set = (html: string, trusted?: boolean) =>
        apply({
          op: 'setOutputs',
          cellId: 'cell-0',
          outputs: [
            {
              output_type: 'display_data',
              data: { 'text/html': html },
              metadata: {}
            }
          ],
          ...(trusted === undefined ? {} : { trusted })
        });
      const seen: boolean[] = [];
      cell.outputs.changed.connect((_, { type }) => {
        if (type === 'add') {
          seen.push(cell.outputs.get(0).trusted);
        }
      });
      cell.trusted = true;
      set('<b>run by the agent</b>');
      set('<i>untrusted</i>', false);
      set('<i>untrusted, run by nobody</i>');
      set('<u>trusted</u>', true);
      // Not for a moment as something else.
      expect(seen).toEqual([true, false, false, true]);
      set('<u>trusted</u>', false);
      expect(cell.trusted).toBe(true);
      expect(cell.sharedModel.getMetadata('trusted')).toBe(true);
      set('<i>untrusted</i>', false);
      expect(cell.sharedModel.getMetadata('trusted')).toBe(false);
    });

    it.each([true, false])(
      'of a cell that comes back are trusted: %s',
      trusted => {
        apply({
          op: 'insertCell',
          cellId: 'back',
          cellType: 'code',
          source: '',
          outputs: [stream('x')],
          trusted
        });
        expect(opened.model.cells.get(0).trusted).toBe(trusted);
      }
    );

    it('are no step that can be undone', () => {
      apply(
        { op: 'replaceSource', cellId: 'cell-0', source: 'new' },
        { op: 'setOutputs', cellId: 'cell-0', outputs: [stream('x')] }
      );
      opened.model.sharedModel.undo();
      expect(opened.sources[0]).toBe('a = 1');
      expect(outputsOf(0)).toMatchObject([{ text: 'x' }]);
    });
  });

  describe('of attachments', () => {
    const picture = { 'a.png': { 'image/png': 'aGk=' } };
    const other = { 'b.png': { 'image/png': 'aG8=' } };
    const attachments = () => {
      const cell = opened.model.sharedModel.getCell(0).toJSON();
      return (cell as { attachments?: unknown }).attachments;
    };
    const insert: NotebookOperation = {
      op: 'insertCell',
      cellId: 'picture',
      cellType: 'markdown',
      source: '![](attachment:a.png)',
      attachments: picture
    };

    it('bring them back with their cell', () => {
      apply(insert);
      expect(attachments()).toEqual(picture);
    });

    it('set them, as a step that can be undone', () => {
      apply(insert);
      apply({
        op: 'setAttachments',
        cellId: 'picture',
        attachments: other
      });
      expect(attachments()).toEqual(other);
      opened.model.sharedModel.undo();
      expect(attachments()).toEqual(picture);
    });

    it('take the last of them away', () => {
      apply(insert);
      apply({ op: 'setAttachments', cellId: 'picture', attachments: {} });
      expect(attachments()).toBeUndefined();
    });

    it('give a code cell none', () => {
      apply({ ...insert, cellType: 'code' });
      expect(attachments()).toBeUndefined();
    });
  });

  describe('are undone', () => {
    it('all at once', () => {
      const before = [opened.ids, opened.sources];
      apply(
        { op: 'replaceSource', cellId: 'cell-0', source: 'changed' },
        { op: 'deleteCell', cellId: 'cell-1' },
        { op: 'insertCell', cellId: 'n', cellType: 'code', source: 'new' }
      );
      opened.model.sharedModel.undo();
      expect([opened.ids, opened.sources]).toEqual(before);
    });

    it('apart from what the person typed just before and behind', () => {
      const cell = opened.model.sharedModel.getCell(0);
      opened.model.sharedModel.transact(() => cell.updateSource(5, 5, '!'));
      apply({ op: 'replaceSource', cellId: 'cell-0', source: 'agent' });
      opened.model.sharedModel.transact(() => cell.updateSource(5, 5, '?'));
      expect(cell.getSource()).toBe('agent?');
      opened.model.sharedModel.undo();
      expect(cell.getSource()).toBe('agent');
      opened.model.sharedModel.undo();
      expect(cell.getSource()).toBe('a = 1!');
      opened.model.sharedModel.undo();
      expect(cell.getSource()).toBe('a = 1');
    });

    it('by Ctrl+Z in the cell, where each cell has its own history', () => {
      const sharedModel = new YNotebook({ disableDocumentWideUndoRedo: true });
      const first = sharedModel.insertCell(0, {
        id: 'own',
        cell_type: 'code',
        source: 'mine'
      });
      first.updateSource(4, 4, '!');
      applyOperations({ sharedModel, cells: opened.model.cells }, [
        { op: 'replaceSource', cellId: 'own', source: 'of the agent' }
      ]);
      first.undo();
      expect(first.getSource()).toBe('mine!');
      first.redo();
      expect(first.getSource()).toBe('of the agent');
      first.undo();
      first.undo();
      expect(first.getSource()).toBe('mine');
      sharedModel.dispose();
    });
  });
});

/**
 * Types of these tests alone.
 */
namespace Private {
  export type Delta = { insert?: string; retain?: number; delete?: number };
}

import type { NotebookOperation } from '../../operations';
import { applyOperations } from '../../operations';
import type { IVerdict } from '../notebookreview';
import { NotebookReview } from '../notebookreview';
import { OpenedNotebook } from '../../__tests__/openednotebook';

describe('a review', () => {
  let opened: OpenedNotebook;
  let review: NotebookReview;
  let verdicts: IVerdict[];

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['a', 'b', 'c', 'd']);
    review = new NotebookReview(opened.model);
    verdicts = [];
    review.reviewed.connect((_, verdict) => verdicts.push(verdict));
  });

  afterEach(() => {
    review.dispose();
    opened.close();
  });

  const act = (...operations: NotebookOperation[]) => {
    const outcome = applyOperations(opened.model, operations);
    if (outcome.status !== 'applied') {
      throw new Error('The operations do not fit');
    }
    review.record(outcome.changes);
  };

  const edit = (cellId: string, source: string): NotebookOperation => ({
    op: 'replaceSource',
    cellId,
    source
  });
  const insert = (cellId: string, source = 'new'): NotebookOperation => ({
    op: 'insertCell',
    cellId,
    cellType: 'code',
    source
  });
  const remove = (cellId: string): NotebookOperation => ({
    op: 'deleteCell',
    cellId
  });
  const waiting = () =>
    [...review.waiting].map(([cellId, { kind }]) => `${cellId} ${kind}`);
  const before = (cellId: string) => {
    const change = review.waiting.get(cellId);
    return change && 'before' in change ? change.before : null;
  };

  it('compares with what was there before the first edit nobody looked at', () => {
    act(edit('cell-0', 'a2'));
    act(edit('cell-0', 'a3'));
    expect(waiting()).toEqual(['cell-0 edited']);
    expect(before('cell-0')).toBe('a');
  });

  it.each<[string, NotebookOperation[], string[]]>([
    [
      'an edit and its opposite',
      [edit('cell-0', 'x'), edit('cell-0', 'a')],
      []
    ],
    [
      'a new cell that is edited',
      [insert('n'), edit('n', 'x')],
      ['n inserted']
    ],
    ['a new cell that is deleted', [insert('n'), remove('n')], []],
    [
      'an edited cell that is deleted',
      [edit('cell-0', 'x'), remove('cell-0')],
      ['cell-0 deleted']
    ],
    [
      'a deleted cell that comes back',
      [remove('cell-0'), insert('cell-0', 'a')],
      []
    ],
    [
      'a deleted cell that comes back as another',
      [remove('cell-0'), insert('cell-0', 'other')],
      ['cell-0 edited']
    ]
  ])('sums up %s', (_, operations, expected) => {
    operations.forEach(operation => act(operation));
    expect(waiting()).toEqual(expected);
  });

  it('is over for a cell that is kept', () => {
    act(edit('cell-0', 'a2'));
    review.keep('cell-0');
    expect(waiting()).toEqual([]);
    expect(opened.sources[0]).toBe('a2');
    expect(verdicts).toEqual([
      { cellId: 'cell-0', accepted: true, part: 'whole' }
    ]);
  });

  it('takes back in one step, which can be undone', () => {
    act(edit('cell-0', 'a2'), insert('n'), remove('cell-2'));
    const done = [opened.ids, opened.sources];
    review.undoAll();
    expect(opened.sources).toEqual(['a', 'b', 'c', 'd']);
    expect(opened.ids).toEqual(['cell-0', 'cell-1', 'cell-2', 'cell-3']);
    expect(waiting()).toEqual([]);
    expect(verdicts.map(({ accepted }) => accepted)).toEqual([
      false,
      false,
      false
    ]);
    opened.model.sharedModel.undo();
    expect([opened.ids, opened.sources]).toEqual(done);
  });

  it('brings cells back to their places, in whatever order', () => {
    act(remove('cell-1'), remove('cell-2'));
    expect(review.deleted()).toEqual(
      new Map([['cell-0', ['cell-1', 'cell-2']]])
    );
    review.undo('cell-2');
    expect(opened.sources).toEqual(['a', 'c', 'd']);
    review.undo('cell-1');
    expect(opened.sources).toEqual(['a', 'b', 'c', 'd']);
  });

  it('brings back all there was of a cell', () => {
    act({
      op: 'setOutputs',
      cellId: 'cell-0',
      outputs: [{ output_type: 'stream', name: 'stdout', text: 'kept' }],
      executionCount: 3
    });
    act(edit('cell-0', 'changed first'), remove('cell-0'));
    expect(review.deleted()).toEqual(new Map([[null, ['cell-0']]]));
    review.undo('cell-0');
    expect(opened.model.sharedModel.getCell(0).toJSON()).toMatchObject({
      id: 'cell-0',
      source: 'a',
      execution_count: 3,
      outputs: [{ text: 'kept' }]
    });
  });

  it('knows the place of a deleted cell whose neighbour the person deleted', () => {
    act(remove('cell-2'));
    opened.model.sharedModel.deleteCell(1);
    review.undo('cell-2');
    expect(opened.sources).toEqual(['a', 'd', 'c']);
  });

  it('goes on with the rest when a part is kept', () => {
    act(edit('cell-0', 'one\ntwo'));
    review.keepPart('cell-0', 'one');
    expect(before('cell-0')).toBe('one');
    review.keepPart('cell-0', 'one\ntwo');
    expect(waiting()).toEqual([]);
    expect(verdicts).toEqual([
      { cellId: 'cell-0', accepted: true, part: 'hunk', before: 'one' },
      { cellId: 'cell-0', accepted: true, part: 'whole' }
    ]);
  });

  it('is over when the person takes everything back in another way', async () => {
    act(edit('cell-0', 'a2'), insert('n'), remove('cell-2'));
    opened.model.sharedModel.undo();
    await opened.settle();
    expect(waiting()).toEqual([]);
    expect(verdicts).toHaveLength(3);
    expect(verdicts.every(({ accepted }) => !accepted)).toBe(true);
  });

  it('stays with what the person types into a changed cell', async () => {
    act(edit('cell-0', 'a2'));
    opened.model.sharedModel.getCell(0).setSource('a2 and more');
    await opened.settle();
    expect(before('cell-0')).toBe('a');
    expect(verdicts).toEqual([]);
  });

  const type = (place: number, source: string) =>
    opened.model.sharedModel.getCell(place).setSource(source);

  it.each([
    ['below', 'a\nagent', 'a\nagent\nmine', 'a\nmine'],
    ['above', 'a\nagent', 'mine\na\nagent', 'mine\na'],
    ['between two changes', 'x\na\ny', 'x\na\nmine\ny', 'a\nmine'],
    ['in another line', 'a\nagent', 'a mine\nagent', 'a mine']
  ])(
    'takes back only its own where the person wrote %s',
    (_, agents, typed, rest) => {
      act(edit('cell-0', agents));
      type(0, typed);
      review.undo('cell-0');
      expect(opened.sources[0]).toBe(rest);
      expect(waiting()).toEqual([]);
    }
  );

  it('takes nothing back in lines the person wrote over, and says so', () => {
    let refused = 0;
    review.refused.connect(() => refused++);
    act(edit('cell-0', 'a2'), edit('cell-1', 'b2'), insert('n'));
    type(1, 'a2 mine');
    type(0, 'new and mine');
    review.undoAll();
    expect(opened.sources.slice(0, 3)).toEqual([
      'new and mine',
      'a2 mine',
      'b'
    ]);
    expect(waiting()).toEqual(['cell-0 edited', 'n inserted']);
    expect(refused).toBe(1);
    expect(verdicts).toEqual([
      { cellId: 'cell-1', accepted: false, part: 'whole' }
    ]);
  });

  it('counts what the person wrote between two edits as theirs', () => {
    act(edit('cell-0', 'a\nagent'));
    type(0, 'a\nagent\nmine');
    act(edit('cell-0', 'a\nagent again\nmine'));
    expect(before('cell-0')).toBe('a\nmine');
    review.undo('cell-0');
    expect(opened.sources[0]).toBe('a\nmine');
  });

  it('goes on from what the person wrote over the agent', () => {
    act(edit('cell-0', 'agent'), insert('n', 'made'));
    type(1, 'agent, corrected');
    type(0, 'made, corrected');
    act(edit('cell-0', 'agent again'), edit('n', 'made again'));
    review.undoAll();
    expect(opened.sources.slice(0, 2)).toEqual([
      'made, corrected',
      'agent, corrected'
    ]);
  });

  it('takes back a part without what the person wrote in it', () => {
    act(edit('cell-0', 'x\na\ny'));
    type(0, 'x\na\ny\nmine');
    review.undoPart('cell-0', { from: 2, to: 4, before: [] });
    expect(opened.sources[0]).toBe('x\na\nmine');
    review.undoPart('cell-0', { from: 0, to: 1, before: [] });
    expect(opened.sources[0]).toBe('a\nmine');
  });

  it('is over for good when the last part is taken back', () => {
    act(edit('cell-0', 'x\na\ny'));
    review.undoPart('cell-0', { from: 2, to: 3, before: [] });
    expect(waiting()).toEqual(['cell-0 edited']);
    review.undoPart('cell-0', { from: 0, to: 1, before: [] });
    expect(waiting()).toEqual([]);
    expect(verdicts).toEqual([
      { cellId: 'cell-0', accepted: false, part: 'hunk', isLast: false },
      { cellId: 'cell-0', accepted: false, part: 'hunk', isLast: true }
    ]);
    type(0, 'mine');
    review.restore([{ cellId: 'cell-0', before: 'a', after: 'x\na\ny' }]);
    expect(waiting()).toEqual([]);
  });

  it('takes up what was done before only where it is still to be seen', () => {
    const restored = [
      { cellId: 'cell-0', before: 'a0', after: 'a' },
      { cellId: 'cell-1', before: 'b', after: 'b2' },
      { cellId: 'cell-2', before: null, after: 'c' },
      { cellId: 'nowhere', before: null, after: 'x' }
    ];
    review.restore(restored);
    expect(waiting()).toEqual(['cell-0 edited', 'cell-2 inserted']);
    review.keep('cell-0');
    review.restore(restored);
    expect(waiting()).toEqual(['cell-2 inserted']);
    review.restore([{ cellId: 'cell-0', before: 'a', after: 'another' }]);
    expect(waiting()).toEqual(['cell-2 inserted']);
    type(0, 'another');
    review.restore([{ cellId: 'cell-0', before: 'a', after: 'another' }]);
    expect(waiting()).toEqual(['cell-2 inserted', 'cell-0 edited']);
  });

  it('changes nothing in a notebook that may not be changed', () => {
    act(edit('cell-0', 'a2'));
    opened.model.readOnly = true;
    review.undo('cell-0');
    expect(waiting()).toEqual(['cell-0 edited']);
  });

  it('takes up only what waits already where nothing is to be shown', () => {
    act(edit('cell-0', 'a2'));
    review.record(
      [
        { cellId: 'cell-0', before: 'a2', after: 'a' },
        { cellId: 'cell-1', before: 'b', after: 'b2' }
      ],
      true
    );
    expect(waiting()).toEqual([]);
  });

  it('knows nothing any more when it is disposed', async () => {
    act(edit('cell-0', 'a2'));
    review.dispose();
    opened.model.sharedModel.getCell(0).setSource('a');
    await opened.settle();
    expect(verdicts).toEqual([]);
    expect(waiting()).toEqual([]);
  });
});

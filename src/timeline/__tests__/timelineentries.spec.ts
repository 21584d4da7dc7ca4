import type { CheckpointView, OperationView } from '../../generated/rest';
import { entriesOf, groupsOf, isUnchanged } from '../timelineentries';
import { checkpoint, operation } from './openedtimeline';

const NOTHING = { files: 0, cells: 0, variables: 0 };
const SOMETHING = { files: 1, cells: 0, variables: 0 };

/** A save around what a conversation's agent does. */
function save(
  id: string,
  reason: string,
  others: Partial<CheckpointView> = {},
  more: Partial<OperationView> = {}
): OperationView {
  return operation(id, {
    checkpoint: checkpoint(`m-${id}`, {
      taskId: 'task',
      reason,
      kind: reason.split(' ')[0] as CheckpointView['kind'],
      changed: NOTHING,
      ...others
    }),
    ...more
  });
}

const request = (text: string, requestTs: number) => ({
  step: { request: text, requestTs, cells: [] }
});

function told(operations: readonly OperationView[], open?: string) {
  return entriesOf(operations, open).map(
    ({ kind, operation, before }) =>
      `${kind} ${operation.id}${before ? `<${before.id}` : ''}`
  );
}

describe('the rows of the timeline', () => {
  it('are one for each step, whatever other conversations do meanwhile', () => {
    const theirs = { taskId: 'other' };
    expect(
      told([
        save('6', 'after edit_cells', { changed: SOMETHING }),
        save('5', 'after run_cells', { ...theirs, changed: SOMETHING }),
        save('4', 'before edit_cells'),
        save('3', 'before run_cells', theirs),
        save('2', 'after run_cells', { changed: SOMETHING }),
        save('1', 'before run_cells')
      ])
    ).toEqual(['step 6<4', 'step 5<3', 'step 2<1']);
  });

  it('are what they are where the other half is not loaded', () => {
    expect(told([save('2', 'after run_cells')])).toEqual(['other 2']);
    expect(
      told([
        save('3', 'after run_cells'),
        save('2', 'after edit_cells'),
        save('1', 'before edit_cells')
      ])
    ).toEqual(['other 3', 'step 2<1']);
  });

  it('tell of what the person changed before a step, and not of what the agent did', () => {
    const after = save('3', 'after run_cells', { changed: SOMETHING });
    const found = (others: Partial<CheckpointView>, reason = 'before') =>
      told([after, save('2', `${reason} run_cells`, others)]);
    expect(found({ changed: SOMETHING })).toEqual(['step 3<2', 'edits 2']);
    expect(found({ changed: SOMETHING, author: 'agent' })).toEqual([
      'step 3<2',
      'other 2'
    ]);
    expect(found({ changed: SOMETHING }, 'while')).toEqual([
      'step 3<2',
      'other 2'
    ]);
    expect(found({ changed: undefined })).toEqual(['step 3<2']);
    expect(
      told([
        save('1', 'look', {
          kind: 'look',
          taskId: undefined,
          changed: SOMETHING
        })
      ])
    ).toEqual(['edits 1']);
  });

  it('have the one that is open among them', () => {
    const rows = [save('2', 'after run_cells'), save('1', 'before run_cells')];
    expect(told(rows, '1')).toEqual(['step 2<1', 'other 1']);
  });

  it('are of nothing where nothing changed, but for what a person saved', () => {
    const unchanged = (row: OperationView) =>
      entriesOf([row]).map(isUnchanged)[0];
    expect(unchanged(save('1', 'before run_cells'))).toBe(true);
    expect(unchanged(save('1', 'after run_cells'))).toBe(true);
    expect(
      unchanged(
        save('1', 'before run_cells', { changed: undefined, sameFiles: true })
      )
    ).toBe(true);
    // The first of all.
    expect(
      unchanged(save('1', 'before run_cells', { changed: undefined }))
    ).toBe(false);
    expect(
      unchanged(save('1', 'after run_cells', { changed: SOMETHING }))
    ).toBe(false);
    const one = { id: 'v', ts: 1, path: 'a.ipynb', same: 1, differing: 0 };
    expect(
      unchanged(save('1', 'after run_cells', {}, { verified: [one] }))
    ).toBe(false);
    for (const kind of ['note', 'asked_for'] as const) {
      expect(unchanged(save('1', 'mine', { kind }))).toBe(false);
    }
    expect(unchanged(save('1', 'after restore', {}, { kind: 'restore' }))).toBe(
      false
    );
    expect(unchanged(save('1', 'before run_cells', {}, { error: 'No.' }))).toBe(
      false
    );
  });

  it('tell once what was verified before a step', () => {
    const one = { id: 'v', ts: 1, path: 'a.ipynb', same: 1, differing: 0 };
    const rows = (changed: CheckpointView['changed'], open?: string) =>
      entriesOf(
        [
          save('2', 'after run_cells'),
          save('1', 'before run_cells', { changed }, { verified: [one] })
        ],
        open
      );
    const reports = (changed: CheckpointView['changed'], open?: string) =>
      rows(changed, open).map(({ operation, verifiedBefore = [] }) => [
        ...operation.verified.map(() => 'in it'),
        ...verifiedBefore.map(() => 'before')
      ]);
    expect(reports(NOTHING)).toEqual([['before']]);
    expect(reports(NOTHING, '1')).toEqual([[], ['in it']]);
    expect(reports(SOMETHING)).toEqual([[], ['in it']]);
    expect(rows(NOTHING).map(isUnchanged)).toEqual([false]);
  });

  it('of one request are together as long as nothing comes between them', () => {
    const rows = [
      save('8', 'after run_cells', { changed: SOMETHING }),
      save('7', 'before run_cells', {}, request('Plot it.', 2)),
      save('6', 'after run_cells', { changed: SOMETHING }),
      save(
        '5',
        'before run_cells',
        { changed: SOMETHING },
        request('Clean up.', 1)
      ),
      operation('4'),
      save('3', 'after edit_cells', { changed: SOMETHING }),
      save('2', 'before edit_cells', {}, request('Clean up.', 1)),
      save('1', 'after run_cells', { changed: SOMETHING })
    ];
    const groups = groupsOf(entriesOf(rows));
    expect(
      groups.map(({ request, entries }) => [
        request,
        entries.map(({ operation }) => operation.id)
      ])
    ).toEqual([
      ['Plot it.', ['8']],
      ['Clean up.', ['6', '5']],
      [null, ['4']],
      ['Clean up.', ['3']],
      [null, ['1']]
    ]);
    const newer = [
      save('a', 'after run_code', { changed: SOMETHING }),
      save('9', 'before run_code', {}, request('Plot it.', 2)),
      ...rows
    ];
    expect(groupsOf(entriesOf(newer)).map(({ key }) => key)).toEqual(
      groups.map(({ key }) => key)
    );
  });
});

import { CommandIDs } from '../../../../ui/commandids';
import type {
  CheckpointView,
  OperationView,
  RestoreResult
} from '../../../../generated/rest';
import { whenText } from '../../../../timeline/timelinetexts';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows } from './shownrows';

const SAVED = {
  say: 'checkpoint_saved',
  text: '0a1b2c3d4e5f',
  checkpoint: {
    from: '99',
    to: '0a1b2c3d4e5f',
    id: 'checkpoint',
    reason: 'before run_cells'
  }
} as const;

function result(change: Partial<OperationView> = {}): RestoreResult {
  return {
    operation: {
      id: 'restore',
      ts: 100,
      kind: 'restore',
      status: 'done',
      parts: ['files', 'notebooks', 'variables'],
      written: 1,
      deleted: 0,
      kept: 0,
      undoable: true,
      verified: [],
      ...change
    },
    notebooks: [],
    variables: []
  };
}

describe('checkpoints', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  /** A time line that does as it is told. */
  function addTimeline(
    answers: readonly (RestoreResult | null)[] = []
  ): unknown[] {
    const asked: unknown[] = [];
    const left = [...answers];
    for (const [name, id] of [
      ['open', CommandIDs.openTimeline],
      ['restore', CommandIDs.restoreCheckpoint],
      ['undo', CommandIDs.undoRestore]
    ]) {
      page.commands.addCommand(id, {
        execute: args => {
          asked.push([name, args]);
          return name === 'open' ? undefined : left.shift();
        }
      });
    }
    return asked;
  }

  const bar = () => page.find('[aria-label="The last restore"]');

  it('should say what each is from before, and when that was', async () => {
    const ts = Date.UTC(2026, 10, 21, 12, 30);
    await rows.show(
      { ...SAVED, ts },
      {
        ts: ts + 1,
        say: 'checkpoint_saved',
        text: 'ff',
        checkpoint: { to: 'ff', isFirst: true }
      },
      {
        ...SAVED,
        ts: ts + 2,
        checkpoint: {
          ...SAVED.checkpoint,
          changed: { files: 3, cells: 2, variables: 1 }
        }
      }
    );
    const row = rows.row(ts);
    expect(row.getAttribute('aria-label')).toBe('Checkpoint');
    expect(row.textContent).toBe(`Before the agent ran cells ${whenText(ts)} `);
    expect(row.querySelector('time')?.dateTime).toBe(
      '2026-11-21T12:30:00.000Z'
    );
    expect(rows.row(ts + 1).textContent).toContain('First checkpoint');
    const said = '3 files, 2 cells, 1 variable changed';
    expect(rows.row(ts + 2).textContent).toContain(said);
  });

  it.each([
    [1_000, true],
    [999, false]
  ])(
    'should say how long it took to save where one waited',
    async (durationMs, isSaid) => {
      await rows.show({
        ...SAVED,
        checkpoint: { ...SAVED.checkpoint, durationMs }
      });
      const said = rows.row(2).textContent ?? '';
      expect(/saved in 1\s?s/.test(said)).toBe(isSaid);
    }
  );

  it('should offer nothing where there is no time line', async () => {
    await rows.show(SAVED);
    expect(rows.row(2).querySelector('button, a')).toBeNull();
  });

  it('should not be shown where another program has hidden them', async () => {
    await rows.show({ ...SAVED, checkpoint: { suppressMessage: true } });
    expect(page.find('[data-ts="2"]')).toBeNull();
  });

  it('should say at which one is, as that changes', async () => {
    const HERE = 'You are here';
    const tell = (text: string, taskId = 't') =>
      page.publish({ type: 'currentCheckpointUpdated', text, taskId });
    await rows.show(SAVED);
    expect(rows.row(2).textContent).not.toContain(HERE);
    tell(SAVED.text);
    expect(rows.row(2).textContent).toContain(HERE);
    tell('another', 'of another conversation');
    expect(rows.row(2).textContent).toContain(HERE);
    tell('another');
    expect(rows.row(2).textContent).not.toContain(HERE);
  });

  it('should lead to what changed since, and to its place in the time line', async () => {
    const asked = addTimeline();
    await rows.show(SAVED);
    await rows.click('See what changed since');
    await rows.click('Show in timeline');
    const place = { taskId: 't', only: 'task', checkpoint: 'checkpoint' };
    expect(asked).toEqual([
      ['open', { ...place, against: 'now' }],
      ['open', { ...place, against: 'previous' }]
    ]);
  });

  it('should be gone back to, which is told with a way to undo and redo it', async () => {
    const asked = addTimeline([
      result({ kept: 2 }),
      result({ id: 'undo', kind: 'undo' }),
      result({ id: 'redo', kind: 'undo', undoable: false })
    ]);
    await rows.show(SAVED);
    await rows.click('Restore…');
    expect(asked).toEqual([
      ['restore', { taskId: 't', checkpoint: 'checkpoint' }]
    ]);
    expect(bar()?.textContent).toContain(
      'Restored: Files, Notebooks, Variables. 2 files stay as you changed them since.'
    );
    await rows.click('Undo');
    expect(asked.at(-1)).toEqual([
      'undo',
      { taskId: 't', operation: 'restore' }
    ]);
    expect(bar()?.textContent).toContain('The restore was undone.');
    await rows.click('Redo');
    expect(asked.at(-1)).toEqual(['undo', { taskId: 't', operation: 'undo' }]);
    expect(() => page.button('Redo')).toThrow();
    await rows.click('Details');
    expect(asked.at(-1)).toEqual(['open', { taskId: 't', only: 'task' }]);
    await page.settle(() => page.dismissal().click());
    expect(bar()).toBeNull();
  });

  it('should say that one is back at it, when all of it is as it was then', async () => {
    const checkpoint = { commit: 'new' } as CheckpointView;
    const back = { checkpoint, target: 'checkpoint' };
    addTimeline([
      result({ ...back, kept: 1 }),
      result({ ...back, parts: ['variables'] }),
      result(back)
    ]);
    await rows.show(SAVED);
    page.publish({ type: 'currentCheckpointUpdated', text: 'new' });
    const seen: (boolean | undefined)[] = [];
    for (let round = 0; round < 3; round++) {
      await rows.click('Restore…');
      seen.push(rows.row(2).textContent?.includes('You are here'));
    }
    expect(seen).toEqual([false, false, true]);
    await page.settle(() => page.dismissal().click());
    expect(rows.row(2).textContent).toContain('You are here');
    page.publish({ type: 'currentCheckpointUpdated', text: 'newer' });
    expect(rows.row(2).textContent).not.toContain('You are here');
  });

  it('should say which variables are lost, until one goes on', async () => {
    const lost = {
      path: 'a.ipynb',
      cold: true,
      refuses: false,
      right: 0,
      rerun: { cells: [], unexplained: [] },
      variables: [
        { name: 'a', type: 'int', action: 'load', bytes: 1, assumed: false },
        { name: 'b', type: 'file', action: 'lost', bytes: 0, assumed: false }
      ]
    } as const;
    addTimeline([
      {
        ...result(),
        variables: [
          {
            ...lost,
            moreVariables: 0,
            rerun: { cells: [], unexplained: [] },
            variables: [...lost.variables]
          }
        ]
      }
    ]);
    await rows.show(SAVED);
    await rows.click('Restore…');
    expect(bar()?.textContent).toContain('1 variable is lost');
    page.publish({
      type: 'messageCreated',
      taskId: 't',
      message: { ts: 101, type: 'say', say: 'user_feedback', text: 'Go on.' }
    });
    expect(bar()).toBeNull();
  });

  it('should tell nothing where the person thought better of it', async () => {
    addTimeline([null]);
    await rows.show(SAVED);
    await rows.click('Restore…');
    expect(bar()).toBeNull();
  });

  it('should offer one undo, where messages went back too', async () => {
    addTimeline([result({ parts: ['files', 'conversation'] })]);
    await rows.show(SAVED);
    await rows.click('Restore…');
    page.publish({
      type: 'conversationMarksUpdated',
      taskId: 't',
      marks: { undoable: { id: 'm', kind: 'rewind', ts: 100 } }
    });
    expect(page.findAll('.jp-hdspAgent-notice[role="group"]')).toEqual([bar()]);
    await page.settle(() => page.dismissal().click());
    expect(
      page.find('.jp-hdspAgent-notice[role="group"]')?.textContent
    ).toContain('Messages were removed.');
  });
});

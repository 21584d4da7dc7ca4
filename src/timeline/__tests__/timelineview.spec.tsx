import type { Changed, CheckpointDiff } from '../../generated/rest';
import {
  checkpoint,
  OpenedTimeline,
  operation,
  STORE,
  view
} from './openedtimeline';

describe('the time line', () => {
  let opened: OpenedTimeline;

  beforeEach(() => {
    opened = new OpenedTimeline();
  });

  afterEach(() => {
    opened.dispose();
  });

  const text = () => opened.node.textContent ?? '';
  const press = (key: string) =>
    opened.settle(() =>
      document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
      )
    );

  it('says where one is, and what was done', async () => {
    await opened.show([
      operation('3', {
        kind: 'restore',
        undoable: true,
        parts: ['files', 'variables'],
        written: 2,
        kept: 1,
        checkpoint: checkpoint('c', {
          here: true,
          reason: 'after restore',
          kind: 'after'
        })
      }),
      operation('2', {
        checkpoint: checkpoint('b', {
          reason: 'before run_cell',
          kind: 'before',
          author: 'agent',
          notebooks: ['dir/a.ipynb'],
          variables: ['dir/a.ipynb']
        })
      }),
      operation('1')
    ]);
    expect(opened.rows).toEqual([
      'Restored a checkpoint',
      'Before the agent ran cells',
      'Saved by you'
    ]);
    expect(
      opened.node.querySelector('.jp-hdspAgent-timeline-here')?.textContent
    ).toContain('You are at: Restored a checkpoint');
    expect(opened.openers[0].getAttribute('aria-current')).toBe('true');
    expect(opened.openers[0].textContent).toContain('2 files changed');
    expect(opened.openers[1].textContent).toContain('Agent');
    expect(opened.openers[1].textContent).toContain('with variables');
    expect(opened.button('Undo: Restored a checkpoint')).toBeTruthy();
  });

  it('says how much changed, and of nothing whose work it is', async () => {
    const changed = { files: 3, cells: 1, variables: 0 };
    const nothing = { files: 0, cells: 0, variables: 0 };
    await opened.show([
      operation('3', {
        kind: 'restore',
        written: 9,
        checkpoint: checkpoint('c', { changed })
      }),
      operation('2', {
        checkpoint: checkpoint('b', { author: 'agent', changed })
      }),
      operation('1', { checkpoint: checkpoint('a', { changed: nothing }) })
    ]);
    const said = opened.openers.map(({ textContent }) => textContent);
    expect(said[0]).toContain('3 files, 1 cell changed');
    expect(said[0]).not.toContain('9');
    expect(said[1]).toMatch(/Agent.*3 files, 1 cell changed/);
    expect(said[2]).toContain('nothing changed');
    expect(said[2]).not.toContain('You');
  });

  it('says what was verified, and opens its report', async () => {
    const shown: unknown[] = [];
    opened.page.commands.addCommand('hdsp-agent:show-verification', {
      execute: args => shown.push(args)
    });
    const report = (id: string, differing: number, same = 21) => ({
      id,
      ts: 1,
      path: `dir/${id}.ipynb`,
      same,
      differing
    });
    const verified = {
      reason: 'for a verification',
      kind: 'verified'
    } as const;
    const nothing = { files: 0, cells: 0, variables: 0 };
    const step = (kind: 'before' | 'after', changed = nothing) =>
      checkpoint(kind, {
        taskId: 'task',
        reason: `${kind} run_cells`,
        kind,
        changed
      });
    await opened.show([
      operation('5', { checkpoint: step('after', { ...nothing, files: 1 }) }),
      // Nothing had changed since this was saved.
      operation('4', {
        checkpoint: step('before'),
        verified: [report('e', 1)]
      }),
      operation('3', {
        checkpoint: checkpoint('c', { ...verified, changed: nothing }),
        verified: [report('a', 2), report('b', 0)]
      }),
      // Saved by hand, and then verified.
      operation('2', { verified: [report('d', 0, 0)] }),
      operation('1', { checkpoint: checkpoint('a', verified) })
    ]);
    expect(opened.rows).toEqual([
      'Ran cells',
      'Verified a.ipynb: 21 as saved, 2 not',
      'Saved by you',
      'Saved for a verification'
    ]);
    const [ran, first, second] = opened.openers;
    expect(ran.textContent).toContain(
      'Before this step: Verified e.ipynb: 21 as saved, 1 not'
    );
    expect(first.textContent).toContain('Verified b.ipynb: 21 as saved');
    expect(second.textContent).toContain(
      'Verified d.ipynb: no output to compare'
    );
    opened.button('Report: Verified a.ipynb: 21 as saved, 2 not').click();
    opened.button('Report: Verified d.ipynb: no output to compare').click();
    expect(shown).toEqual([
      { path: 'dir/a.ipynb', verification: 'a' },
      { path: 'dir/d.ipynb', verification: 'd' }
    ]);
  });

  it('words why a restore failed', async () => {
    const failed = { kind: 'restore', status: 'rolled_back' } as const;
    await opened.show([
      operation('2', {
        ...failed,
        error: 'English.',
        errorWhy: { code: 'cell_ran', params: {} }
      }),
      operation('1', { ...failed, error: 'Only English.' })
    ]);
    const [worded, plain] = opened.openers.map(
      ({ textContent }) => textContent
    );
    expect(worded).toContain('A cell ran in the meantime');
    expect(worded).not.toContain('English');
    expect(plain).toContain('Only English.');
  });

  it('says how it begins when nothing was done', async () => {
    await opened.show([]);
    expect(text()).toContain('There are no checkpoints yet.');
    expect(text()).toContain('You are at: the beginning');
  });

  it('says why it is not known, and tries again', async () => {
    opened.rest.answers.delete('GET checkpoints');
    await opened.show([]);
    expect(opened.node.querySelector('[role="alert"]')?.textContent).toContain(
      'Nothing is here.'
    );
    opened.rest.answers.set('GET checkpoints', () => view([operation('1')]));
    await opened.settle(() => opened.button('Try again').click());
    expect(opened.rows).toEqual(['Saved by you']);
  });

  it('fetches what is older', async () => {
    opened.rest.answers.set('GET checkpoints', ({ query }) =>
      query.before === '2'
        ? view([operation('1')])
        : view([operation('2')], { more: true })
    );
    await opened.show([]);
    expect(opened.rows).toHaveLength(1);
    await opened.settle(() => opened.button('Show more').click());
    expect(opened.rows).toHaveLength(2);
  });

  it('follows what the agent saves, and keeps the rest as it is', async () => {
    await opened.show([operation('1')]);
    const row = opened.openers[0];
    opened.view = view([operation('2'), operation('1')]);
    opened.page.publish({
      type: 'currentCheckpointUpdated',
      text: 'abcd',
      taskId: 'task'
    });
    await opened.settle();
    expect(opened.rows).toHaveLength(2);
    expect(opened.openers[1]).toBe(row);
  });

  it('is walked by keyboard', async () => {
    opened.rest.answers.set('GET checkpoints/m-1/diff', () => ({
      old: null,
      new: 'm-1',
      files: []
    }));
    await opened.show([operation('2'), operation('1')]);
    opened.openers[0].focus();
    await press('ArrowDown');
    expect(document.activeElement).toBe(opened.openers[1]);
    await press('ArrowRight');
    expect(opened.openers[1].getAttribute('aria-expanded')).toBe('true');
    expect(text()).toContain('No file differs.');
    opened.node
      .querySelector<HTMLElement>('select[aria-label^="Compare with"]')
      ?.focus();
    await press('Escape');
    expect(opened.openers[1].getAttribute('aria-expanded')).toBe('false');
    expect(document.activeElement).toBe(opened.openers[1]);
    await press('Home');
    expect(document.activeElement).toBe(opened.openers[0]);
  });

  it('lists only what is about a notebook', async () => {
    await opened.show([
      operation('2', {
        checkpoint: checkpoint('b', { notebooks: ['a.ipynb'] })
      }),
      operation('1')
    ]);
    await opened.settle(
      () =>
        void opened.ui.model.show({
          place: { path: 'a.ipynb' },
          only: 'notebook'
        })
    );
    expect(opened.rows).toHaveLength(1);
    expect(opened.rest.of('GET checkpoints').at(-1)?.query).toMatchObject({
      path: 'a.ipynb'
    });
  });

  it('asks for one conversation’s part', async () => {
    await opened.show([]);
    await opened.settle(
      () => void opened.ui.model.show({ place: { task: 'task' }, only: 'task' })
    );
    expect(opened.rest.of('GET checkpoints').at(-1)?.query).toMatchObject({
      task: 'task',
      onlyTask: 'true'
    });
  });

  describe('shows each step of the agent as one row', () => {
    const task = { taskId: 'task', author: 'agent' } as const;
    const nothing = { files: 0, cells: 0, variables: 0 };
    const before = (id: string, request: string, others = {}) =>
      operation(id, {
        step: { request, requestTs: 7, cells: [2, 3, 4] },
        checkpoint: checkpoint(`m-${id}`, {
          ...task,
          reason: 'before run_cells',
          kind: 'before',
          changed: nothing,
          ...others
        })
      });
    const after = (id: string, changed: Changed) =>
      operation(id, {
        checkpoint: checkpoint(`m-${id}`, {
          ...task,
          reason: 'after run_cells',
          kind: 'after',
          changed
        })
      });
    const headings = () => [
      ...opened.node.querySelectorAll<HTMLElement>(
        '.jp-hdspAgent-timeline-request'
      )
    ];

    it('below the request that led to it, which can be folded', async () => {
      await opened.show([
        after('4', { ...nothing, variables: 2 }),
        before('3', 'Clean up.'),
        operation('1')
      ]);
      expect(opened.rows).toEqual(['Ran cells 2–4', 'Saved by you']);
      expect(opened.openers[0].textContent).toContain('2 variables changed');
      expect(headings().map(({ textContent }) => textContent)).toEqual([
        'Clean up.'
      ]);
      await opened.settle(() => headings()[0].click());
      expect(opened.rows).toEqual(['Saved by you']);
      headings()[0].focus();
      await press('ArrowRight');
      await press('ArrowDown');
      expect(document.activeElement).toBe(opened.openers[0]);
    });

    it('from before which and after which one can go on', async () => {
      const parts = { place: {}, ids: [] as string[] };
      opened.ui.restoreActions.restore = (place, id) => {
        parts.ids.push(id);
        return Promise.resolve(null);
      };
      opened.rest.answers.set('GET checkpoints/m-4/diff', () => ({
        old: null,
        new: 'm-4',
        files: []
      }));
      await opened.show([
        after('4', { ...nothing, cells: 1 }),
        before('3', 'Clean up.')
      ]);
      await opened.settle(() => opened.openers[0].click());
      await opened.settle(() =>
        opened.button('Restore to before this step…').click()
      );
      await opened.settle(() =>
        opened.button('Restore to after this step…').click()
      );
      expect(parts.ids).toEqual(['m-3', 'm-4']);
    });

    it('and lists what changed nothing only where one wants that', async () => {
      await opened.show([before('3', 'Look around.'), operation('1')]);
      expect(opened.rows).toEqual(['Saved by you']);
      const box = opened.node.querySelector<HTMLInputElement>(
        'input[type="checkbox"]'
      );
      await opened.settle(() => box?.click());
      expect(opened.rows).toEqual([
        'Before the agent ran cells',
        'Saved by you'
      ]);
      expect(opened.openers[0].textContent).toContain('nothing changed');
    });

    it('says so where nothing has changed at all', async () => {
      await opened.show([before('3', 'Look around.')]);
      expect(text()).toContain('Nothing has changed so far.');
      await opened.settle(() =>
        opened.button('Show entries without changes').click()
      );
      expect(opened.rows).toHaveLength(1);
    });

    it('and a checkpoint that leads here as a row of its own', async () => {
      opened.rest.answers.set('GET checkpoints/m-3/diff', () => ({
        old: null,
        new: 'm-3',
        files: []
      }));
      await opened.show([
        after('4', { ...nothing, files: 1 }),
        before('3', 'Clean up.')
      ]);
      await opened.settle(() => void opened.ui.model.reveal('m-3', 'now'));
      expect(opened.rows).toEqual([
        'Ran cells 2–4',
        'Before the agent ran cells'
      ]);
      expect(opened.openers[1].getAttribute('aria-expanded')).toBe('true');
    });
  });

  it('finds a checkpoint by its commit, however old', async () => {
    opened.rest.answers.set('GET checkpoints', ({ query }) =>
      query.before === '2'
        ? view([operation('1')])
        : view([operation('2')], { more: true })
    );
    opened.rest.answers.set('GET checkpoints/m-1/diff', () => ({
      old: null,
      new: 'm-1',
      files: []
    }));
    await opened.show([]);
    await opened.settle(() => void opened.ui.model.reveal('m-1m-1', 'now'));
    expect(opened.openers[1].getAttribute('aria-expanded')).toBe('true');
    expect(
      opened.rest.of('GET checkpoints/m-1/diff').at(-1)?.query.against
    ).toBe('now');
  });

  it('opens the row that is asked for last, whatever comes meanwhile', async () => {
    const newest = [operation('2', { checkpoint: checkpoint('m-2') })];
    opened.rest.answers.set('GET checkpoints', ({ query }) =>
      query.before === undefined
        ? view(newest, { more: true })
        : view([operation('1')])
    );
    await opened.show(newest, { more: true });
    const { model } = opened.ui;
    const found: Record<string, boolean> = {};
    const reveal = (id: string) =>
      void model.reveal(id, 'previous').then(isFound => {
        found[id] = isFound;
      });
    await opened.settle(() => {
      reveal('m-1');
      void model.refresh();
    });
    expect(found).toEqual({ 'm-1': true });
    expect(model.open).toBe('1');
    await opened.settle(() => {
      reveal('m-gone');
      reveal('m-2');
    });
    expect(found).toEqual({ 'm-1': true, 'm-2': true, 'm-gone': false });
    expect(model.open).toBe('2');
  });

  it('offers what becomes of a half restore', async () => {
    await opened.show([operation('1')], {
      interrupted: operation('2', { kind: 'restore', status: 'begun' })
    });
    opened.rest.answers.set('POST checkpoints/store', () => STORE);
    await opened.settle(() => opened.button('Roll back').click());
    expect(opened.rest.of('POST checkpoints/store')[0].body).toEqual({
      action: 'roll_back'
    });
  });

  it('says what the store takes and why not all files are kept', async () => {
    await opened.show([operation('1')], {
      store: { ...STORE, scope: 'touched', scopeReason: 'home' }
    });
    await opened.settle(() =>
      opened.button('2 checkpoints, 2\u00a0kB').click()
    );
    expect(text()).toContain('2 of 200');
    expect(text()).toContain('your home folder');
    await opened.settle(() => opened.button('Checkpoint settings').click());
    expect(opened.page.openedSettings).toEqual(['checkpoints']);
  });

  it('says that checkpoints are turned off', async () => {
    await opened.show([], { store: { ...STORE, enabled: false } });
    expect(text()).toContain('Checkpoints are turned off');
  });

  it('saves a checkpoint', async () => {
    await opened.show([]);
    opened.rest.answers.set('POST checkpoints', () => checkpoint('new'));
    opened.view = view([operation('1')]);
    await opened.settle(() => opened.button('Save checkpoint').click());
    expect(opened.rest.of('POST checkpoints')).toHaveLength(1);
    expect(opened.said?.message).toBe('The checkpoint was saved.');
    expect(opened.rows).toHaveLength(1);
  });

  it('says so where nothing is to save', async () => {
    await opened.show([operation('1')]);
    opened.rest.answers.set('POST checkpoints', () => ({
      ...checkpoint('m-1'),
      already: true
    }));
    await opened.settle(() => opened.button('Save checkpoint').click());
    expect(opened.said?.message).toBe(
      'Nothing has changed since “Saved by you”. You are already there.'
    );
  });

  describe('shows what differs', () => {
    const diff: CheckpointDiff = {
      old: 'm-0',
      new: 'm-1',
      files: [
        {
          path: 'a.txt',
          change: 'modified',
          kind: 'text',
          oldSize: 2,
          newSize: 4,
          tooLarge: false,
          hunks: [
            {
              oldStart: 1,
              oldLines: 1,
              newStart: 1,
              newLines: 1,
              lines: ['-old', '+new']
            }
          ]
        },
        {
          path: 'b.ipynb',
          change: 'modified',
          kind: 'notebook',
          oldSize: 10,
          newSize: 10,
          tooLarge: false,
          hunks: [],
          notebook: {
            metadataChanged: false,
            cells: [
              {
                change: 'modified',
                cellId: 'x',
                cellType: 'code',
                oldIndex: 2,
                newIndex: 2,
                source: [],
                outputsChanged: true,
                metadataChanged: false,
                typeChanged: false
              }
            ]
          }
        },
        {
          path: 'bad\\xff',
          raw: 'YmFk/w==',
          change: 'added',
          kind: 'binary',
          newSize: 3,
          tooLarge: false,
          hunks: []
        }
      ]
    };

    beforeEach(async () => {
      opened.rest.answers.set('GET checkpoints/m-1/diff', ({ query }) => ({
        ...diff,
        files: diff.files
          .filter(({ path }) => !query.only || path === query.only)
          .map(file =>
            query.content === 'true'
              ? file
              : { ...file, hunks: [], notebook: undefined }
          )
      }));
      await opened.show([operation('1')]);
      await opened.settle(() => opened.openers[0].click());
    });

    it('line by line, cell by cell, and by size', () => {
      const lines = [
        ...opened.node.querySelectorAll('.jp-hdspAgent-chat-diff-line')
      ].map(({ textContent }) => textContent);
      expect(lines).toEqual(['-old', '+new']);
      expect(text()).toContain('The output of cell 3 changed');
      expect(text()).toContain('new, 3 bytes');
      expect(text()).toContain('It is not text.');
    });

    it('and says so where it is nothing that a person sees', async () => {
      opened.rest.answers.set('GET checkpoints/m-1/diff', () => ({
        ...diff,
        files: [
          {
            path: 'c.ipynb',
            change: 'modified',
            kind: 'notebook',
            tooLarge: false,
            hunks: [],
            notebook: { metadataChanged: false, cells: [] }
          }
        ]
      }));
      await opened.settle(() => opened.openers[0].click());
      await opened.settle(() => opened.openers[0].click());
      expect(text()).toContain('No visible changes.');
    });

    it('against something else', async () => {
      const select = opened.node.querySelector<HTMLSelectElement>(
        'select[aria-label^="Compare with"]'
      );
      await opened.settle(() => {
        select!.value = 'now';
        select!.dispatchEvent(new Event('change', { bubbles: true }));
      });
      expect(
        opened.rest.of('GET checkpoints/m-1/diff').at(-1)?.query.against
      ).toBe('now');
    });
  });
});

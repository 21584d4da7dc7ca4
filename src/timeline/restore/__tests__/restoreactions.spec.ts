import { Notification } from '@jupyterlab/apputils';
import { PromiseDelegate } from '@lumino/coreutils';

import type { CheckpointView, VariablesPreview } from '../../../generated/rest';
import {
  checkpoint,
  OpenedTimeline,
  operation,
  preview,
  result,
  view
} from '../../__tests__/openedtimeline';

const FILES = {
  changes: [{ path: 'a.csv', action: 'overwrite' as const }],
  moreChanges: 0,
  kept: ['mine.txt'],
  openNotebooks: []
};

describe('going back', () => {
  let opened: OpenedTimeline;

  beforeEach(() => {
    opened = new OpenedTimeline();
  });

  afterEach(() => {
    opened.dispose();
  });

  const PREVIEW = 'POST checkpoints/m-1/preview';
  const RESTORE = 'POST checkpoints/m-1/restore';
  const check = (label: string) =>
    opened.settle(() => {
      const found = [...(opened.dialog?.querySelectorAll('label') ?? [])].find(
        ({ textContent }) => textContent === label
      );
      found?.querySelector('input')?.click();
    });

  it('shows what it does, does what was chosen, and offers to undo it', async () => {
    const target = checkpoint('m-1', {
      notebooks: ['a.ipynb'],
      variables: ['a.ipynb']
    });
    opened.rest.answers.set(PREVIEW, () =>
      preview({
        target,
        files: FILES,
        notebooks: [
          {
            path: 'a.ipynb',
            open: true,
            moreCells: 0,
            cells: [
              { cellId: 'x', action: 'change', cellType: 'code', line: 'x = 1' }
            ]
          }
        ],
        variables: [
          {
            path: 'a.ipynb',
            cold: true,
            refuses: false,
            right: 4,
            moreVariables: 2,
            variables: [
              {
                name: 'df',
                type: 'DataFrame',
                action: 'load',
                bytes: 9,
                assumed: false
              },
              {
                name: 'conn',
                type: 'Connection',
                action: 'lost',
                bytes: 0,
                why: 'it is open',
                assumed: false
              }
            ],
            rerun: { cells: [], unexplained: [] }
          }
        ]
      })
    );
    opened.rest.answers.set(RESTORE, () => result());
    await opened.settle(() => void opened.ui.restoreActions.restore({}, 'm-1'));
    const said = opened.dialog?.textContent ?? '';
    expect(said).toContain('a.csv returns to its earlier state');
    expect(said).toContain('mine.txt stays as it is: you changed it since');
    expect(said).toContain('x = 1');
    expect(said).toContain('Loaded: df');
    expect(said).toContain('and 2 more variables');
    expect(said).toContain('Lost: conn (Connection), because it is open');
    await check('Variables');
    await check('Also overwrite my later edits');
    await opened.settle(() => opened.acceptButton?.click());
    expect(opened.rest.of(RESTORE)[0].body).toEqual({
      parts: {
        files: true,
        notebooks: true,
        variables: false,
        conversation: false,
        overwrite: true
      }
    });
    expect(opened.said?.message).toBe('The checkpoint was restored.');
    expect(opened.said?.options.actions?.map(({ label }) => label)).toEqual([
      'Undo'
    ]);
  });

  it('words why parts stay, or let nothing be brought back', async () => {
    const kernel = {
      path: 'a.ipynb',
      cold: false,
      right: 0,
      moreVariables: 0,
      variables: [],
      rerun: { cells: [], unexplained: [] },
      whyNot: 'English.',
      coded: { code: 'kernel_busy', params: {} }
    } as const;
    const notebook = {
      path: 'b.ipynb',
      open: true,
      moreCells: 0,
      cells: [{ cellId: 'x', action: 'keep', cellType: 'code', line: '' }]
    } as const;
    opened.rest.answers.set(PREVIEW, () =>
      preview({
        notebooks: [notebook],
        variables: [
          { ...kernel, refuses: true },
          {
            ...kernel,
            path: 'c.ipynb',
            refuses: false,
            coded: { code: 'no_kernel', params: {} }
          }
        ]
      } as unknown as Parameters<typeof preview>[0])
    );
    await opened.settle(() => void opened.ui.restoreActions.restore({}, 'm-1'));
    const said = opened.dialog?.textContent ?? '';
    expect(said).toContain(
      'They cannot be restored now. Its kernel runs a cell. Wait for it, then try again. Or leave out the variables.'
    );
    expect(said).toContain('They stay as they are: It has no running kernel.');
    expect(said).toContain('because you changed it since: (empty)');
    expect(said).not.toContain('English');
  });

  it('is chosen with the keyboard, round and round', async () => {
    const target = checkpoint('m-1', { notebooks: ['a.ipynb'] });
    opened.rest.answers.set(PREVIEW, () => preview({ target, files: FILES }));
    await opened.settle(() => void opened.ui.restoreActions.restore({}, 'm-1'));
    expect(document.activeElement).toBe(opened.acceptButton);
    opened.acceptButton?.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Tab', bubbles: true })
    );
    expect(document.activeElement).toBe(opened.dialog?.querySelector('input'));
  });

  it('says that it takes a while only if it does', async () => {
    const said: string[] = [];
    const note = (
      _: unknown,
      { type, notification }: Notification.IChange
    ): void => {
      said.push(`${type}: ${notification.message}`);
    };
    Notification.manager.changed.connect(note);
    const save = jest.spyOn(opened.ui.restoreActions.api, 'save');
    save.mockResolvedValueOnce(checkpoint('m-1'));
    await opened.settle(() => void opened.ui.restoreActions.save({}));
    const answer = new PromiseDelegate<CheckpointView>();
    save.mockReturnValueOnce(answer.promise);
    await opened.settle(() => void opened.ui.restoreActions.save({}));
    opened.page.wait(600);
    await opened.settle(() => answer.resolve(checkpoint('m-2')));
    expect(said).toEqual([
      'added: The checkpoint was saved.',
      'added: Saving a checkpoint…',
      'removed: Saving a checkpoint…',
      'added: The checkpoint was saved.'
    ]);
    Notification.manager.changed.disconnect(note);
  });

  it('does nothing where nothing would change', async () => {
    opened.rest.answers.set(PREVIEW, () => preview({ nothing: true }));
    await opened.settle(() => void opened.ui.restoreActions.restore({}, 'm-1'));
    expect(opened.dialog?.textContent).toContain('Nothing would change');
    expect(opened.acceptButton?.disabled).toBe(true);
  });

  it('says why it cannot be looked at', async () => {
    await opened.settle(() => void opened.ui.restoreActions.restore({}, 'm-1'));
    expect(opened.dialog).toBeNull();
    expect(opened.said?.type).toBe('error');
  });

  it('says why it was not done', async () => {
    opened.rest.answers.set(PREVIEW, () => preview({ files: FILES }));
    await opened.settle(() => void opened.ui.restoreActions.restore({}, 'm-1'));
    await opened.settle(() => opened.acceptButton?.click());
    expect(opened.said?.type).toBe('error');
  });

  it('offers to run cells again for what is lost', async () => {
    opened.rest.answers.set(PREVIEW, () => preview({ files: FILES }));
    opened.rest.answers.set(RESTORE, () =>
      result({
        variables: [
          {
            path: 'a.ipynb',
            cold: false,
            refuses: false,
            right: 0,
            moreVariables: 0,
            variables: [],
            rerun: {
              unexplained: ['other'],
              cells: [
                {
                  run: 3,
                  source: 'conn = connect()',
                  effects: ['database'],
                  overwrites: ['df'],
                  uncertain: false
                }
              ]
            }
          }
        ]
      })
    );
    await opened.settle(() => void opened.ui.restoreActions.restore({}, 'm-1'));
    await opened.settle(() => opened.acceptButton?.click());
    const actions = opened.said?.options.actions ?? [];
    expect(actions.map(({ label }) => label)).toEqual([
      'Run cells again…',
      'Undo'
    ]);
    await opened.settle(() => actions[0].callback(new MouseEvent('click')));
    const asked = opened.dialog?.textContent ?? '';
    expect(asked).toContain('conn = connect()');
    expect(asked).toContain('It uses a database.');
    expect(asked).toContain('It also changes df, which is already right.');
    expect(asked).toContain('No known cell creates other');
  });

  it('names what is not undone, and leaves variables out that are chosen', async () => {
    const one = { type: 'list', bytes: 0, assumed: false };
    opened.rest.answers.set(PREVIEW, () =>
      preview({
        variables: [
          {
            path: 'a.ipynb',
            cold: false,
            refuses: false,
            right: 1,
            moreVariables: 0,
            variables: [
              { ...one, name: 'small', action: 'load' },
              {
                ...one,
                name: 'big',
                action: 'keep_live',
                why: 'it is too large'
              }
            ],
            rerun: { cells: [], unexplained: [] }
          }
        ]
      })
    );
    opened.rest.answers.set(RESTORE, () => result());
    await opened.settle(() => void opened.ui.restoreActions.restore({}, 'm-1'));
    const said = opened.dialog?.textContent ?? '';
    expect(said).toContain('1 is already right.');
    expect(said).toContain(
      'big: Changes since are not undone: it is too large'
    );
    await check('small');
    await opened.settle(() => opened.acceptButton?.click());
    expect(opened.rest.of(PREVIEW).at(-1)?.body).toMatchObject({
      parts: { leaveVariables: ['small'] }
    });
    expect(opened.rest.of(RESTORE)[0].body).toMatchObject({
      parts: { leaveVariables: ['small'] }
    });
  });

  it('restores a cell to what is chosen of its versions', async () => {
    const version = {
      ts: 1,
      author: 'agent' as const,
      cellType: 'code',
      outputs: 2,
      now: false
    };
    opened.rest.answers.set('GET checkpoints/cells', () => ({
      path: 'a.ipynb',
      cellId: 'x',
      versions: [
        { ...version, checkpoint: 'm-3', source: 'a = 3', now: true },
        { ...version, checkpoint: 'm-2', source: 'a = 2' },
        { ...version, checkpoint: 'm-1', source: 'a = 1' }
      ]
    }));
    opened.rest.answers.set(RESTORE, () => result());
    const choose = () =>
      opened.settle(
        () => void opened.ui.restoreActions.chooseCell('a.ipynb', 'x', 'a = 3')
      );
    await choose();
    expect(opened.dialog?.textContent).toContain('-a = 3+a = 2');
    const [, , oldest] = opened.dialog?.querySelectorAll('input') ?? [];
    await opened.settle(() => oldest.click());
    expect(opened.dialog?.textContent).toContain('-a = 3+a = 1');
    await opened.settle(() => opened.acceptButton?.click());
    expect(opened.rest.of(RESTORE)[0].body).toEqual({
      path: 'a.ipynb',
      parts: {
        files: false,
        notebooks: true,
        variables: false,
        conversation: false,
        path: 'a.ipynb',
        cellId: 'x',
        overwrite: true
      }
    });
    opened.rest.answers.set('GET checkpoints/cells', () => ({
      path: 'a.ipynb',
      cellId: 'x',
      versions: []
    }));
    await choose();
    expect(opened.dialog?.textContent).toContain(
      'No checkpoint contains a different version'
    );
  });

  describe('and undoing that', () => {
    const LOOK = 'POST checkpoint-operations/op/preview';
    const UNDO = 'POST checkpoint-operations/op/undo';

    it('asks nothing where nothing can be lost', async () => {
      opened.rest.answers.set(LOOK, () =>
        preview({ files: { ...FILES, kept: [] } })
      );
      opened.rest.answers.set(UNDO, () => result());
      await opened.settle(() => void opened.ui.restoreActions.undo({}, 'op'));
      expect(opened.dialog).toBeNull();
      expect(opened.rest.of(UNDO)[0].body).toEqual({ overwrite: false });
      expect(opened.said?.message).toBe('The restore was undone.');
    });

    it('asks about what the person changed since', async () => {
      opened.rest.answers.set(LOOK, () => preview({ files: FILES }));
      opened.rest.answers.set(UNDO, () => result());
      await opened.settle(() => void opened.ui.restoreActions.undo({}, 'op'));
      await check('Also overwrite my later edits');
      expect(opened.rest.of(LOOK).at(-1)?.body).toEqual({ overwrite: true });
      await opened.settle(() => opened.acceptButton?.click());
      expect(opened.rest.of(UNDO)[0].body).toEqual({ overwrite: true });
    });

    it.each([
      ['lost', false],
      ['keep_unsaved', true]
    ] as const)('asks about variables that are %s', async (action, stays) => {
      const variables = (overwrite: boolean): VariablesPreview[] => [
        {
          path: 'a.ipynb',
          cold: false,
          refuses: false,
          right: 0,
          moreVariables: 0,
          variables: [
            {
              name: 'model',
              type: 'Model',
              action: overwrite ? 'remove' : action,
              bytes: 0,
              why: 'it holds a lock',
              assumed: false
            }
          ],
          rerun: { cells: [], unexplained: [] }
        }
      ];
      opened.rest.answers.set(LOOK, ({ body }) =>
        preview({
          variables: variables(
            (body as { overwrite?: boolean }).overwrite === true
          )
        })
      );
      opened.rest.answers.set(UNDO, () => result());
      await opened.settle(() => void opened.ui.restoreActions.undo({}, 'op'));
      expect(opened.rest.of(UNDO)).toHaveLength(0);
      const said = opened.dialog?.textContent ?? '';
      expect(said).toContain(
        stays
          ? 'model: It stays as it is: it holds a lock'
          : 'Lost: model (Model), because it holds a lock'
      );
      expect(said.includes('Also overwrite my later edits')).toBe(stays);
      if (stays) {
        await check('Also overwrite my later edits');
        expect(opened.dialog?.textContent).toContain(
          'Removed, because they are newer: model'
        );
      }
      await opened.settle(() => opened.acceptButton?.click());
      expect(opened.rest.of(UNDO)[0].body).toEqual({ overwrite: stays });
    });

    it('takes the newest restore, or says that there is none', async () => {
      opened.view = view([operation('2'), operation('1')]);
      await opened.settle(() => void opened.ui.restoreActions.undo({}));
      expect(opened.said?.message).toBe('There is no restore to undo.');
      opened.view = view([
        operation('2'),
        operation('op', { kind: 'restore', undoable: true })
      ]);
      opened.rest.answers.set(LOOK, () => preview());
      opened.rest.answers.set(UNDO, () => result());
      await opened.settle(() => void opened.ui.restoreActions.undo({}));
      expect(opened.rest.of(UNDO)).toHaveLength(1);
    });
  });

  describe('by restarting a kernel', () => {
    const LOOK = 'POST kernel-restarts/preview';
    const BEGIN = 'POST kernel-restarts';
    const FOLLOW = 'GET kernel-restarts/run';
    const STOP = 'POST kernel-restarts/run/stop';
    const target = { path: 'a.ipynb', checkpoint: 'm-1' };
    const cell = (run: number, effects: string[]) => ({
      run,
      cell: `c${run}`,
      source: `x = ${run}`,
      effects,
      overwrites: [],
      uncertain: false
    });
    const run = (...states: string[]) => ({
      id: 'run',
      path: 'a.ipynb',
      done: !states.includes('running'),
      cells: states.map((state, index) => ({ cellId: `c${index}`, state }))
    });
    const look = (others: object = {}) =>
      opened.rest.answers.set(LOOK, () => ({
        path: 'a.ipynb',
        cellId: 'c2',
        cells: [cell(1, []), cell(2, ['files'])],
        kernel: 'Python 3',
        busy: false,
        seen: 'these',
        ...others
      }));

    it('shows the cells, runs those alone, and can be stopped', async () => {
      look();
      let state = run('ok', 'running');
      opened.rest.answers.set(BEGIN, () => state);
      opened.rest.answers.set(FOLLOW, () => state);
      opened.rest.answers.set(STOP, () => {
        state = run('ok', 'interrupted');
        return state;
      });
      await opened.settle(() => void opened.ui.restoreActions.restart(target));
      const said = opened.dialog?.textContent ?? '';
      expect(said).toContain('Restart the kernel and run 2 cells of a.ipynb?');
      expect(said).toContain('All variables of Python 3 are lost.');
      expect(said).toContain('x = 1');
      // Enter alone writes no file.
      expect(document.activeElement?.textContent).toBe('Cancel');
      expect(opened.rest.of(BEGIN)).toHaveLength(0);
      await opened.settle(() => opened.acceptButton?.click());
      expect(opened.rest.of(BEGIN)[0].body).toEqual({
        ...target,
        seen: 'these'
      });
      const [stop] = opened.said?.options.actions ?? [];
      expect(stop.label).toBe('Stop');
      await opened.settle(() => stop.callback(new MouseEvent('click')));
      expect(opened.rest.of(STOP)).toHaveLength(1);
      await opened.settle(() => jest.advanceTimersByTime(500));
      expect(opened.said?.message).toContain('did not finish');
    });

    it('does nothing without the person’s consent', async () => {
      look({ kernel: undefined });
      await opened.settle(() => void opened.ui.restoreActions.restart(target));
      expect(opened.dialog?.textContent).toContain(
        'No kernel runs, so one is started.'
      );
      const reject =
        opened.dialog?.querySelector<HTMLElement>('.jp-mod-reject');
      await opened.settle(() => reject?.click());
      expect(opened.rest.of(BEGIN)).toHaveLength(0);
    });

    it('says when all cells have run', async () => {
      look();
      opened.rest.answers.set(BEGIN, () => run('ok', 'ok'));
      await opened.settle(() => void opened.ui.restoreActions.restart(target));
      await opened.settle(() => opened.acceptButton?.click());
      expect(opened.said?.message).toBe('2 cells of a.ipynb ran again.');
    });
  });
});

import type { VariablesSince } from '../../generated/rest';
import { CommandIDs } from '../../ui/commandids';
import {
  FrontNotebook,
  idle,
  OpenedVariables,
  PATH,
  variable
} from './openedvariables';

const FRAME = variable('df', {
  type: 'pandas.core.frame.DataFrame',
  shape: [1200, 2],
  memory: 4096,
  columns: [
    { name: 'price', dtype: 'float64' },
    { name: 'shop', dtype: 'str' }
  ]
});

const SINCE: VariablesSince = {
  checkpoint: '0123456789abcdef',
  ts: Date.UTC(2026, 0, 2),
  changes: [
    { name: 'df', kind: 'changed', canRestore: true },
    { name: 'n', kind: 'added', canRestore: false },
    { name: 'sqrt', kind: 'added', canRestore: false },
    { name: 'old', kind: 'gone', canRestore: true },
    { name: 'lost', kind: 'gone', canRestore: false }
  ]
};

/** What the server tells of the rows of a frame. */
function table(start: number) {
  return {
    variable: {
      ...FRAME,
      columns: [
        { name: 'price', dtype: 'float64', missing: 3 },
        { name: 'shop', dtype: 'str', missing: 0 }
      ]
    },
    start,
    index: [`${start}`, `${start + 1}`],
    rows: [
      ['1.5', 'Kim'],
      [null, 'Lee']
    ]
  };
}

describe('the variables', () => {
  let opened: OpenedVariables;

  beforeEach(() => {
    opened = new OpenedVariables();
    opened.rest.answers.set('POST variables/table', ({ body }) =>
      table((body as { start: number }).start)
    );
  });

  afterEach(() => opened.dispose());

  const text = () => opened.node.textContent ?? '';
  const asked = () => opened.rest.of('POST variables').length;
  const draft = () => opened.page.panel.services.state.draft(null);

  it('should be listed with what they are', async () => {
    await opened.show([
      variable('n', { head: '10' }),
      FRAME,
      variable('rows', { type: 'list', length: 3, head: '[1, 2, 3]' }),
      variable('name', { type: 'str', length: 3, head: "'Kim'" })
    ]);
    expect(opened.names).toEqual(['n', 'df', 'rows', 'name']);
    expect(text()).toContain('nint10');
    expect(text()).toContain('DataFrame1,200 × 24 kB');
    expect(text()).toContain('rowslist3 items');
    expect(text()).toContain("namestr'Kim'");
    expect(opened.rest.of('POST variables')[0].body).toEqual({
      path: PATH,
      changes: true
    });
  });

  it('should be found by a column, and sorted by a header', async () => {
    await opened.show([variable('n', { memory: 28 }), FRAME]);
    const size = () => opened.button('Size');
    await opened.settle(() => size().click());
    expect(opened.names).toEqual(['df', 'n']);
    expect(size().parentElement?.getAttribute('aria-sort')).toBe('descending');
    await opened.settle(() => size().click());
    expect(opened.names).toEqual(['n', 'df']);
    await opened.settle(() => size().click());
    expect(size().parentElement?.getAttribute('aria-sort')).toBe('none');
    opened.view = {
      ...opened.view,
      variables: [
        variable('three', { head: '3' }),
        variable('ten', { head: '10' }),
        FRAME
      ]
    };
    await opened.ran();
    await opened.settle(() => opened.button('Value').click());
    expect(opened.names).toEqual(['df', 'ten', 'three']);

    const filter = opened.node.querySelector('input');
    await opened.settle(() => {
      const set = Object.getOwnPropertyDescriptor(
        HTMLInputElement.prototype,
        'value'
      )?.set;
      set?.call(filter, 'SHOP');
      filter?.dispatchEvent(new Event('input', { bubbles: true }));
    });
    expect(opened.names).toEqual(['df']);
  });

  it('should show the rows of one, and others', async () => {
    await opened.show([FRAME]);
    const row = () => opened.button('df');
    expect(row().getAttribute('aria-expanded')).toBe('false');
    await opened.settle(() => row().click());
    expect(row().getAttribute('aria-expanded')).toBe('true');
    expect(text()).toContain('pricefloat64, 3 missing');
    expect(text()).toContain('shopstr');
    expect(
      opened.node.querySelector('.jp-hdspAgent-variable-missing')?.textContent
    ).toBe('missing');
    expect(text()).toContain('Rows 1–2 of 1,200');
    await opened.settle(() => opened.button('Next rows').click());
    expect(text()).toContain('Rows 51–52 of 1,200');
    expect(
      opened.rest
        .of('POST variables/table')
        .map(({ body }) => (body as { start: number }).start)
    ).toEqual([0, 50]);
    await opened.settle(() => row().click());
    expect(opened.node.querySelector('.jp-hdspAgent-variable-open')).toBeNull();
  });

  it('should say what changed, by more than a colour', async () => {
    await opened.show([variable('n'), FRAME], { since: SINCE });
    // What is not listed is not counted.
    expect(text()).toContain('4 changes since the checkpoint of');
    expect(text()).toContain('new since the checkpoint');
    expect(opened.names).toEqual(['n', 'df', 'old', 'lost']);
    expect(text()).toContain('deleted since the checkpoint');
  });

  it('should be restored one by one', async () => {
    const restored: unknown[] = [];
    opened.page.commands.addCommand(CommandIDs.restoreVariable, {
      execute: args => restored.push(args)
    });
    await opened.show([FRAME], { since: SINCE });
    // Of one that is gone, without opening it.
    await opened.settle(() => opened.button('Restore…').click());
    await opened.settle(() => opened.button('df').click());
    await opened.settle(() => opened.button('Restore…').click());
    const { checkpoint } = SINCE;
    expect(restored).toEqual([
      { path: PATH, checkpoint, name: 'old' },
      { path: PATH, checkpoint, name: 'df' }
    ]);
  });

  it('should go along with a message, as they are now', async () => {
    const opens: string[] = [];
    for (const id of [CommandIDs.open, CommandIDs.ask]) {
      opened.page.commands.addCommand(id, { execute: () => opens.push(id) });
    }
    await opened.show([FRAME]);
    await opened.settle(() => opened.button('df').click());
    await opened.settle(() => opened.button('Add to the message').click());
    expect(draft().attachments).toMatchObject([
      { kind: 'variable', path: PATH }
    ]);
    expect(draft().attachments[0].label).toBe('df');
    expect(draft().attachments[0].content).toBe(
      [
        'df: pandas.core.frame.DataFrame, shape (1200, 2), 4096 bytes',
        'Columns:',
        '  price (float64, 3 missing)',
        '  shop (str)',
        'First rows:',
        '\tprice\tshop',
        '0\t1.5\tKim',
        '1\t\tLee'
      ].join('\n')
    );
    await opened.settle(() => opened.button('Ask about this').click());
    expect(draft().attachments).toHaveLength(1);
    expect(opens).toEqual([CommandIDs.open, CommandIDs.ask]);
  });

  it('should say why one could not be added', async () => {
    await opened.show([FRAME]);
    await opened.settle(() => opened.button('df').click());
    opened.rest.answers.delete('POST variables/table');
    await opened.settle(() => opened.button('Add to the message').click());
    expect(opened.node.querySelector('[role="alert"]')).not.toBeNull();
    expect(draft().attachments).toEqual([]);
  });

  it('should be looked at anew after each run, and after a restart', async () => {
    await opened.show([variable('n')]);
    const first = asked();
    await opened.ran();
    expect(asked()).toBe(first + 1);
    await opened.status('restarting');
    expect(asked()).toBe(first + 1);
    await opened.status('idle');
    expect(asked()).toBe(first + 2);
  });

  it('should be looked at when a cell ends that ran before', async () => {
    await opened.show([variable('n')], {
      since: { changes: [], unknown: 'busy' }
    });
    const first = asked();
    opened.view = { ...opened.view, since: SINCE };
    await opened.status('idle');
    expect(asked()).toBe(first + 1);
    await opened.status('idle');
    expect(asked()).toBe(first + 1);
  });

  it('should not be looked at because of what was asked silently', async () => {
    await opened.show([variable('n')]);
    const first = asked();
    await opened.status('busy');
    await opened.status('idle');
    for (const msg_type of ['comm_info_request', 'execute_request']) {
      await opened.published(idle({ msg_id: 'ours', msg_type }));
    }
    expect(asked()).toBe(first);
    await opened.published(idle({ msg_id: 'w', msg_type: 'comm_msg' }));
    expect(asked()).toBe(first + 1);
  });

  it('should be looked at only while they are in sight', async () => {
    await opened.show([FRAME]);
    await opened.settle(() => opened.button('df').click());
    const all = () => opened.rest.asked.length;
    const before = all();
    opened.widget.hide();
    await opened.ran();
    expect(all()).toBe(before);
    await opened.settle(() => opened.widget.show());
    expect(all()).toBe(before + 2);
  });

  it('should be asked for again where it is known only later what changed', async () => {
    await opened.show([variable('n')], {
      since: { changes: [], unknown: 'pending' }
    });
    expect(text()).toContain('Looking for what changed…');
    opened.view = { ...opened.view, since: SINCE };
    await opened.page.during(async () => {
      await jest.advanceTimersByTimeAsync(2_100);
    });
    expect(text()).toContain('changes since the checkpoint of');
  });

  it('should never show the rows of another notebook', async () => {
    await opened.show([FRAME]);
    await opened.settle(() => opened.button('df').click());
    const first = opened.tracker.currentWidget;
    const second = new FrontNotebook('other.ipynb');
    await opened.front(second);
    await opened.settle(() => opened.button('df').click());
    await opened.settle(() => opened.button('Next rows').click());
    await opened.front(first);
    expect(text()).toContain('Rows 1–2');
    opened.rest.answers.delete('POST variables/table');
    await opened.front(second);
    expect(text()).not.toContain('Kim');
  });

  it('should go with the notebook in front', async () => {
    await opened.show([variable('n')]);
    await opened.front(null);
    expect(text()).toBe('Open a notebook to see its variables.');
  });

  it('should say why there are none', async () => {
    await opened.show([], { kernel: undefined });
    expect(text()).toContain('No kernel is running for this notebook.');
    opened.view = {
      ...opened.view,
      kernel: { name: 'R', language: 'R', state: 'idle', answers: 'never' }
    };
    await opened.ran();
    expect(text()).toContain('The kernel R cannot list its variables.');
    opened.view = {
      ...opened.view,
      kernel: { name: 'P', language: 'python', state: 'busy', answers: 'later' }
    };
    await opened.ran();
    expect(text()).toContain('The variables are shown when it is done.');
  });

  it.each([
    ['busy', 'What changed is shown when it is done.'],
    ['no_checkpoint', 'Save a checkpoint to see here what changes after it.'],
    ['turned_off', 'Variables are not saved with checkpoints'],
    ['failed', 'What changed could not be found out.']
  ] as const)(
    'should say why changes are not known: %s',
    async (unknown, said) => {
      await opened.show([variable('n')], { since: { changes: [], unknown } });
      expect(text()).toContain(said);
    }
  );

  it('should not say that what could not be read is empty', async () => {
    await opened.show([FRAME]);
    opened.rest.answers.set('POST variables/table', () => ({
      variable: { ...variable('df'), head: undefined, error: 'no' },
      start: 0,
      index: [],
      rows: []
    }));
    await opened.settle(() => opened.button('df').click());
    expect(text()).toContain('It could not be shown whole: no');
    expect(text()).not.toContain('no rows');
  });

  it('should be sorted, and open, as before in each notebook', async () => {
    await opened.show([variable('n'), FRAME]);
    await opened.settle(() => opened.button('Size').click());
    await opened.settle(() => opened.button('df').click());
    const { currentWidget } = opened.tracker;
    await opened.front(null);
    await opened.front(currentWidget);
    expect(opened.names).toEqual(['df', 'n']);
    expect(opened.button('df').getAttribute('aria-expanded')).toBe('true');
  });

  it('should stay on screen when the server does not answer', async () => {
    await opened.show([FRAME]);
    opened.rest.answers.delete('POST variables');
    await opened.ran();
    expect(opened.names).toEqual(['df']);
    expect(opened.node.querySelector('[role="alert"]')).not.toBeNull();
  });
});

import { Chat } from '../chat';
import type { AgentAtWork, Notebooks } from '../notebooks';
import { expect, OpenNotebook, test } from '../notebooks';
import { Timeline, valueOf } from '../timeline';
import { LONG_ONLY } from '../longtests';

const TABLE = 'prices.csv';
const PRICES = 'price\n3\n4\n5\n';

/**
 * One that was never there before: its cells have no history.
 */
let path = '';

test.beforeEach(() => {
  path = `sales-${Date.now()}.ipynb`;
});

test('one click brings back a notebook, a table and a variable, and undo what the agent had made of them', async ({
  agent,
  lab,
  notebooks
}) => {
  const line = new Timeline(lab);
  const notebook = await begin(lab, notebooks);
  await spoil(lab, agent);
  await expectSpoilt(notebook, notebooks);

  await lab.picture('checkpoints-in-conversation');
  const first = await line.checkpoint('Before the agent ran cells');
  await line.action(first, 'Restore').click();
  await expect(line.dialog).toContainText(
    `${TABLE} returns to its earlier state`
  );
  await expect(line.dialog).toContainText(`Variables of ${path}`);
  const conversation = line.dialog.getByRole('checkbox', {
    name: 'Conversation'
  });
  await conversation.uncheck();
  await lab.picture('restore');
  await line.accept('Restore');

  await expect(line.bar).toContainText('Restored:');
  await expectWhole(notebook, notebooks);
  await expect(first).toContainText('You are here');
  await lab.picture('restored');

  await line.bar.getByRole('button', { name: 'Undo' }).click();
  await expect(line.bar).toContainText('The restore was undone.');
  await expectSpoilt(notebook, notebooks);
  await lab.picture('restore-undone');

  await line.bar.getByRole('button', { name: 'Redo' }).click();
  await expectWhole(notebook, notebooks);
  await notebook.save();
  expect(lab.errors).toEqual([]);
});

test(
  'the conversation goes back with the work, comes again with it, and leads to its checkpoints',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const line = new Timeline(lab);
    const chat = new Chat(lab);
    const notebook = await begin(lab, notebooks);
    await spoil(lab, agent);
    const written = chat.messages('Tool', TABLE);
    await expect(written).toBeVisible();

    await line
      .action(
        await line.checkpoint('Before the agent changed cells'),
        'Restore'
      )
      .click();
    await expect(line.dialog).toContainText(/messages? (is|are) removed/);
    await line.accept('Restore');
    await expect(line.bar).toContainText('Conversation');
    await expect(written).toHaveCount(0);
    await expect(notebook.lines(0)).toHaveText(['rows = [3, 4, 5]']);
    await expect.poll(() => table(notebooks)).toBe(PRICES);

    await line.bar.getByRole('button', { name: 'Undo' }).click();
    await expect(written).toBeVisible();
    await expectSpoilt(notebook, notebooks);

    // Its menu leads to all of its checkpoints.
    await lab.panel
      .getByRole('button', { name: 'Conversation actions' })
      .click();
    await lab.page.getByRole('menuitem', { name: 'Checkpoints' }).click();
    await expect(
      line.view.getByRole('combobox', { name: 'Entries to show' })
    ).toHaveValue('task');
    await expect(line.rows.first()).toBeVisible();
    await lab.picture('time-line-of-conversation');
    expect(lab.errors).toEqual([]);
  }
);

test('one cell is restored from the list of what it was', async ({
  agent,
  lab,
  notebooks
}) => {
  const line = new Timeline(lab);
  const notebook = await begin(lab, notebooks);
  await spoil(lab, agent);
  await lab.picture('toolbars');

  await notebook.cell(0).click();
  await notebook.cell(0).getByRole('button', { name: 'Cell history…' }).click();
  const versions = line.dialog.getByRole('radio');
  await expect(versions).toHaveCount(2);
  await expect(line.dialog).toContainText('rows = [3, 4, 5]');
  // Which is chosen is told apart.
  await expect(line.dialog.getByRole('radio', { checked: true })).toHaveCSS(
    'appearance',
    'auto'
  );
  await lab.picture('cell-versions');
  await lab.page.setViewportSize({ width: 360, height: 640 });
  await lab.picture('cell-versions-on-a-small-screen');
  await lab.page.setViewportSize({ width: 1280, height: 800 });
  await line.accept('Restore');
  await expect(notebook.lines(0)).toHaveText(['rows = [3, 4, 5]']);
  // Nothing else went back.
  expect(await table(notebooks)).toBe('price\n');
  expect(await valueOf(notebook, 'rows')).toBe('[]');
  await notebook.save();

  await notebook.edit(0);
  await lab.page.keyboard.press('Control+z');
  await expect(notebook.lines(0)).toHaveText(['rows = None']);
  expect(lab.errors).toEqual([]);
});

test(
  'what the person left unsaved stays, nothing is asked when they save, and Ctrl+Z takes the restore back',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const line = new Timeline(lab);
    const notebook = await begin(lab, notebooks);
    await spoil(lab, agent);
    await notebook.edit(1);
    await lab.page.keyboard.type(' # mine');
    expect(await notebook.isDirty()).toBe(true);

    await line
      .action(await line.checkpoint('Before the agent ran cells'), 'Restore')
      .click();
    await line.dialog.getByRole('checkbox', { name: 'Conversation' }).uncheck();
    await expect(line.dialog).toContainText('because you changed it since');
    await lab.picture('restore-dirty');
    await line.accept('Restore');
    // It saves the notebook, and Jupyter asks whoever saves meanwhile.
    await expect(line.bar).toContainText('Restored:');
    await expect(notebook.lines(0)).toHaveText(['rows = [3, 4, 5]']);
    await expect(notebook.lines(1)).toHaveText([
      'mean = sum(rows) / len(rows)',
      'print(mean) # mine'
    ]);
    await notebook.save();
    // While Jupyter writes a file, nobody can read it.
    await expect(async () =>
      expect(await notebooks.cell(path, 'mean')).toMatchObject({
        source: 'mean = sum(rows) / len(rows)\nprint(mean) # mine'
      })
    ).toPass();

    await notebook.edit(0);
    await lab.page.keyboard.press('Control+z');
    await expect(notebook.lines(0)).toHaveText(['rows = None']);
    await expect(notebook.lines(1).last()).toHaveText('print(mean) # mine');
    await notebook.save();
    expect(lab.errors).toEqual([]);
  }
);

test(
  'a checkpoint is saved, compared and gone back to without a mouse',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const line = new Timeline(lab);
    const { keyboard } = lab.page;
    const notebook = await begin(lab, notebooks);
    await spoil(lab, agent);

    // From the conversation to the view, at the checkpoint.
    const feed = new Chat(lab).feed;
    const focused = feed.locator('article:focus');
    await lab.tabTo(feed, 'Shift+Tab');
    await keyboard.press('Alt+ArrowUp');
    await expect(async () => {
      await keyboard.press('PageUp');
      await expect(focused).toContainText('Before the agent ran cells', {
        timeout: 300
      });
    }).toPass();
    await lab.tabTo(line.action(focused.or(feed), 'Show in timeline').first());
    await keyboard.press('Enter');
    const shown = line.opened;
    // What the person did before the agent ran cells.
    await expect(shown).toContainText(
      /You made changes|Before the agent ran cells/
    );

    await lab.picture('time-line', ['light', 'dark', 'contrast']);

    const listed = line.view.getByRole('combobox', { name: 'Entries to show' });
    await lab.tabTo(listed);
    await keyboard.press('Home');
    await expect(listed).toHaveValue('all');
    await putText(notebooks, 'note.txt', 'Something new.');
    await lab.tabTo(
      line.view.getByRole('button', { name: 'Save checkpoint', exact: true }),
      'Shift+Tab'
    );
    await keyboard.press('Enter');
    const saved = line.rows
      .first()
      .getByRole('button', { name: /^Saved by you/ });
    await expect(saved).toContainText('you are here');

    await lab.tabTo(listed);
    await keyboard.press('ArrowDown');
    await expect(listed).toHaveValue('task');
    await expect(saved).toHaveCount(0);
    await lab.tabTo(line.rows.first().getByRole('button').first());
    await keyboard.press('ArrowRight');
    await expect(shown).toHaveCount(1);
    await lab.tabTo(
      line.rows
        .filter({ hasText: 'Ran cell 3' })
        .getByRole('button', { name: /^Ran cell 3/ })
    );
    await keyboard.press('ArrowRight');
    await expect(shown).toContainText('Ran cell 3');
    await expect(shown).toContainText('1 variable changed');
    const comparison = line.view.getByRole('combobox', {
      name: 'Compare with'
    });
    await lab.tabTo(comparison);
    await keyboard.press('ArrowDown');
    await expect(comparison).toHaveValue('now');
    await expect(line.view).toContainText(TABLE);
    await lab.picture('time-line-compared');

    await lab.tabTo(
      line.view.getByRole('button', { name: 'Restore to before this step…' })
    );
    await keyboard.press('Enter');
    await expect(line.dialog).toContainText(
      `${TABLE} returns to its earlier state`
    );
    const conversation = line.dialog.getByRole('checkbox', {
      name: 'Conversation'
    });
    await lab.tabTo(conversation);
    await keyboard.press('Space');
    await expect(conversation).not.toBeChecked();
    const accept = line.dialog.getByRole('button', {
      name: 'Restore',
      exact: true
    });
    await expect(accept).toBeEnabled();
    await lab.tabTo(accept);
    await keyboard.press('Enter');
    await expect(line.dialog).toHaveCount(0);
    await expect.poll(() => table(notebooks)).toBe(PRICES);
    await expect(notebook.lines(0)).toHaveText(['rows = [3, 4, 5]']);

    const undo = line.view.getByRole('button', { name: 'Undo the restore' });
    await lab.tabTo(undo, 'Shift+Tab');
    await keyboard.press('Enter');
    await expect.poll(() => table(notebooks)).toBe('price\n');
    await lab.picture('time-line-undone');
    expect(lab.errors).toEqual([]);
  }
);

test(
  'outputs come back trusted as they were: what a stranger wrote does not run, what the person ran does',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const line = new Timeline(lab);
    const chat = new Chat(lab);
    const says = (who: string) =>
      `<img src="nowhere" onerror="window.${who} = true"><b>${who} was here</b>`;
    const ran = (who: string) =>
      lab.page.evaluate(
        who => (window as unknown as Record<string, unknown>)[who] === true,
        who
      );
    await notebooks.write(path, [
      {
        id: 'theirs',
        source: 'print("again")',
        outputs: [
          {
            output_type: 'display_data',
            data: { 'text/html': says('stranger') },
            metadata: {}
          }
        ]
      },
      {
        id: 'own',
        source: `from IPython.display import HTML\nHTML('''${says('person')}''')`
      }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await expect(notebook.outputs(0)).toContainText('stranger was here');
    await notebook.edit(1);
    await lab.page.keyboard.press('Shift+Enter');
    await expect(notebook.outputs(1)).toContainText('person was here');
    await expect.poll(() => ran('person')).toBe(true);
    await notebook.save();
    await lab.openPanel();
    await chat.say('Tidy up.');
    await agent.read(path);
    await agent.edit(path, {
      op: 'replace',
      cell: 'own',
      source: 'print("tidy")'
    });
    await agent.run(path, 'all');
    await chat.finish(agent.model);
    await expect(notebook.outputs(0)).toHaveText('again');
    await expect(notebook.outputs(1)).toHaveText('tidy');
    await lab.page.evaluate(() => {
      Object.assign(window, { person: false });
    });

    await line
      .action(
        await line.checkpoint('Before the agent changed cells'),
        'Restore'
      )
      .click();
    await line.accept('Restore');
    await expect(notebook.outputs(0)).toContainText('stranger was here');
    await expect(notebook.outputs(1)).toContainText('person was here');
    await expect.poll(() => ran('person')).toBe(true);
    await expect(notebook.outputs(0).locator('[onerror]')).toHaveCount(0);
    expect(await ran('stranger')).toBe(false);
    await notebook.save();
  }
);

test(
  'the kernel is restarted and the cells up to one run again, once one has seen which',
  { tag: LONG_ONLY },
  async ({ lab, notebooks }) => {
    const line = new Timeline(lab);
    const notebook = await begin(lab, notebooks);
    for (const cell of [0, 2]) {
      await notebook.edit(cell);
      await lab.page.keyboard.press('Control+Enter');
    }
    await expect(notebook.count(0)).toHaveText('[3]:');
    await expect.poll(() => valueOf(notebook, 'rows')).toBe('[]');
    const restart = async () => {
      await notebook.lines(1).first().click({ button: 'right' });
      await lab.page
        .getByRole('menuitem', { name: 'Restart and Re-run to Here…' })
        .click();
    };

    await restart();
    await expect(line.dialog).toContainText('run 2 cells');
    await expect(line.dialog).toContainText('rows = [3, 4, 5]');
    await expect(line.dialog).not.toContainText('rows.clear()');
    await lab.picture('restart-to-here');
    await line.dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await valueOf(notebook, 'rows')).toBe('[]');

    await restart();
    await line.accept('Restart and run');
    // A kernel that is about to end answers no question any more.
    await expect(notebook.count(0)).toHaveText('[1]:');
    await expect(notebook.count(1)).toHaveText('[2]:');
    await expect.poll(() => valueOf(notebook, 'rows')).toBe('[3, 4, 5]');
    await lab.picture('restarted-to-here');
    await notebook.save();
    expect(lab.errors).toEqual([]);
  }
);

/**
 * A notebook that has run, a table beside it, and the panel.
 */
async function begin(
  lab: Timeline['lab'],
  notebooks: Notebooks
): Promise<OpenNotebook> {
  await notebooks.write(path, [
    { id: 'load', source: 'rows = [3, 4, 5]' },
    { id: 'mean', source: 'mean = sum(rows) / len(rows)\nprint(mean)' },
    { id: 'clear', source: 'rows.clear()' }
  ]);
  await putText(notebooks, TABLE, PRICES);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  await notebook.edit(0);
  await lab.page.keyboard.press('Shift+Enter');
  await lab.page.keyboard.press('Shift+Enter');
  await expect(notebook.outputs(1)).toHaveText('4.0');
  await notebook.save();
  await lab.openPanel();
  return notebook;
}

/**
 * The agent empties a variable, a cell and a table.
 */
async function spoil(lab: Timeline['lab'], agent: AgentAtWork): Promise<void> {
  const chat = new Chat(lab);
  await chat.say('Tidy up.');
  await agent.read(path);
  await agent.run(path, 'clear');
  await agent.edit(path, {
    op: 'replace',
    cell: 'load',
    source: 'rows = None'
  });
  await agent.call('write_to_file', { path: TABLE, content: 'price\n' });
  await chat.finish(agent.model);
}

async function expectSpoilt(
  notebook: OpenNotebook,
  notebooks: Notebooks
): Promise<void> {
  await expect(notebook.lines(0)).toHaveText(['rows = None']);
  await expect.poll(() => table(notebooks)).toBe('price\n');
  await expect.poll(() => valueOf(notebook, 'rows')).toBe('[]');
}

async function expectWhole(
  notebook: OpenNotebook,
  notebooks: Notebooks
): Promise<void> {
  await expect(notebook.lines(0)).toHaveText(['rows = [3, 4, 5]']);
  await expect.poll(() => table(notebooks)).toBe(PRICES);
  await expect.poll(() => valueOf(notebook, 'rows')).toBe('[3, 4, 5]');
  await notebook.expectSaved();
  await expect(async () =>
    expect(await notebooks.cell(path, 'load')).toMatchObject({
      source: 'rows = [3, 4, 5]'
    })
  ).toPass();
}

async function putText(
  { api }: Notebooks,
  path: string,
  content: string
): Promise<void> {
  await api.jupyter('PUT', `contents/${path}`, {
    type: 'file',
    format: 'text',
    content
  });
}

async function table({ api }: Notebooks): Promise<string> {
  const { content } = await api.jupyter<{ content: string }>(
    'GET',
    `contents/${TABLE}?type=file&format=text`
  );
  return content;
}

import { Chat } from '../chat';
import type { Lab } from '../lab';
import type { AgentAtWork, Notebooks } from '../notebooks';
import { expect, OpenNotebook, test, untilSignal } from '../notebooks';
import { Timeline } from '../timeline';
import { LONG_ONLY } from '../longtests';

const TABLE = 'sales.csv';

let path = '';

test.beforeEach(() => {
  path = `looks-${Date.now()}.ipynb`;
});

test(
  'rows say how much changed and why something is missing, and stay clear down to a restore of everything and its undo',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    test.slow();
    const line = new Timeline(lab);
    const notebook = await begin(lab, notebooks);
    await work(lab, agent);

    const second = await line.checkpoint('Before the agent changed a file');
    await expect(second).toContainText(/\d (cell|variable)s?.* changed/);
    await lab.picture('rows-in-conversation');
    await line.open();
    // Each step is one row, below what the person asked for.
    const tidied = line.view.getByRole('button', { name: 'Tidy up.' });
    await expect(tidied).toHaveAttribute('aria-expanded', 'true');
    const written = line.rows.filter({ hasText: `Edited ${TABLE}` });
    await expect(line.rows.filter({ hasText: 'Edited cell 1' })).toHaveCount(1);
    await expect(written.first()).toContainText('1 file changed');
    await written.first().getByRole('button').first().click();
    await expect(line.view).toContainText(TABLE);
    await lab.picture('rows');

    // While a cell runs, its variables cannot be had.
    await notebook.edit(2);
    await lab.page.keyboard.press('Shift+Enter');
    await lab.execute('hdsp-agent:save-checkpoint', { note: 'before lunch' });
    const noted = line.rows.filter({ hasText: 'before lunch' }).first();
    await expect(noted.getByRole('button').first()).toContainText(
      'before lunch'
    );
    await noted.getByRole('button').first().click();
    await expect(noted).toContainText('Its kernel runs a cell.');
    await lab.picture('left-out');
    await notebooks.signal(path);
    await expect(
      lab.page.getByText('Python 3 (ipykernel) | Idle')
    ).toBeVisible();

    await line.view.getByRole('button', { name: /checkpoints?, / }).click();
    await lab.picture('store');

    const listed = line.view.getByRole('combobox', { name: 'Entries to show' });
    await listed.selectOption('task');
    const first = line.rows.filter({ hasText: 'Ran cell 2' });
    await expect(first).toContainText('2 variables changed');
    await first.getByRole('button', { name: /^Actions for/ }).click();
    await lab.picture('menu');
    await lab.page
      .getByRole('menuitem', { name: 'Restore to before this step…' })
      .click();
    await expect(line.dialog).toContainText('What to restore');
    await lab.picture('restore-of-everything');
    await lab.page.setViewportSize({ width: 360, height: 640 });
    await lab.picture('restore-on-a-small-screen');
    await lab.page.setViewportSize({ width: 1280, height: 800 });
    await line.dialog.getByRole('checkbox', { name: 'Conversation' }).uncheck();
    await line.accept('Restore');
    await listed.selectOption('all');
    await expect(line.view).toContainText('You are at: Restored “');
    await lab.picture('went-back');
    await line.view.getByRole('button', { name: /^Undo: / }).click();
    await expect(line.view).toContainText('A restore was undone');
    await lab.picture('undone');
    expect(lab.errors).toEqual([]);
  }
);

/**
 * A notebook that has run, a table beside it, and the panel.
 */
async function begin(lab: Lab, notebooks: Notebooks): Promise<OpenNotebook> {
  await notebooks.write(path, [
    { id: 'load', source: 'rows = [3, 4, 5]\ntotal = sum(rows)' },
    { id: 'clear', source: 'rows.clear()\ntotal = 0' },
    { id: 'wait', source: untilSignal(path) }
  ]);
  await notebooks.api.jupyter('PUT', `contents/${TABLE}`, {
    type: 'file',
    format: 'text',
    content: 'price\n3\n4\n5\n'
  });
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  await notebook.edit(0);
  await lab.page.keyboard.press('Shift+Enter');
  await notebook.save();
  await lab.openPanel();
  return notebook;
}

/**
 * The agent runs a cell, changes another, and empties the table.
 */
async function work(lab: Lab, agent: AgentAtWork): Promise<void> {
  const chat = new Chat(lab);
  await chat.say('Tidy up.');
  await agent.read(path);
  await agent.run(path, 'clear');
  await agent.edit(path, {
    op: 'replace',
    cell: 'load',
    source: 'rows = None\ntotal = sum(rows)'
  });
  await agent.call('write_to_file', { path: TABLE, content: 'price\n' });
  await chat.finish(agent.model);
}

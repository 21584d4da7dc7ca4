import { expect, OpenNotebook, test } from '../notebooks';
import { LONG_ONLY } from '../longtests';

/**
 * The row of a cell that the agent changed, and its button.
 */
const edited = { name: 'Changed by the agent' };
const keep = { name: /^Keep, cell \d+$/ };

test('a person keeps one change, takes another back, and brings back a cell', async ({
  agent,
  lab,
  notebooks
}) => {
  test.slow();
  const path = 'review.ipynb';
  await notebooks.write(path, [
    { id: 'kept', source: 'a = 1' },
    { id: 'undone', source: 'b = 2' },
    { id: 'deleted', source: 'c = 3' },
    { id: 'last', source: 'd = 4' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  await agent.start('Tidy up.');
  await agent.read(path);
  await agent.edit(
    path,
    { op: 'edit', cell: 'kept', old: '1', new: '10' },
    { op: 'edit', cell: 'undone', old: '2', new: '20' },
    { op: 'delete', cell: 'deleted' },
    { op: 'insert', after: 'last', source: 'e = 5' }
  );
  const kept = notebook.cell(0);
  const undone = notebook.cell(1);
  await expect(notebook.lines(0)).toHaveText(['a = 10']);
  await expect(kept).toContainText('a = 1');
  await expect(
    notebook.panel.getByRole('group', { name: /^Cell deleted by the agent/ })
  ).toBeVisible();
  await lab.picture('notebook-review', ['light', 'dark', 'contrast']);

  await kept.getByRole('group', edited).getByRole('button', keep).click();
  await undone
    .getByRole('group', edited)
    .getByRole('button', { name: 'Undo, cell 2', exact: true })
    .click();
  await notebook.panel
    .getByRole('group', { name: 'Cell deleted by the agent' })
    .getByRole('button', { name: 'Undo' })
    .click();
  await notebook.panel
    .getByRole('group', { name: 'Cell added by the agent' })
    .getByRole('button', { name: 'Remove' })
    .click();

  await expect(notebook.panel.locator('.jp-hdspAgent-CellRow')).toHaveCount(0);
  for (const [index, line] of ['a = 10', 'b = 2', 'c = 3', 'd = 4'].entries()) {
    await expect(notebook.lines(index)).toHaveText([line]);
  }
  await expect(notebook.cell(4)).toHaveCount(0);
  await notebook.save();
  expect(
    (await notebooks.cells(path)).map(({ id, source }) => `${id}: ${source}`)
  ).toEqual(['kept: a = 10', 'undone: b = 2', 'deleted: c = 3', 'last: d = 4']);
});

test(
  'what the agent changed in a closed notebook is shown when it is opened, and after a reload, and leaves what a person wrote',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    test.slow();
    const path = 'later.ipynb';
    await notebooks.write(path, [
      { id: 'edited', source: 'a = 1' },
      { id: 'kept', source: 'b = 2' }
    ]);
    await lab.visit();
    await agent.start('Tidy up.');
    await agent.read(path);
    await agent.edit(
      path,
      { op: 'edit', cell: 'edited', old: 'a = 1', new: 'a = 1\nc = 3' },
      { op: 'edit', cell: 'kept', old: '2', new: '20' }
    );
    let notebook = await OpenNotebook.open(lab, path);
    const row = (index: number) =>
      notebook.cell(index).getByRole('group', edited);
    await row(1).getByRole('button', keep).click();
    await expect(row(0).getByRole('button', keep)).toBeVisible();
    await notebook.edit(0);
    await lab.page.keyboard.type('\nmine = 4');
    await notebook.save();

    await lab.reload();
    notebook = await OpenNotebook.open(lab, path);
    await expect(row(0).getByRole('button', keep)).toBeVisible();
    await expect(notebook.cell(1).getByRole('button', keep)).toHaveCount(0);
    await row(0).getByRole('button', { name: 'Undo' }).click();
    await expect(notebook.lines(0)).toHaveText(['a = 1', 'mine = 4']);
    await expect(notebook.cell(0).getByRole('button', keep)).toHaveCount(0);
  }
);

test('a failed cell offers to be fixed, by a task that is about this cell', async ({
  agent,
  lab,
  notebooks
}) => {
  const path = 'failed.ipynb';
  await notebooks.write(path, [{ id: 'failed', source: 'share = 1 / 0' }]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  await notebook.edit(0);
  await lab.page.keyboard.press('Control+Enter');
  await expect(notebook.outputs(0)).toContainText('ZeroDivisionError');
  await lab.picture('failed-cell', ['light', 'dark', 'contrast']);

  await notebook
    .cell(0)
    .getByRole('group', { name: 'This cell failed' })
    .getByRole('button', { name: /^Fix with agent/ })
    .click();

  await agent.model.asked();
  const { taskHistory } = await lab.api.get<IHistory>('history?limit=1');
  agent.task = taskHistory[0].id;
  const asked = JSON.stringify(agent.model.messages);
  expect(asked).toContain('ZeroDivisionError');
  expect(asked).toContain('share = 1 / 0');
  await agent.read(path);
  await agent.edit(path, {
    op: 'replace',
    cell: 'failed',
    source: 'share = 1 / 2\nprint(share)'
  });
  expect(await agent.run(path, 'failed')).toContain('0.5');
  await expect(notebook.outputs(0)).toHaveText('0.5');
  await expect(
    notebook.cell(0).getByRole('group', { name: 'This cell failed' })
  ).toHaveCount(0);
});

interface IHistory {
  taskHistory: { id: string }[];
}

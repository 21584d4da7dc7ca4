import { Chat } from '../chat';
import { expect, OpenNotebook, test } from '../notebooks';
import { Timeline } from '../timeline';

const PATH = 'towns.ipynb';

test('a notebook is verified: what hides is found, the agent fixes it, and then it is proved', async ({
  agent,
  lab,
  notebooks
}) => {
  const { page } = lab;
  const chat = new Chat(lab);
  const report = page.getByRole('tabpanel', { name: `Verify: ${PATH}` });
  await notebooks.write(PATH, [
    { id: 'sum', source: 'print(sum(towns.values()))' },
    { id: 'data', source: 'towns = {"Busan": 3, "Jeju": 1}' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, PATH);
  await test.step('cells run in another order than they stand in', async () => {
    await notebook.edit(1);
    await page.keyboard.press('Control+Enter');
    await expect(notebook.count(1)).toHaveText('[1]:');
    await notebook.edit(0);
    await page.keyboard.press('Control+Enter');
    await expect(notebook.count(0)).toHaveText('[2]:');
  });

  await test.step('what is not saved is saved and verified', async () => {
    await lab.execute('hdsp-agent:verify-notebook');
    await expect(report).toContainText(
      '1 of 2 cells shows something else than what is saved.'
    );
    await expect(report).toContainText('The cells had run in another order.');
    await expect(report).toContainText('towns is made in cell 2');
    await lab.picture('verify-differs', ['light', 'dark', 'contrast']);
  });

  await test.step('a click shows the cell, and the agent is asked to fix it', async () => {
    await report.getByRole('button', { name: 'Cell 1' }).click();
    await expect(notebook.cell(0)).toBeInViewport();
    await report.getByRole('button', { name: 'Let the agent fix it…' }).click();
    await expect(chat.field).toHaveValue(/these cells show something else/);
  });

  await test.step('the agent is told what was found, and fixes it', async () => {
    await chat.field.press('Enter');
    await agent.model.asked();
    expect(agent.model.told).toContain('towns is made in cell 2');
    await agent.read(PATH);
    await agent.edit(PATH, { op: 'move', cell: 'sum', after: 'data' });
    await agent.call('run_cells', { path: PATH, cells: 'all' });
    await chat.finish(agent.model, 'The data comes first now.');
    await expect(notebook.lines(0)).toHaveText([
      'towns = {"Busan": 3, "Jeju": 1}'
    ]);
    await expect(notebook.count(1)).toHaveText('[4]:');
  });

  await test.step('verified again, it is proved', async () => {
    await report.getByRole('button', { name: 'Verify again' }).click();
    await expect(report).toContainText('came out as they are saved.');
    await lab.picture('verify-proved', ['light', 'dark', 'contrast']);
  });

  await test.step('both reports are in the timeline, and open as they were', async () => {
    const line = new Timeline(lab);
    await line.open();
    const before = `Verified ${PATH}: 1 as saved, 1 not`;
    await expect(line.rows.filter({ hasText: before })).toHaveCount(1);
    await expect(
      line.rows.filter({ hasText: `Verified ${PATH}: 2 as saved` })
    ).toHaveCount(1);
    await line.view.getByRole('button', { name: `Report: ${before}` }).focus();
    await page.keyboard.press('Enter');
    const kept = page.getByRole('tabpanel', { name: `Report: ${PATH}` });
    await expect(kept).toContainText(
      '1 of 2 cells shows something else than what is saved.'
    );
    await expect(kept).toContainText('The cells had run in another order.');
    await expect(
      kept.getByRole('button', { name: 'Save the report' })
    ).toBeVisible();
    await lab.picture('verify-timeline', ['light', 'dark', 'contrast']);
  });
  expect(lab.errors).toEqual([]);
});

import { AgentApi } from '../agentapi';
import { Notebooks, OpenNotebook } from '../notebooks';
import { expect, inEveryLanguage } from './walk';

const NOTEBOOK = 'rain.ipynb';

const DATA = `import pandas as pd

rain = pd.DataFrame({
    "month": ["January", "February", "March", "April"],
    "rain_mm": [78, 64, 59, 51],
})
rain`;
const PLOT = 'rain.plot.bar(x="month", y="rain_mm", figsize=(4, 2))';
const CELLS = [
  { id: 'title', source: '# Rain per month', type: 'markdown' },
  { id: 'data', source: DATA },
  { id: 'mean', source: 'rain["rain"].mean()' },
  { id: 'last', source: 'print("The end")' }
] as const;

inEveryLanguage('a notebook', async (walk, { notebooks }) => {
  const { lab, model, page } = walk;
  const { window } = walk;
  await lab.api.useProfile(model.profile);
  await notebooks.write(NOTEBOOK, CELLS);
  await walk.open();
  const notebook = await OpenNotebook.open(lab, NOTEBOOK);
  await expect(walk.part('binding')).toBeVisible();
  await walk.take('notebook-begin');

  await walk.say('Fix the average and plot the rain.');
  await model.call('read_notebook', { path: NOTEBOOK, view: 'cells' });
  await walk.ask('tool', 'run_cells', { path: NOTEBOOK, cells: ['2', '3'] });
  await walk.take('run', window);
  await walk.answer('approve');
  await expect(walk.part('cellRun').last()).toBeVisible();
  await walk.take('traceback');

  await walk.ask('tool', 'edit_cells', {
    path: NOTEBOOK,
    operations: [
      { op: 'edit', cell: 'mean', old: '"rain"', new: '"rain_mm"' },
      { op: 'insert', after: 'mean', source: PLOT }
    ]
  });
  await walk.take('edit', window);
  await walk.answer('approve');
  await walk.ask('tool', 'run_cells', { path: NOTEBOOK, cells: ['3', '4'] });
  await walk.answer('approve');
  await expect(notebook.outputs(3).locator('img')).toBeVisible();
  await walk.take('outputs');
  await lab.api.change({ autoApprovalEnabled: true, alwaysAllowWrite: true });
  await model.call('edit_cells', {
    path: NOTEBOOK,
    operations: [
      { op: 'edit', cell: 'last', old: 'end', new: 'end of the rain' },
      { op: 'insert', after: 'last', source: 'rain.describe()' }
    ]
  });
  await expect(walk.part('reviewActions')).toBeVisible();
  await walk.part('filechanges').locator('button').first().click();
  await expect(walk.part('filechanges-body')).toBeVisible();
  await walk.take('files-changed', window);
  await walk.part('filechanges').locator('button').first().click();
  await walk.finish('The mean is **63 mm**, and the plot is below.');
  await walk.take('done', window);

  await walk.part('checkpoint').first().hover();
  await walk.take('checkpoint-hovered', walk.panel, true);
  await walk
    .part('checkpoint-actions')
    .first()
    .locator('button')
    .nth(1)
    .click();
  await expect(walk.part('timeline-preview').first()).toBeVisible();
  await walk.take('restore', window);
  await page.keyboard.press('Escape');
  await expect(walk.dialog).toHaveCount(0);

  await lab.execute('hdsp-agent:open-time-line');
  const timeline = page.locator('.jp-hdspAgent-TimeLine');
  await expect(
    timeline.locator('.jp-hdspAgent-timeline-item').first()
  ).toBeVisible();
  await walk.take('timeline', timeline);
  const entry = timeline.locator('button.jp-hdspAgent-timeline-open').first();
  await entry.click();
  await expect(walk.part('timeline-details').first()).toBeVisible();
  await walk.take('timeline-open', timeline);

  await lab.execute('docmanager:open', { path: NOTEBOOK });
  await lab.execute('hdsp-agent:undo-all', { path: NOTEBOOK });
  await notebook.edit(2);
  await page.keyboard.type(' / nothing');
  await page.keyboard.press('Control+Enter');
  await expect(notebook.outputs(2)).toContainText('NameError');
  await walk.take('failed-cell', window);
  await walk.beginAnother();
  await walk.part('CellRow-button').last().click();
  await model.asked();
  await walk.take('fix', window);
});

inEveryLanguage('an error and a long output', async (walk, { notebooks }) => {
  const { lab, model, page } = walk;
  const { window } = walk;
  await lab.api.useProfile(model.profile);
  await notebooks.write(NOTEBOOK, [
    { id: 'mean', source: 'rain["rain"].mean()' },
    {
      id: 'long',
      source: 'for day in range(40):\n    print("day", day, "no rain")'
    }
  ]);
  await walk.open();
  const notebook = await OpenNotebook.open(lab, NOTEBOOK);
  await notebook.edit(0);
  await page.keyboard.press('Control+Enter');
  await expect(notebook.outputs(0)).toContainText('NameError');
  await lab.execute('hdsp-agent:attach-error');
  await lab.execute('hdsp-agent:attach-cell');
  await expect(walk.part('chip')).toHaveCount(2);
  await walk.take('chips', window);
  await walk.say('Why is that?');
  await model.call('read_notebook', { path: NOTEBOOK, view: 'cells' });
  await walk.ask('tool', 'run_cells', { path: NOTEBOOK, cells: ['2'] });
  await walk.answer('approve');
  const all = walk.part('bounded-more').last();
  await expect(all).toBeVisible();
  await walk.take('long-output');
  await all.click();
  await expect(all).toHaveAttribute('aria-expanded', 'true');
  await walk.take('long-output-all');
  await walk.finish();
});

inEveryLanguage(
  'a server that is gone',
  async (walk, { request, startServer }) => {
    const { lab, model, page } = walk;
    const { window } = walk;
    const server = await startServer();
    const api = new AgentApi(request, server.url);
    await api.useProfile(model.profile);
    await new Notebooks(api).write(NOTEBOOK, CELLS);
    await walk.open(server.url);
    const notebook = await OpenNotebook.open(lab, NOTEBOOK);
    await page.addLocatorHandler(page.locator('.jp-Dialog'), dialog =>
      dialog.locator('button').last().click()
    );
    await notebook.edit(1);
    await page.keyboard.press('Control+Enter');
    await expect(notebook.count(1)).toHaveText('[1]:');
    await notebook.save();
    await lab.execute('hdsp-agent:save-checkpoint', { path: NOTEBOOK });
    await api.publish({
      type: 'noticesUpdated',
      notices: [
        {
          id: 'one',
          level: 'warning',
          code: 'no_keyring',
          message: 'No system keyring found.',
          params: {}
        },
        {
          id: 'two',
          level: 'info',
          code: 'of_the_walk',
          message: 'The index of the search was rebuilt.',
          params: {}
        }
      ]
    });
    await expect(walk.part('notice')).toHaveCount(2);
    await walk.take('notices');
    await server.kill();
    await expect(walk.panel.locator('[data-reason]')).toBeVisible();
    await walk.take('offline', window);
    await server.start();
    await lab.execute('hdsp-agent:reconnect');
    await expect(walk.panel.locator('[data-reason]')).toHaveCount(0);
    await expect(walk.part('KernelNotice')).toBeVisible();
    await walk.take('restarted', window);
  }
);

import * as path from 'path';

import { expect, test } from '../chat';
import { OpenNotebook } from '../notebooks';

const PICTURE = path.resolve(__dirname, '../../docs/assets/panel.png');

const DATA = `import pandas as pd

weather = pd.DataFrame({
    "month": ["Jan", "Feb", "Mar", "Apr", "May", "Jun"],
    "rain_mm": [78, 64, 59, 51, 48, 44],
})
weather.head(3)`;

const PLOT = `weather.plot.bar(x="month", y="rain_mm", legend=False)`;

test('the panel at work', async ({ chat, lab, model, notebooks }) => {
  const notebook = 'rain.ipynb';
  await notebooks.write(notebook, [
    { id: 'title', source: '# Rain per month', type: 'markdown' },
    { id: 'data', source: DATA },
    { id: 'mean', source: 'weather["rain"].mean()' }
  ]);
  await lab.api.change({
    autoApprovalEnabled: true,
    alwaysAllowReadOnly: true,
    alwaysAllowWrite: true,
    alwaysAllowRunCells: true
  });
  await chat.open();
  const { page } = lab;
  await page.sidebar.setWidth(430, 'left');
  const opened = await OpenNotebook.open(lab, notebook);
  await opened.panel
    .locator('.jp-Toolbar')
    .getByRole('button', { name: /restart.*run all/i })
    .waitFor();

  await chat.say('The average fails. Fix it, and plot the rain per month.');
  await model.call('read_notebook', { path: notebook, view: 'cells' });
  await model.call('run_cells', { path: notebook, cells: ['2'] });
  await model.call('edit_cells', {
    path: notebook,
    operations: [
      { op: 'edit', cell: 'mean', old: '"rain"', new: '"rain_mm"' },
      { op: 'insert', after: 'mean', source: PLOT }
    ]
  });
  await model.call('run_cells', { path: notebook, cells: ['3'] });
  await lab.api.change({ alwaysAllowRunCells: false });
  await model.order('run_cells', { path: notebook, cells: ['4'] });
  await chat.expectAsked('Run cell 4?');
  await expect(opened.outputs(2)).toContainText('57.3');
  await expect(
    lab.panel.locator('.jp-hdspAgent-ask [aria-disabled="true"]')
  ).toHaveCount(0);

  await page.mouse.move(0, 0);
  await page.screenshot({ path: PICTURE, animations: 'disabled' });

  await chat.ask.getByRole('button', { name: 'Deny', exact: true }).click();
  await chat.finish(model);
});

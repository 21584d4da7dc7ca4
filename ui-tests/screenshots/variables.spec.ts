import * as path from 'path';

import { expect, OpenNotebook, test } from '../notebooks';

const ASSETS = path.resolve(__dirname, '../../docs/assets');
const NOTEBOOK = 'shops.ipynb';

const SOURCE = `import pandas as pd
prices = pd.DataFrame({
    "shop": ["Busan", "Seoul", "Daegu", None, "Jeju"],
    "item": ["tea", "tea", "rice", "rice", "tea"],
    "price": [3.2, 2.9, 18.5, 19.0, None],
})
limit = 20
names = prices["shop"].dropna().tolist()`;

test('the variables of a notebook', async ({ agent: _, lab, notebooks }) => {
  const { page } = lab;
  const view = page.getByRole('region', { name: 'Variables' });
  await notebooks.write(NOTEBOOK, [
    { id: 'data', source: SOURCE },
    { id: 'more', source: 'names.sort()\ncheap = prices[prices["price"] < 5]' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, NOTEBOOK);
  await lab.execute('hdsp-agent:open-variables');
  await page.sidebar.setWidth(430, 'right');
  await notebook.edit(0);
  await page.keyboard.press('Control+Enter');
  await expect(view.getByRole('row', { name: /^prices/ })).toBeVisible();
  await view.getByRole('button', { name: 'Save checkpoint' }).click();
  await expect(view.getByText(/Nothing has changed/)).toBeVisible();
  await notebook.edit(1);
  await page.keyboard.press('Control+Enter');
  await expect(view.getByText(/^2 changes since/)).toBeVisible();
  await view.getByRole('button', { name: /^prices/ }).click();
  await expect(
    view.getByRole('region', { name: 'Values of prices' })
  ).toBeVisible();
  await page.mouse.move(0, 0);
  await view.screenshot({
    path: path.join(ASSETS, 'variables.png'),
    animations: 'disabled'
  });
});

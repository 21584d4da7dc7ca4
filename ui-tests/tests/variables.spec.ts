import { Chat } from '../chat';
import { expect, OpenNotebook, test } from '../notebooks';
import { Timeline, valueOf } from '../timeline';

const PATH = 'variables.ipynb';

const FIRST = `import pandas as pd
prices = pd.DataFrame({"shop": ["Kim", "Lee", None] * 40, "price": [1.5, 2.25, 3.0] * 40})
rows = [1, 2]
limit = 10`;

test('the variables of a notebook are seen, asked about and restored, by the keyboard', async ({
  agent: _,
  lab,
  notebooks
}) => {
  const { page } = lab;
  const chat = new Chat(lab);
  const view = page.getByRole('region', { name: 'Variables' });
  const variable = (name: string) =>
    view.getByRole('button', { name: new RegExp(`^${name}\\b`) });
  await notebooks.write(PATH, [
    { id: 'first', source: FIRST },
    { id: 'second', source: 'rows.append(3)\ndel limit' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, PATH);
  await lab.execute('hdsp-agent:open-variables');
  const filter = view.getByRole('searchbox', { name: 'Filter the variables' });

  await test.step('a cell that ran brings them', async () => {
    await notebook.edit(0);
    await page.keyboard.press('Control+Enter');
    await expect(variable('prices')).toBeVisible();
    await expect(view.getByRole('row', { name: /^prices/ })).toContainText(
      'DataFrame'
    );
    await expect(view.getByRole('row', { name: /^prices/ })).toContainText(
      '120 × 2'
    );
  });

  await test.step('the filter and the rows of a table', async () => {
    await lab.execute('hdsp-agent:open-variables');
    await expect(filter).toBeFocused();
    await page.keyboard.type('shop');
    await expect(variable('rows')).toHaveCount(0);
    await lab.tabTo(variable('prices'));
    await page.keyboard.press('Enter');
    const values = view.getByRole('region', { name: 'Values of prices' });
    await expect(
      values.getByRole('columnheader', { name: /^shop/ })
    ).toHaveText(/40 missing/);
    await expect(view.getByText('Rows 1–50 of 120')).toBeVisible();
    await lab.picture('variables-table', ['light', 'dark', 'contrast']);
    await lab.tabTo(view.getByRole('button', { name: 'Next rows' }));
    await page.keyboard.press('Enter');
    await expect(view.getByText('Rows 51–100 of 120')).toBeVisible();
  });

  await test.step('one goes along with a message', async () => {
    await lab.tabTo(
      view.getByRole('button', { name: 'Add to the message' }),
      'Shift+Tab'
    );
    await page.keyboard.press('Enter');
    await expect(
      chat.lab.panel.getByRole('list', { name: 'Attachments' })
    ).toContainText('prices');
  });

  await test.step('an @ names variables, and the columns of tables', async () => {
    await chat.field.pressSequentially('Plot @prices');
    const options = lab.panel.getByRole('option');
    await expect(options.filter({ hasText: 'prices["shop"]' })).toBeVisible();
    await page.keyboard.press('Escape');
    await chat.field.fill('');
    await chat.field.pressSequentially('Is this much? @limi');
    await expect(options.first()).toContainText('limit');
    await page.keyboard.press('Enter');
    await expect(
      lab.panel.getByRole('list', { name: 'Attachments' })
    ).toContainText('limit');
    await chat.field.press('Enter');
    await expect(chat.messages('You', 'Is this much?')).toContainText('limit');
  });

  await test.step('what changed since a checkpoint is marked, and restored', async () => {
    await lab.execute('hdsp-agent:open-variables');
    await filter.fill('');
    await view.getByRole('button', { name: 'Save checkpoint' }).click();
    await expect(
      view.getByText(/Nothing has changed since the checkpoint/)
    ).toBeVisible();
    await notebook.edit(1);
    await page.keyboard.press('Control+Enter');
    await expect(view.getByText(/^2 changes since/)).toBeVisible();
    await expect(
      view.getByRole('row', { name: /^limit.*deleted since/ })
    ).toBeVisible();
    await lab.picture('variables-changed', ['light', 'dark', 'contrast']);
    await lab.tabTo(view.getByRole('button', { name: 'Restore limit…' }));
    await page.keyboard.press('Enter');
    await new Timeline(lab).accept('Restore');
    await expect(view.getByText(/^1 change since/)).toBeVisible();
    expect(await valueOf(notebook, '(limit, rows)')).toBe('(10, [1, 2, 3])');
    await variable('rows').click();
    await view.getByRole('button', { name: 'Restore rows…' }).click();
    await new Timeline(lab).accept('Restore');
    await expect(
      view.getByText(/Nothing has changed since the checkpoint/)
    ).toBeVisible();
    expect(await valueOf(notebook, '(limit, rows)')).toBe('(10, [1, 2])');
  });
  expect(lab.errors).toEqual([]);
});

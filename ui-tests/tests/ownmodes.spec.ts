import { expect, test } from '../lab';

test('a mode of one’s own is made, chosen, changed and deleted', async ({
  lab
}) => {
  await lab.visit();
  await lab.openSettings('customModes');
  const { settings } = lab;
  await settings.getByRole('button', { name: 'New mode…' }).click();
  await settings.getByLabel('Name', { exact: true }).fill('Sales Charts');
  await settings.getByLabel('Role', { exact: true }).fill('You draw charts.');
  await lab.picture('own-mode-form');
  await settings.getByRole('button', { name: 'Save', exact: true }).click();
  const mode = settings.locator('[data-mode="sales-charts"]');
  await expect(mode).toContainText('Yours');

  await mode
    .getByRole('button', { name: 'Show the system prompt of “Sales Charts”' })
    .click();
  await expect(mode.locator('pre')).toContainText('You draw charts.');
  await lab.picture('own-mode-prompt');
  await mode.getByRole('button', { name: 'Delete “Sales Charts”…' }).click();
  await lab.page.getByRole('button', { name: 'Delete mode' }).click();
  await expect(mode).toHaveCount(0);

  await lab.openSettings('slashCommands');
  await settings.getByRole('button', { name: 'New command…' }).click();
  await settings.getByLabel('Name', { exact: true }).fill('/sum');
  await settings.getByLabel('Prompt').fill('Sum up $ARGUMENTS');
  await lab.picture('own-command-form');
  await settings.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(settings.locator('[data-command="sum"]')).toContainText('Yours');
});

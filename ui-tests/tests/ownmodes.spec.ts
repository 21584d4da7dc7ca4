import { expect, test } from '../lab';
import { PlayedModel } from '../model';
import { LONG_ONLY } from '../longtests';

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

test(
  'a mode and a model are chosen in the composer',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    const model = await PlayedModel.start();
    try {
      await lab.api.useProfile(model.profile);
      await lab.visit();
      await lab.openPanel();
      await expect(lab.greeting).toBeVisible();
      const window = lab.panel.getByRole('dialog');

      await lab.panel.getByRole('button', { name: 'Mode: Agent' }).click();
      await expect(window.getByRole('option')).toHaveText([
        'AgentEdits and runs, asks first',
        'AskAnswers, changes nothing',
        'PlanPlans, then you decide'
      ]);
      await lab.picture('mode-choices');
      await window.getByRole('button', { name: 'More' }).click();
      await expect(window.getByRole('option', { name: 'Debug' })).toBeVisible();
      await window.getByRole('option', { name: 'Plan' }).click();
      await expect(
        lab.panel.getByRole('button', { name: 'Mode: Plan' })
      ).toBeFocused();
      expect(await lab.api.setting('mode')).toBe('architect');

      await lab.panel
        .getByRole('button', { name: 'Model: played (default)' })
        .click();
      const search = window.getByRole('combobox', { name: 'Search models' });
      await expect(search).toBeFocused();
      await expect(
        window.getByRole('option', { name: 'gpt-4o', exact: false }).first()
      ).toContainText('price unknown');
      await lab.picture('model-choices');
      await search.fill('another');
      await expect(window.getByRole('option')).toHaveText([/^Use “another”/]);
      await lab.page.keyboard.press('Enter');
      await expect(
        lab.panel.getByRole('button', { name: 'Model: another (default)' })
      ).toBeFocused();

      await lab.page.keyboard.press('Enter');
      await expect(
        window.getByRole('group', { name: 'Recent' }).getByRole('option')
      ).toHaveText([/^played/]);
      await lab.picture('model-choices-recent');
      await lab.page.keyboard.press('Escape');
      await expect(window).toBeHidden();
    } finally {
      await model.dispose();
    }
  }
);

import { expect, test } from '../lab';
import { LONG_ONLY } from '../longtests';

test.describe('two tabs of one person', () => {
  test('show the same settings and profiles, each without a reload', async ({
    lab,
    newTab
  }) => {
    await lab.visit();
    const other = await newTab();
    await lab.openSettings('approvals');
    await other.openSettings('approvals');
    const reading = { name: 'Reading', exact: true };
    await expect(other.settings.getByRole('switch', reading)).not.toBeChecked();

    await lab.settings.getByRole('switch', reading).check();

    await expect(other.settings.getByRole('switch', reading)).toBeChecked();
    expect(await lab.api.setting('alwaysAllowReadOnly')).toBe(true);

    await other.settings
      .getByRole('button', { name: 'Reset to default: Reading' })
      .click();
    await expect(lab.settings.getByRole('switch', reading)).not.toBeChecked();

    await lab.openSettings('models');
    await other.openSettings('models');
    await other.openPanel();

    await lab.settings.getByRole('button', { name: 'New profile…' }).click();
    const dialog = lab.page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('shared');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await expect(
      lab.settings.getByRole('heading', { name: 'Profile “shared”' })
    ).toBeVisible();
    await lab.settings
      .getByRole('combobox', { name: 'Provider' })
      .selectOption('Anthropic');
    await lab.settings.getByRole('button', { name: 'Use “shared”' }).click();

    await expect(
      other.settings.getByRole('button', { name: /^shared.*Current/ })
    ).toBeVisible();
    await expect(
      other.panel.getByRole('button', { name: 'Model: shared' })
    ).toBeVisible();
    await expect(other.setup).toContainText('The key for the model is missing');
  });

  test(
    'never overwrite what is being typed in the other',
    { tag: LONG_ONLY },
    async ({ lab, newTab }) => {
      await lab.visit();
      const other = await newTab();
      await lab.openSettings('commands');
      await other.openSettings('commands');
      const limit = { name: 'Time limit of a shell command (s)' };
      const mine = other.settings.getByRole('spinbutton', limit);
      const denied = other.settings.getByRole('textbox', {
        name: 'Denied commands'
      });
      await other.page.clock.install();
      // Nothing is stored as long as the page's clock stands still.
      await other.page.clock.pauseAt(Date.now() + 3_600_000);
      await mine.fill('77');

      await lab.settings.getByRole('spinbutton', limit).fill('55');
      await lab.settings
        .getByRole('textbox', { name: 'Denied commands' })
        .click();
      await expect
        .poll(() => lab.api.setting('commandExecutionTimeout'))
        .toBe(55);
      await lab.api.change({ deniedCommands: ['rm'] });

      await expect(denied).toHaveValue('rm');
      await expect(mine).toHaveValue('77');
      expect(await lab.api.setting('commandExecutionTimeout')).toBe(55);

      await other.page.clock.resume();
      await expect
        .poll(() => lab.api.setting('commandExecutionTimeout'))
        .toBe(77);
      await expect(lab.settings.getByRole('spinbutton', limit)).toHaveValue(
        '77'
      );
    }
  );
});

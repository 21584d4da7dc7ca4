import { readFileSync } from 'fs';
import * as path from 'path';

import { AgentApi } from '../agentapi';
import type { Lab } from '../lab';
import { expect, test } from '../lab';
import { LONG_ONLY } from '../longtests';

const PERCENT = { name: 'Condense when the context window is this full (%)' };

test.describe('the settings', () => {
  test('are found by words of their title, description or name', async ({
    lab
  }) => {
    await lab.visit();
    await lab.openSettings('models');
    const search = lab.settings.getByRole('searchbox', {
      name: 'Search settings'
    });

    await search.fill('window full');
    await expect(lab.settings.getByRole('spinbutton', PERCENT)).toBeVisible();
    await expect(
      lab.settings.getByRole('status').filter({ hasText: /^\d results?$/ })
    ).toBeVisible();
    await lab.picture('settings-search');

    await search.fill('maxImageFileSize');
    await expect(
      lab.settings.getByRole('spinbutton', { name: 'Largest image (MB)' })
    ).toBeVisible();

    await search.fill('no such thing');
    await expect(lab.settings).toContainText(
      'No setting contains all of these words.'
    );

    await search.fill('e');
    await lab.settings
      .getByRole('heading', { name: 'Import, export, reset' })
      .scrollIntoViewIfNeeded();
    await lab.openSettings('models');
    await expect(search).toHaveValue('');
    await expect(
      lab.settings.getByRole('heading', { name: 'Models and keys' })
    ).toBeInViewport();
  });

  test('that are wrong say so at the field, and the old value stays', async ({
    lab
  }) => {
    await lab.api.change({ autoCondenseContextPercent: 60 });
    await lab.visit();
    await lab.openSettings('context');
    const percent = lab.settings.getByRole('spinbutton', PERCENT);

    await percent.fill('400');

    await expect(percent).toHaveAttribute('aria-invalid', 'true');
    await expect(percent).toHaveAccessibleDescription(
      /This value cannot be used: it must be at most 100/
    );
    await expect(percent).toHaveValue('400');
    expect(await lab.api.setting('autoCondenseContextPercent')).toBe(60);
    await lab.picture('settings-invalid');

    await lab.settings.getByRole('button', { name: 'Undo this edit' }).click();
    await expect(percent).toHaveValue('60');
    await expect(percent).not.toHaveAttribute('aria-invalid');

    await percent.fill('61');
    await percent.press('Enter');
    await expect(
      lab.settings.getByText('Saved', { exact: true })
    ).toBeVisible();
    expect(await lab.api.setting('autoCondenseContextPercent')).toBe(61);
  });

  test(
    'are written to a file and taken from one',
    { tag: LONG_ONLY },
    async ({ lab }) => {
      await lab.api.change({ autoCondenseContextPercent: 33 });
      await lab.visit();
      await lab.openSettings('transfer');

      const saved = lab.page.waitForEvent('download');
      await lab.settings
        .getByRole('button', { name: 'Export to a file' })
        .click();
      const file = await (await saved).path();
      const content = JSON.parse(readFileSync(file, 'utf8'));
      expect(content.globalSettings.autoCondenseContextPercent).toBe(33);

      await lab.api.reset();
      content.globalSettings.ofAnotherProgram = true;
      content.globalSettings.maxOpenTabsContext = 'many';
      await importFile(lab, 'settings.json', JSON.stringify(content));
      await expect(lab.settings).toContainText('Left out or changed:');
      await expect(lab.settings).toContainText('ofAnotherProgram');
      await expect(
        lab.settings
          .getByText('globalSettings.maxOpenTabsContext')
          .locator('..')
      ).toHaveText(
        /This value cannot be used: it must be a whole number\. The setting was not changed\.$/
      );
      await lab.picture('settings-imported');
      expect(await lab.api.setting('autoCondenseContextPercent')).toBe(33);
      expect(await lab.api.setting('maxOpenTabsContext')).toBe(20);

      await importFile(lab, 'notes.txt', 'not JSON');
      await expect(lab.settings.getByRole('alert')).toContainText(
        '“notes.txt” is not a settings file'
      );
      expect(await lab.api.setting('autoCondenseContextPercent')).toBe(33);
    }
  );

  test(
    'are reset only when one is sure',
    { tag: LONG_ONLY },
    async ({ lab }) => {
      await lab.api.change({ autoCondenseContextPercent: 33 });
      await lab.visit();
      await lab.openSettings('transfer');
      const reset = lab.settings.getByRole('button', {
        name: 'Reset everything…'
      });
      const dialog = lab.page.getByRole('dialog');

      await reset.click();
      await expect(dialog).toContainText('This cannot be undone');
      await lab.page.keyboard.press('Enter');
      await expect(dialog).toBeHidden();
      expect(await lab.api.setting('autoCondenseContextPercent')).toBe(33);

      await reset.click();
      await dialog.getByRole('button', { name: 'Reset everything' }).click();
      await expect
        .poll(() => lab.api.setting('autoCondenseContextPercent'))
        .toBe(100);
      await expect(
        lab.settings.getByRole('status').filter({ hasText: 'was reset' })
      ).toBeAttached();
    }
  );
});

test('profiles are made, renamed, used, pinned and deleted', async ({
  lab
}) => {
  await lab.visit();
  await lab.openSettings('models');
  const dialog = lab.page.getByRole('dialog');
  const act = (name: string) =>
    lab.settings.getByRole('button', { name, exact: true }).click();

  await act('New profile…');
  await dialog.getByRole('textbox').fill('work');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(
    lab.settings.getByRole('heading', { name: 'Profile “work”' })
  ).toBeVisible();

  await act('New profile…');
  await dialog.getByRole('textbox').fill('work');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(lab.settings.getByRole('alert')).toContainText(
    'A profile named “work” already exists.'
  );

  await act('Rename “work”…');
  await dialog.getByRole('textbox').fill('at work');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await act('Use “at work”');
  await expect(
    lab.settings.getByRole('button', { name: /^at work.*Current/ })
  ).toBeVisible();
  await act('Pin “at work”');
  await expect(
    lab.settings.getByRole('button', { name: 'Unpin “at work”' })
  ).toBeVisible();
  await lab.settings
    .getByRole('combobox', { name: 'Debug' })
    .selectOption('default');
  await expect
    .poll(() => lab.api.profiles())
    .toMatchObject({
      current: 'at work',
      profiles: expect.arrayContaining([
        expect.objectContaining({ name: 'at work', pinned: true })
      ]),
      modes: { debug: expect.any(String) }
    });
  await lab.picture('profiles');

  await act('Delete “default”…');
  await expect(dialog).toContainText('Its settings and its saved keys');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect((await lab.api.profiles()).profiles).toHaveLength(2);
  await act('Delete “default”…');
  await dialog.getByRole('button', { name: 'Delete profile' }).click();
  await expect
    .poll(async () => (await lab.api.profiles()).profiles.map(one => one.name))
    .toEqual(['at work']);
  await expect(
    lab.settings.getByRole('button', { name: 'Delete “at work”…' })
  ).toBeDisabled();
});

test(
  'what the operator fixed can be seen, not changed',
  { tag: LONG_ONLY },
  async ({ lab, request, startServer }) => {
    const server = await startServer({
      args: [
        "--HdspAgentApp.fixed_settings={'autoApprovalEnabled': False, 'followupAutoApproveTimeoutMs': 5000}",
        '--HdspAgentApp.allowed_providers=ollama'
      ]
    });
    const api = new AgentApi(request, server.url);
    await lab.visit(server.url);
    await lab.openSettings('approvals');

    const approve = lab.settings.getByRole('switch', {
      name: 'Approve actions automatically'
    });
    await expect(approve).toBeDisabled();
    await expect(approve).not.toBeChecked();
    await expect(
      lab.settings.getByText('Set by your administrator', { exact: true })
    ).toHaveCount(2);
    await expect(
      lab.settings.getByRole('spinbutton', { name: /Wait before answering/ })
    ).toHaveValue('5000');
    await expect(
      lab.settings.getByRole('switch', { name: 'Reading', exact: true })
    ).toBeEnabled();
    await lab.picture('settings-fixed');
    const refused = await request.patch(`${api.url}/hdsp-agent/api/settings`, {
      data: { autoApprovalEnabled: true }
    });
    expect(refused.status()).toBe(403);
    expect(await api.setting('autoApprovalEnabled')).toBe(false);

    await lab.openSettings('models');
    await expect(
      lab.settings
        .getByRole('combobox', { name: 'Provider' })
        .getByRole('option')
    ).toHaveText(['Not set', /Ollama/]);
  }
);

async function importFile(
  lab: Lab,
  name: string,
  content: string
): Promise<void> {
  const chooser = lab.page.waitForEvent('filechooser');
  await lab.settings
    .getByRole('button', { name: 'Import from a file…' })
    .click();
  await (
    await chooser
  ).setFiles({
    name: path.basename(name),
    mimeType: 'application/json',
    buffer: Buffer.from(content)
  });
}

import { expect, test } from '../lab';
import { LONG_ONLY } from '../longtests';

test('the panel opens before anything is set up, and leads to the settings', async ({
  lab
}) => {
  await lab.visit();

  await lab.page
    .getByRole('tablist', { name: 'main sidebar' })
    .getByRole('tab', { name: 'HDSP Agent' })
    .click();

  await lab.expectConnected();
  await expect(lab.setup).toContainText('No model is set up yet');
  await lab.picture('panel-empty');
  await lab.setup
    .getByRole('button', { name: 'All model and key settings' })
    .click();
  await expect(
    lab.settings.getByRole('heading', { name: 'Models and keys' })
  ).toBeVisible();
  await lab.picture('settings-models');
});

test('the panel opens from the palette, the launcher, the menu and by keys', async ({
  lab
}) => {
  const { keyboard, menu, sidebar } = lab.page;
  await lab.visit();

  await test.step('the launcher', async () => {
    await lab.page
      .getByRole('tabpanel', { name: 'Launcher' })
      .getByRole('button', { name: 'Agent' })
      .click();
    await expect(lab.panel).toBeVisible();
  });

  await test.step('the menu', async () => {
    await sidebar.close('left');
    await expect(lab.panel).toBeHidden();
    await menu.clickMenuItem('View>Open HDSP Agent');
    await expect(lab.panel).toBeVisible();
  });

  await test.step('the palette', async () => {
    await sidebar.close('left');
    await keyboard.press('Control+Shift+c');
    await lab.page
      .getByRole('region', { name: 'Command Palette Section' })
      .getByRole('textbox')
      .fill('Agent: Open Panel');
    await keyboard.press('Enter');
    await expect(lab.panel).toBeVisible();
  });

  await test.step('the shortcut, and Escape leads back to the document', async () => {
    await sidebar.close('left');
    await keyboard.press('Control+Alt+y');
    const first = lab.setup.getByRole('button', {
      name: 'Use the embedded model'
    });
    await expect(first).toBeFocused();
    await keyboard.press('Escape');
    await expect(first).not.toBeFocused();
    await expect(
      lab.page.getByRole('main').locator(':focus-within').first()
    ).toBeVisible();
  });
});

test('panel and settings are where they were after a reload', async ({
  lab
}) => {
  await lab.visit();
  await lab.openPanel();
  await lab.openSettings('context');
  const saved = lab.page.waitForResponse(
    response =>
      response.url().includes('/api/workspaces') &&
      response.request().method() === 'PUT' &&
      (response.request().postData() ?? '').includes('"section":"storage"')
  );
  await lab.settings
    .getByRole('button', { name: 'Storage', exact: true })
    .click();
  await saved;

  await lab.page.goto(`${lab.api.url}/lab`);

  await expect(lab.panel).toBeVisible();
  await lab.expectConnected();
  await expect(
    lab.settings.getByRole('heading', { name: 'Storage' })
  ).toBeVisible();
});

test(
  'the panel shows what the current profile uses',
  { tag: LONG_ONLY },
  async ({ lab, request }) => {
    await request.patch(`${lab.api.url}/hdsp-agent/api/profiles/default`, {
      data: { settings: { apiProvider: 'anthropic', apiModelId: 'some-model' } }
    });
    await lab.visit();
    await lab.openPanel();

    await expect(lab.setup).toContainText('The key for the model is missing');
    await lab.setup
      .getByRole('button', { name: 'All model and key settings' })
      .click();
    const key = lab.settings.getByRole('textbox', {
      name: 'Anthropic API key'
    });
    await key.fill('sk-ant-of-the-panel');
    await key.press('Enter');

    await expect(lab.greeting).toContainText('Model: some-model (Anthropic)');
    await expect(lab.setup).toBeHidden();
  }
);

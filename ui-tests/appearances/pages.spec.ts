import type { Walk } from './walk';
import { expect, inEveryLanguage } from './walk';

/**
 * How high a page of settings is shown at most.
 */
const HIGHEST = 2_400;

inEveryLanguage('past conversations', async walk => {
  const { lab, model, page } = walk;
  await lab.api.useProfile(model.profile);
  await walk.open();
  for (const text of [
    'Plot the prices of tea',
    'Clean the table of visitors, and say which rows were left out and why'
  ]) {
    await walk.say(text);
    await walk.finish();
    await walk.beginAnother();
  }
  await walk.take('recent');
  await lab.execute('hdsp-agent:show-history');
  const history = walk.part('history');
  await expect(walk.part('history-row')).toHaveCount(2);
  await walk.take('history');
  await history.locator('input[type="search"]').fill('visitors');
  await expect(history.locator('mark').first()).toBeVisible();
  await walk.take('history-search');
  await history.locator('input[type="search"]').fill('');
  await history
    .locator('.jp-hdspAgent-history-line button[aria-expanded]')
    .first()
    .click();
  await expect(walk.part('history-more')).toBeVisible();
  await history.locator('.jp-hdspAgent-history-row input').first().check();
  await walk.take('history-filters');
  await walk.part('history-head').locator('button').first().click();
  await expect(walk.part('plot').first()).toBeVisible();
  await walk.take('usage');
  await page.keyboard.press('Escape');
  await expect(history).toHaveCount(0);

  await page.sidebar.openTab('filebrowser');
  await lab.execute('apputils:activate-command-palette');
  const palette = page.locator('.lm-CommandPalette');
  await palette
    .locator('input')
    .fill(
      await page.evaluate(() =>
        window.galata.app.commands.label('hdsp-agent:new-conversation')
      )
    );
  await expect(
    palette.locator('.lm-CommandPalette-item').first()
  ).toBeVisible();
  await walk.take('palette', walk.window);
  await page.keyboard.press('Escape');
  await walk.take('launcher', walk.window);
});

inEveryLanguage('the settings', async walk => {
  const { lab, model, page } = walk;
  await lab.api.useProfile(model.profile);
  await walk.open();
  await lab.openSettings('models');
  await lab.execute('application:toggle-left-area');
  const index = page.locator('.jp-hdspSettings-index');
  await expect(index).toBeVisible();
  const { globalSettings } = await lab.api.get<{
    globalSettings: { 'x-groups': { id: string }[] };
  }>('settings/schema');
  const groups = globalSettings['x-groups'].map(({ id }) => id);
  for (const section of ['models', 'keys', ...groups, 'transfer']) {
    await lab.execute('hdsp-agent:open-settings', { section });
    await takeWhole(walk, `settings-${section}`);
  }
  await page.locator('.jp-hdspSettings-search input').fill('e');
  await takeWhole(walk, 'settings-search');
});

/**
 * Take a picture of a page of the settings with all that is on it.
 */
async function takeWhole(walk: Walk, name: string): Promise<void> {
  const { page } = walk;
  const settings = page.locator('.jp-hdspSettings');
  await page.setViewportSize({ width: 900, height: 720 });
  await expect(settings.locator('[aria-busy="true"]')).toHaveCount(0);
  const hidden = await page
    .locator('.jp-hdspSettings-content')
    .evaluate(node => node.scrollHeight - node.clientHeight);
  await page.setViewportSize({
    width: 900,
    height: Math.min(HIGHEST, 720 + hidden)
  });
  await walk.take(name, settings);
}

import AxeBuilder from '@axe-core/playwright';
import type { Locator, Page } from '@playwright/test';

import { said } from '../agentapi';
import type { Lab } from '../lab';
import { expect, test, THEMES } from '../lab';

test('axe finds nothing serious, in any theme', async ({ lab }) => {
  test.slow();
  const line = await lab.holdTheLine();
  await lab.visit();
  await lab.openPanel();
  await expectAccessible(lab, 'empty panel');

  await lab.openSettings('models');
  await lab.settings
    .getByRole('combobox', { name: 'Provider' })
    .selectOption('Anthropic');
  await expect(
    lab.settings.getByRole('textbox', { name: 'Anthropic API key' })
  ).toBeVisible();
  await expectAccessible(lab, 'profiles');
  for (const section of ['keys', 'transfer']) {
    await lab.openSettings(section);
    await expectAccessible(lab, section);
  }

  // What is found stands unfolded, whatever group it belongs to.
  await lab.settings.getByRole('searchbox').fill('e');
  await expect(
    lab.settings.getByRole('spinbutton', { name: 'Largest image (MB)' })
  ).toBeVisible();
  const limit = lab.settings.getByRole('spinbutton', {
    name: 'Time limit of a shell command (s)'
  });
  await limit.fill('-1');
  await expect(limit).toHaveAttribute('aria-invalid', 'true');
  await expectAccessible(lab, 'every group, and an error', 'everything');

  await lab.api.publish(said(Date.now(), 'A message.'), {
    type: 'notice',
    notice: {
      id: 'of-the-tests',
      level: 'error',
      code: 'of_the_tests',
      message: 'A notice.',
      params: {}
    }
  });
  await expect(lab.panel).toContainText('A notice.');
  await lab.openSettings('approvals');
  await line.cut();
  await expect(lab.banner).toBeVisible();
  await expectAccessible(lab, 'message, notice and banner', 'banner');
});

test('everything works without a mouse', async ({ lab }) => {
  const { keyboard } = lab.page;
  await lab.visit();

  await keyboard.press('Control+Alt+y');
  await expect(
    lab.panel.getByRole('button', { name: 'Set up a model' })
  ).toBeFocused();
  await keyboard.press('Enter');
  await expect(
    lab.settings.getByRole('searchbox', { name: 'Search settings' })
  ).toBeFocused();

  await tabTo(lab, lab.settings.getByRole('button', { name: 'Approvals' }));
  await keyboard.press('Enter');
  await tabTo(
    lab,
    lab.settings.getByRole('switch', { name: 'Reading', exact: true })
  );
  await keyboard.press('Space');
  await expect.poll(() => lab.api.setting('alwaysAllowReadOnly')).toBe(true);

  await tabTo(
    lab,
    lab.settings.getByRole('button', { name: 'Models and keys' }),
    'Shift+Tab'
  );
  await keyboard.press('Enter');
  await tabTo(lab, lab.settings.getByRole('combobox', { name: 'Provider' }));
  await keyboard.type('Anthropic');
  const key = lab.settings.getByRole('textbox', { name: 'Anthropic API key' });
  await tabTo(lab, key);
  await keyboard.type('sk-ant-of-the-keyboard');
  await keyboard.press('Enter');
  await expect(key).toHaveValue('');
  await expect(key).toHaveAccessibleDescription(/…oard/);
  await expect(key).toBeFocused();

  await keyboard.press('Control+Alt+y');
  await expect(lab.panel).toBeFocused();
});

test('changes of the connection are read aloud', async ({ lab }) => {
  const line = await lab.holdTheLine();
  await lab.visit();
  await lab.openPanel();
  const status = lab.panel.getByRole('status');
  await expect(status).toHaveText('HDSP Agent: Connected');
  await status.evaluate(node => {
    const said: string[] = [];
    Object.assign(window, { said });
    new MutationObserver(() => said.push(node.textContent ?? '')).observe(
      node,
      { characterData: true, childList: true, subtree: true }
    );
  });

  await line.cut();
  await expect(lab.banner).toContainText('Trying again');
  line.mend();
  await lab.expectConnected();

  const said = await lab.page.evaluate(
    () => (window as unknown as { said: string[] }).said
  );
  expect(said).toEqual(['HDSP Agent: Reconnecting…', 'HDSP Agent: Connected']);
});

/**
 * What a theme can change for the worse.
 */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Let axe look at our own elements: at everything once, and at the colours in
 * every other theme too.
 */
async function expectAccessible(
  lab: Lab,
  state: string,
  picture?: string
): Promise<void> {
  for (const theme of Object.keys(THEMES) as (keyof typeof THEMES)[]) {
    await lab.wear(theme);
    let builder = new AxeBuilder({ page: lab.page as unknown as Page })
      .setLegacyMode()
      .include('.jp-hdspAgent-Panel');
    if (await lab.settings.isVisible()) {
      builder = builder.include('.jp-hdspSettings');
    }
    if (theme !== 'light') {
      builder = builder.withRules(COLOUR_RULES);
    }
    const { violations } = await builder.analyze();
    const serious = violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => ({
        id,
        nodes: nodes.map(node => `${node.html}: ${node.failureSummary}`)
      }));
    expect(serious, `${state}, ${theme}`).toEqual([]);
    if (picture) {
      await lab.snap(`${picture}-${theme}`);
    }
  }
  await lab.wear('light');
}

/**
 * Press Tab until an element has the focus.
 */
async function tabTo(
  lab: Lab,
  element: Locator,
  key: 'Tab' | 'Shift+Tab' = 'Tab'
): Promise<void> {
  await expect(element).toBeVisible();
  for (let pressed = 0; pressed < 60; pressed++) {
    if (await element.evaluate(node => node === document.activeElement)) {
      return;
    }
    await lab.page.keyboard.press(key);
  }
  await expect(element).toBeFocused();
}

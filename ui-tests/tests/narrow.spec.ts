import type { Locator } from '@playwright/test';

import { said } from '../agentapi';
import { expect, test } from '../lab';

const UNBROKEN = 'a_name_without_a_single_place_to_break_it_'.repeat(4);

test('nothing in the panel is cut off at 240 pixels', async ({ lab }) => {
  const line = await lab.holdTheLine();
  await lab.visit();
  await lab.openPanel();
  // Nobody can drag it below 250 in this JupyterLab; others have other limits.
  await lab.page.addStyleTag({
    content: `.jp-hdspAgent-Panel {
      width: 240px !important;
      min-width: 240px !important;
    }`
  });
  expect((await lab.panel.boundingBox())?.width).toBe(240);

  await expectNoOverflow(lab.panel);
  await lab.api.publish(
    {
      type: 'notice',
      notice: {
        id: 'long',
        level: 'warning',
        code: 'of_the_tests',
        message: UNBROKEN,
        params: {}
      }
    },
    said(Date.now(), UNBROKEN)
  );
  await expect(lab.chat).toContainText(UNBROKEN);
  await line.cut();
  await expect(lab.banner).toBeVisible();
  await expectNoOverflow(lab.panel);
  await lab.snap('panel-narrow');
});

test('nothing in the settings is cut off at 300 pixels', async ({ lab }) => {
  await lab.api.change({ deniedCommands: [UNBROKEN] });
  await lab.visit();
  await lab.openSettings('models');
  await lab.page.sidebar.close('left');
  const box = await lab.settings.boundingBox();
  const { width = 0, height = 0 } = lab.page.viewportSize() ?? {};
  await lab.page.setViewportSize({
    width: Math.round(width - (box?.width ?? 0) + 300),
    height
  });
  await expect
    .poll(async () => (await lab.settings.boundingBox())?.width)
    .toBeLessThanOrEqual(301);

  await expect(
    lab.settings.getByRole('navigation').getByRole('list')
  ).toBeHidden();
  const sections = lab.settings.getByRole('combobox', {
    name: 'Section of the settings'
  });
  await lab.snap('settings-narrow');
  for (const section of await sections.getByRole('option').allTextContents()) {
    await sections.selectOption({ label: section });
    await expect(
      lab.settings.getByRole('heading', { name: section, exact: true })
    ).toBeVisible();
    await expectNoOverflow(lab.settings);
  }
});

/**
 * Nothing reaches beyond the element, and nothing in it scrolls sideways.
 */
async function expectNoOverflow(element: Locator): Promise<void> {
  const faults = await element.evaluate(root => {
    const { right } = root.getBoundingClientRect();
    const shown = [root, ...root.querySelectorAll<HTMLElement>('*')].filter(
      node => node.checkVisibility() && node.clientWidth > 1
    );
    return shown
      .filter(
        node =>
          node.getBoundingClientRect().right > right + 1 ||
          (node.scrollWidth > node.clientWidth + 1 &&
            !['INPUT', 'SELECT', 'TEXTAREA'].includes(node.tagName))
      )
      .map(node => node.outerHTML.slice(0, 200));
  });
  expect(faults).toEqual([]);
}

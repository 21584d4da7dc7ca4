import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test as base } from '@playwright/test';

import { HubService } from '../hubservice';
import { IS_LONG, LONG_ONLY } from '../longtests';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

interface IFixtures {
  /**
   * Where the hub service is. It has a month of use and a request under way,
   * and the hub in front of it lets the browser in as an administrator.
   */
  service: string;
}

const test = base.extend<IFixtures>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads from the pattern what a fixture needs.
  service: async ({}, use) => {
    const service = await HubService.start();
    await use(service.url);
    await service.dispose();
  }
});

/**
 * Let axe look at a page in each colour scheme, once wide and once narrow, and
 * keep a picture where there is time.
 */
async function look(page: Page, name: string): Promise<void> {
  for (const [colorScheme, width] of [
    ['dark', 360],
    ['light', 1280]
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 800 });
    if (IS_LONG || process.env.CI) {
      await page.screenshot({
        path: test.info().outputPath(`${name}-${colorScheme}-${width}.png`),
        fullPage: true
      });
    }
    const { passes, violations } = await new AxeBuilder({ page })
      .withTags(WCAG)
      .analyze();
    expect(
      violations.map(({ id, nodes }) => [id, nodes.map(node => node.html)]),
      `what axe finds in ${name}, ${colorScheme}, ${width}`
    ).toEqual([]);
    expect(passes.map(({ id }) => id)).toContain('color-contrast');
    expect(
      await page.evaluate(
        () => document.documentElement.scrollWidth <= window.innerWidth
      ),
      `${name} fits into ${width}`
    ).toBe(true);
  }
}

test('an administrator sees use, a person, policies, status and the audit log', async ({
  page,
  service
}) => {
  const failed: string[] = [];
  page.on('console', message => {
    if (message.type() === 'error') {
      failed.push(message.text());
    }
  });
  await page.goto(service);
  await expect(page.getByRole('heading', { name: 'Usage' })).toBeVisible();
  await expect(page.getByRole('img', { name: /^Cost/ })).toBeVisible();
  // A name that looks like markup is a name.
  await expect(
    page.getByRole('link', { name: '<b title="x">hana</b>' })
  ).toBeVisible();
  await look(page, 'usage');

  await page.getByText('Table by day', { exact: true }).click();
  await expect(
    page.getByRole('region', { name: 'Table by day' }).getByRole('row')
  ).toHaveCount(32);
  await look(page, 'days');

  await page.getByRole('searchbox', { name: 'Person' }).fill('ad');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page.getByRole('link', { name: 'bob' })).toHaveCount(0);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download as CSV, by day' }).click();
  expect((await download).suggestedFilename()).toBe('hdsp-agent-usage.csv');

  await page.getByRole('link', { name: 'ada' }).first().click();
  await expect(page.getByRole('heading', { name: 'ada' })).toBeVisible();
  await look(page, 'person');

  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByRole('link', { name: 'Policies' }).click();
  await expect(page.getByRole('region', { name: 'teachers' })).toContainText(
    'autoApprovalEnabled'
  );
  await look(page, 'policies');

  await pages.getByRole('link', { name: 'Running now' }).click();
  const row = page.getByRole('row', { name: /5f1c-plot/ });
  await expect(row).toContainText('Running');
  await expect(page.getByRole('row', { name: /77aa-load/ })).toContainText(
    'Waiting for the person'
  );
  await look(page, 'running');
  await page
    .getByRole('button', { name: 'Stop task 5f1c-plot of ada' })
    .click();
  await expect(page.getByRole('status')).toContainText('The task was stopped.');
  // Its server tells a moment later how it stands.
  await expect(async () => {
    await page.getByRole('link', { name: 'Reload' }).click();
    await expect(row).toContainText('Paused', { timeout: 1_000 });
  }).toPass();
  await expect(row.getByRole('button')).toHaveCount(0);
  await page
    .getByRole('button', { name: 'Stop the request of ada to qwen3' })
    .click();
  await expect(page.getByRole('status')).toContainText('is being stopped');
  // It ends a moment later, and the page does not follow that by itself.
  await expect(async () => {
    await page.getByRole('link', { name: 'Reload' }).click();
    await expect(
      page.getByRole('region', { name: 'Requests under way' })
    ).toContainText('None.', { timeout: 1_000 });
  }).toPass();

  await pages.getByRole('link', { name: 'Storage' }).click();
  await expect(page.getByRole('row')).toHaveCount(4);
  await expect(page.getByRole('row').nth(1)).toContainText('tess');
  await look(page, 'storage');
  await page.getByLabel('Sort by').selectOption('user');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page.getByRole('row').nth(1)).toContainText('ada');
  const sizes = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download as CSV' }).click();
  expect((await sizes).suggestedFilename()).toBe('hdsp-agent-storage.csv');

  await pages.getByRole('link', { name: 'Status' }).click();
  await expect(
    page.getByRole('heading', { level: 1, name: 'Status' })
  ).toBeVisible();
  await look(page, 'status');

  await pages.getByRole('link', { name: 'Audit log' }).click();
  for (const what of ['request of ada', 'task 5f1c-plot of ada']) {
    await expect(
      page.getByRole('row', {
        name: new RegExp(`root Changed hub stop ${what}`)
      })
    ).toBeVisible();
  }
  await look(page, 'audit');
  expect(failed).toEqual([]);
});

test('a shared conversation is read, and links are taken back and ended', async ({
  page,
  service
}) => {
  await page.goto(`${service}shared`);
  await expect(
    page.getByRole('heading', { level: 1, name: 'Your shared links' })
  ).toBeVisible();
  await expect(page.getByText('A secret plan')).toHaveCount(0);
  await look(page, 'own-links');

  await page.getByRole('link', { name: 'Sales by month' }).click();
  await expect(
    page.getByRole('heading', { level: 1, name: 'Sales by month' })
  ).toBeVisible();
  await expect(page.getByRole('cell', { name: '530' })).toBeVisible();
  const image = page.getByRole('img', { name: 'Image 1' });
  await expect(image).toBeVisible();
  expect(
    await image.evaluate(
      node => node instanceof HTMLImageElement && node.naturalWidth
    )
  ).toBeGreaterThan(0);
  await page.getByText('The whole output').click();
  await look(page, 'shared');
  const address = page.url();

  await page.goto(`${service}links`);
  await expect(page.getByText('A secret plan')).toHaveCount(0);
  await look(page, 'links');
  await page.getByRole('button', { name: /^End link \d+ of ada$/ }).click();
  await expect(page.getByRole('status')).toContainText('Nobody can open');
  await expect(page.getByRole('row')).toHaveCount(2);

  await page.goto(`${service}shared`);
  await page
    .getByRole('button', { name: 'Take back the link to Sales by month' })
    .click();
  await expect(page.getByText('You share no conversation.')).toBeVisible();
  const answer = await page.goto(address);
  expect(answer?.status()).toBe(404);
  await expect(page.locator('main')).toContainText('There is no such link');
  await look(page, 'no-link');
});

for (const [locale, title, tag] of [
  ['ko-KR', '사용량', [] as string[]],
  ['ja-JP', '使用量', LONG_ONLY]
] as const) {
  test.describe(locale, { tag }, () => {
    test.use({ locale });

    test('everything works without a mouse, in the language of the browser', async ({
      page,
      service
    }) => {
      await page.goto(service);
      await expect(
        page.getByRole('heading', { level: 1, name: title })
      ).toBeVisible();
      await look(page, 'usage');
      await page.keyboard.press('Tab');
      await expect(page.locator('.skip')).toBeFocused();
      await page.keyboard.press('Enter');
      await expect(page.locator('main')).toBeFocused();
      const summary = page.locator('summary');
      while (!(await summary.evaluate(node => node.matches(':focus')))) {
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
      await expect(page.locator('details table')).toBeVisible();
      await page.keyboard.press('Tab');
      await expect(page.locator('details .scroll')).toBeFocused();
      for (const one of [
        'running',
        'storage',
        'policies',
        'status',
        'links',
        'shared',
        'audit'
      ]) {
        await page.goto(`${service}${one}`);
        await look(page, one);
      }
    });
  });
}

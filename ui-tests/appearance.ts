import * as path from 'path';

import AxeBuilder from '@axe-core/playwright';
import type { Locator, Page } from '@playwright/test';
import { expect, test } from '@playwright/test';
import { readFileSync } from 'fs';

import { IS_LONG } from './longtests';

/**
 * JupyterLab's themes: what each is called, and where the server of the tests
 * has it.
 */
export const THEMES = {
  light: { name: 'JupyterLab Light', package: 'theme-light-extension' },
  dark: { name: 'JupyterLab Dark', package: 'theme-dark-extension' },
  contrast: {
    name: 'JupyterLab Dark High Contrast',
    package: 'theme-dark-high-contrast-extension'
  }
} as const;

export type Theme = keyof typeof THEMES;

const FOLDER = path.resolve(
  __dirname,
  '../.venv/share/jupyter/lab/themes/@jupyterlab'
);

/**
 * What the Web Content Accessibility Guidelines ask for, level AA.
 */
const WCAG = [
  'wcag2a',
  'wcag2aa',
  'wcag21a',
  'wcag21aa',
  'wcag22a',
  'wcag22aa'
];

/**
 * What axe's own builder brings into a page in its long form, and twice.
 */
const AXE = readFileSync(
  require.resolve('axe-core/axe.min.js', {
    paths: [require.resolve('@axe-core/playwright')]
  }),
  'utf8'
);

/**
 * What a theme can change for the worse.
 */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * All that is ours on a page.
 */
const OURS = [
  '.jp-hdspAgent-Panel',
  '.jp-hdspAgent-Context',
  '.jp-hdspAgent-TimeLine',
  '.jp-hdspAgent-Variables',
  '.jp-hdspAgent-Verify',
  '.jp-hdspSettings',
  '.jp-hdspAgent-CellRow',
  '.cm-deletedChunk',
  '.jp-Dialog-content'
];

/**
 * Look at a page as it is, in every theme: let axe look at what is ours, at
 * everything once and at the colours in the other themes too, and keep a picture
 * for people where there is time.
 *
 * @param part - What a picture shows, if not all of the page.
 *
 * @param isChecked - Whether axe looks, too.
 */
export async function look(
  page: Page,
  name: string,
  themes: readonly Theme[],
  part?: Locator,
  isChecked = true
): Promise<void> {
  const ours = isChecked ? await oursOn(page) : [];
  try {
    for (const theme of themes) {
      await dress(page, theme);
      if (keepsPictures()) {
        // A window that lies over a part is on its picture, too.
        const clip = (await part?.boundingBox()) ?? undefined;
        await page.screenshot({
          path: pictureOf(name, theme),
          animations: 'disabled',
          clip
        });
      }
      await expectAccessible(page, ours, theme, name);
    }
  } finally {
    await undress(page);
  }
}

/**
 * What of ours is in sight.
 */
export async function oursOn(page: Page): Promise<string[]> {
  return page.evaluate(
    selectors =>
      selectors.filter(selector =>
        [...document.querySelectorAll(selector)].some(node =>
          node.checkVisibility()
        )
      ),
    OURS
  );
}

/**
 * Whether pictures are kept: no story of `make test` looks at one.
 */
function keepsPictures(): boolean {
  const isStory = path.basename(test.info().project.testDir) === 'tests';
  return IS_LONG || Boolean(process.env.CI) || !isStory;
}

/**
 * Where a picture goes: a folder for each file of stories.
 */
function pictureOf(name: string, theme: Theme): string {
  const { file, project } = test.info();
  const [story] = path.basename(file).split('.');
  return path.join(
    project.outputDir,
    'screenshots',
    story,
    `${name}-${theme}.png`
  );
}

async function expectAccessible(
  page: Page,
  ours: readonly string[],
  theme: Theme,
  state: string
): Promise<void> {
  if (!ours.length) {
    return;
  }
  // It is large, and stays until the page is left.
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(AXE);
  }
  let builder = new AxeBuilder({ page, axeSource: 'void 0' })
    .setLegacyMode()
    .options({
      // One node of what passes is enough, and without the text of every style
      // sheet of Lab it takes less time. Nothing of ours turns with the screen.
      resultTypes: ['violations', 'incomplete'],
      preload: false,
      // WCAG asks for it, level A; axe still calls it an experiment.
      rules: { 'label-content-name-mismatch': { enabled: true } }
    });
  for (const selector of ours) {
    builder = builder.include(selector);
  }
  builder =
    theme === 'light'
      ? builder.withTags(WCAG)
      : builder.withRules(COLOUR_RULES);
  // Lab's body hides what overflows it and has no height, so that axe would take
  // all that is in it for invisible, and pass it over.
  const style = await page.addStyleTag({
    content: 'body { overflow: visible !important; }'
  });
  const { passes, incomplete, violations } = await builder
    .analyze()
    .finally(() => style.evaluate(node => (node as Element).remove()));
  const failed = incomplete.filter(({ nodes }) =>
    nodes.some(({ none }) => none.some(({ id }) => id === 'error-occurred'))
  );
  const found = [...violations, ...failed].map(({ id, nodes }) => ({
    id,
    nodes: nodes.map(node => `${node.html}: ${node.failureSummary}`)
  }));
  expect(found, `what axe finds in ${state}, ${theme}`).toEqual([]);
  // Of what it takes for invisible axe says nothing at all.
  expect(
    passes.map(({ id }) => id),
    `what axe looked at in ${state}, ${theme}`
  ).toContain('color-contrast');
}

const DRESS = 'hdsp-ui-dress';

/**
 * Lay a theme over that of the page. It is there at once, needs no server, and
 * takes nothing from the page that a story still wants: putting on a theme hides
 * all of Lab for a moment.
 */
async function dress(page: Page, theme: Theme): Promise<void> {
  const { name, package: folder } = THEMES[theme];
  const css = readFileSync(path.join(FOLDER, folder, 'index.css'), 'utf8');
  await page.evaluate(
    ([id, name, css, isLight]) => {
      const style =
        document.getElementById(id) ?? document.createElement('style');
      style.id = id;
      // No colour is looked at on its way to another.
      style.textContent = `${css}\n* { transition: none !important; }`;
      document.body.append(style);
      document.body.dataset.worn ??= document.body.dataset.jpThemeName;
      document.body.dataset.jpThemeName = name;
      document.body.dataset.jpThemeLight = isLight;
    },
    [DRESS, name, css, String(theme === 'light')] as const
  );
}

async function undress(page: Page): Promise<void> {
  await page.evaluate(
    ([id, light]) => {
      document.getElementById(id)?.remove();
      const { worn } = document.body.dataset;
      delete document.body.dataset.worn;
      document.body.dataset.jpThemeName = worn;
      document.body.dataset.jpThemeLight = String(worn === light);
    },
    [DRESS, THEMES.light.name] as const
  );
}

import { galata } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';
import { readFileSync } from 'fs';
import * as path from 'path';

import type { AgentApi } from '../agentapi';
import { said } from '../agentapi';
import type { Lab } from '../lab';
import { expect, test } from '../lab';
import { LONG_ONLY } from '../longtests';

const CATALOGUES = path.resolve(__dirname, '../../hdsp_agent/locale');

const LOCALES = {
  ko_KR: {
    name: 'Korean',
    script: /\p{Script=Hangul}/u,
    connected: '연결됨',
    tag: [] as string[]
  },
  ja_JP: {
    name: 'Japanese',
    script: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
    connected: '接続済み',
    // What is not translated in one language is not in the other.
    tag: LONG_ONLY
  }
} as const;

for (const [locale, { name, script, connected, tag }] of Object.entries(
  LOCALES
)) {
  test.describe(`in ${name}`, { tag }, () => {
    test.use({
      mockSettings: {
        ...galata.DEFAULT_SETTINGS,
        '@jupyterlab/translation-extension:plugin': { locale }
      }
    });

    test('nothing of ours is left in English', async ({ lab }) => {
      const catalogue = read(locale);
      const english = untranslated(catalogue);
      const names = await namesOf(lab.api);
      const check = (texts: readonly string[], where: string) => {
        expect(
          texts.filter(text => english(text)),
          `texts of the catalogue that are not translated, ${where}`
        ).toEqual([]);
        expect(
          texts.filter(
            text =>
              /\p{Script=Latin}{3}/u.test(text) &&
              !script.test(text) &&
              !catalogue.get(text)?.includes(text) &&
              !names(text)
          ),
          `texts that no catalogue knows, ${where}`
        ).toEqual([]);
      };
      const line = await lab.holdTheLine();
      await lab.visit();
      await lab.showPanel();
      await expect(lab.panel.getByRole('status').first()).toContainText(
        connected
      );
      for (const id of [
        'open',
        'leave',
        'reconnect',
        'show-connection',
        'open-settings'
      ]) {
        check(
          await lab.page.evaluate(id => {
            const { commands } = window.galata.app;
            return [commands.label(id), commands.caption(id)];
          }, `hdsp-agent:${id}`),
          `command ${id}`
        );
      }
      check(await menuLabels(lab), 'menu');
      check(await textsOf(lab.panel), 'panel');
      await lab.picture(`panel-${locale}`);
      await lab.panel.locator('.jp-hdspAgent-composer-field').fill('/');
      const commands = lab.panel.getByRole('listbox');
      await expect(commands).toContainText('clean-up');
      // A name is typed as it is.
      check(
        (await textsOf(commands)).filter(text => !/^\/?[a-z-]+$/.test(text)),
        'slash commands'
      );
      await lab.panel.locator('.jp-hdspAgent-composer-field').fill('');

      const settings = lab.page.locator('.jp-hdspSettings');
      await lab.openSettings('models');
      await lab.picture(`settings-${locale}`);
      const provider = settings.locator('[data-key="apiProvider"] select');
      for (const option of await provider
        .locator('option:not([value=""])')
        .evaluateAll(options =>
          options.map(one => (one as HTMLOptionElement).value)
        )) {
        await provider.selectOption(option);
        await expect(
          settings.locator('[data-key="apiProvider"][data-status="saved"]')
        ).toBeVisible();
        check(await textsOf(settings), `provider ${option}`);
      }
      for (const section of await sectionsOf(lab.api)) {
        await lab.openSettings(section);
        check(await textsOf(settings), `section ${section}`);
      }

      await lab.api.publish(said(Date.now(), '…'));
      await expect(lab.panel.getByRole('article')).toHaveCount(1);
      check(await textsOf(lab.panel), 'a message');
      await line.cut();
      await expect(lab.panel.locator('[data-reason]')).toBeVisible();
      check(await textsOf(lab.panel), 'banner');
    });
  });
}

/**
 * What our menu and the menus in it are called.
 */
async function menuLabels(lab: Lab): Promise<string[]> {
  return lab.page.evaluate(() => {
    interface IMenu {
      id: string;
      title: { label: string };
      items: readonly { submenu: IMenu | null }[];
    }
    const labels = ({ title, items }: IMenu): string[] => [
      title.label,
      ...items.flatMap(({ submenu }) => (submenu ? labels(submenu) : []))
    ];
    return [...window.galata.app.shell.widgets('menu')]
      .flatMap(bar => (bar as unknown as { menus?: IMenu[] }).menus ?? [])
      .filter(({ id }) => id === 'jp-mainmenu-hdsp-agent')
      .flatMap(labels);
  });
}

type Catalogue = ReadonlyMap<string, readonly string[]>;

/**
 * What JupyterLab loads: translations by the text in the source.
 */
function read(locale: string): Catalogue {
  const file = path.join(CATALOGUES, locale, 'LC_MESSAGES/hdsp_agent.json');
  const { '': _, ...entries } = JSON.parse(
    readFileSync(file, 'utf8')
  ) as Record<string, string[]>;
  return new Map(
    Object.entries(entries).map(([id, forms]) => [
      // A context may stand before the text.
      id.slice(id.indexOf('\u0004') + 1),
      forms
    ])
  );
}

/**
 * Whether a text is one that the catalogue has another text for.
 */
function untranslated(catalogue: Catalogue): (text: string) => boolean {
  const patterns = [...catalogue]
    .filter(([text, forms]) => !forms.includes(text))
    .map(([text]) => new RegExp(`^${asPattern(text)}$`));
  return text => patterns.some(pattern => pattern.test(text));
}

/**
 * A text of the catalogue as it looks once its blanks are filled in.
 */
function asPattern(text: string): string {
  return text
    .split(/%\d/)
    .map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.+');
}

/**
 * Whether a text is made of names, which are the same in every language.
 */
async function namesOf(api: AgentApi): Promise<(text: string) => boolean> {
  const { providers } = await api.get<{
    providers: { id: string; name: string }[];
  }>('settings/schema');
  const { models } = await api.get<{ models: { name: string }[] }>(
    'local-models'
  );
  const names = new Set([
    ...providers.flatMap(provider => [provider.id, provider.name]),
    ...models.map(({ name }) => name)
  ]);
  return text => names.has(text) || OTHER_NAMES.some(one => one.test(text));
}

// The last is what a language calls itself.
const OTHER_NAMES = [/^HDSP Agent$/, /^default$/, /^English$/];

async function sectionsOf(api: AgentApi): Promise<string[]> {
  const { globalSettings } = await api.get<{
    globalSettings: {
      'x-groups': { id: string }[];
      properties: Record<string, { 'x-group'?: string; 'x-hidden'?: boolean }>;
    };
  }>('settings/schema');
  // A group whose settings are all hidden has no page.
  const shown = Object.values(globalSettings.properties)
    .filter(setting => !setting['x-hidden'])
    .map(setting => setting['x-group']);
  return [
    'keys',
    ...globalSettings['x-groups']
      .map(group => group.id)
      .filter(id => shown.includes(id)),
    'transfer'
  ];
}

/**
 * All that can be read in an element or is read aloud about it; what is folded
 * away counts too.
 */
async function textsOf(element: Locator): Promise<string[]> {
  return element.evaluate(root => {
    const texts: string[] = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { nodeValue, parentElement } = walker.currentNode;
      // What a person typed is in no language of ours.
      if (parentElement?.tagName !== 'TEXTAREA') {
        texts.push(nodeValue ?? '');
      }
    }
    for (const node of root.querySelectorAll('*')) {
      for (const name of ['aria-label', 'placeholder', 'title', 'alt']) {
        texts.push(node.getAttribute(name) ?? '');
      }
    }
    return [...new Set(texts.map(text => text.trim()))].filter(Boolean);
  });
}

import { galata } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';

import type { Theme } from '../appearance';

import type { Lab } from '../lab';
import { expect } from '../lab';
import type { PlayedModel } from '../model';
import { test as labTest } from '../notebooks';

export { expect } from '../lab';

const THEMES: readonly Theme[] = ['light', 'dark', 'contrast'];

/**
 * How wide the panel is in the pictures.
 */
const WIDTH = 380;

const LANGUAGES = { en: 'default', ko: 'ko_KR', ja: 'ja_JP' } as const;

type Language = keyof typeof LANGUAGES;

/**
 * Goes through the panel and takes pictures, and never by what is written
 * there: it is in another language each time.
 */
export class Walk {
  constructor(
    readonly lab: Lab,
    readonly model: PlayedModel,
    private readonly _language: Language
  ) {}

  get page(): Lab['page'] {
    return this.lab.page;
  }

  get panel(): Locator {
    return this.page.locator('.jp-hdspAgent-Panel');
  }

  /**
   * All of JupyterLab; its body has no height.
   */
  get window(): Locator {
    return this.page.locator('#main');
  }

  /**
   * What has one of our classes, anywhere on the page.
   */
  part(name: string): Locator {
    return this.page.locator(`.jp-hdspAgent-${name}`);
  }

  /**
   * Where one types.
   */
  get field(): Locator {
    return this.panel.locator('.jp-hdspAgent-composer-field');
  }

  /**
   * The small window that is open.
   */
  get popover(): Locator {
    return this.part('ask-popover');
  }

  /**
   * A dialog of JupyterLab.
   */
  get dialog(): Locator {
    return this.page.locator('.jp-Dialog-content');
  }

  /**
   * Load the page and show the panel.
   */
  async open(url?: string): Promise<void> {
    await this.lab.visit(url);
    await this.show();
  }

  /**
   * Show the panel, as wide as it is in all pictures.
   */
  async show(): Promise<void> {
    await this.lab.showPanel();
    await this.lab.page.sidebar.setWidth(WIDTH, 'left');
    await expect(this.part('strip')).toBeVisible();
  }

  /**
   * Type and send.
   */
  async say(text: string): Promise<void> {
    await this.field.fill(text);
    await this.field.press('Enter');
    await expect(this.field).toHaveValue('');
  }

  /**
   * Wait for a question of a kind.
   */
  async expectAsked(kind: string): Promise<void> {
    await expect(
      this.panel.locator(`.jp-hdspAgent-ask[data-ask="${kind}"]`)
    ).toBeVisible();
    await expect(
      this.panel.locator('.jp-hdspAgent-ask [aria-disabled="true"]')
    ).toHaveCount(0);
  }

  /**
   * Have the model call a tool that one is asked about.
   */
  async ask(kind: string, tool: string, args: object): Promise<void> {
    await this.model.order(tool, args);
    await this.expectAsked(kind);
  }

  /**
   * Answer what is asked.
   */
  async answer(command: 'approve' | 'deny'): Promise<void> {
    await this.lab.execute(`hdsp-agent:${command}`);
    await this.model.asked();
  }

  /**
   * Have the model be done.
   */
  async finish(result?: string): Promise<void> {
    await this.model.finish(result);
    await this.expectAsked('completion_result');
  }

  /**
   * Begin another conversation.
   */
  async beginAnother(): Promise<void> {
    await this.lab.execute('hdsp-agent:new-conversation');
    await expect(this.part('greeting')).toBeVisible();
  }

  /**
   * Open a small window by its button, and wait for something in it.
   */
  async openPopover(button: Locator, content: string): Promise<void> {
    await button.click();
    await expect(this.popover.locator(content).first()).toBeVisible();
  }

  async closePopover(): Promise<void> {
    await this.page.keyboard.press('Escape');
    await expect(this.popover).toHaveCount(0);
  }

  /**
   * Take a picture of the panel, or of something else, in every theme.
   *
   * @param isPointedAt - Whether what the pointer is at is to be seen.
   */
  async take(
    name: string,
    of: Locator = this.panel,
    isPointedAt = false
  ): Promise<void> {
    if (!isPointedAt) {
      await this.page.mouse.move(0, 0);
    }
    await this.lab.picture(
      `${name}-${this._language}`,
      THEMES,
      of,
      // In another language it is the same page with the same colours.
      this._language === 'en'
    );
  }
}

/**
 * A part of the walk, in every language.
 */
export function inEveryLanguage(
  title: string,
  body: (walk: Walk, tools: ITools) => Promise<void>
): void {
  for (const [language, locale] of Object.entries(LANGUAGES) as [
    Language,
    string
  ][]) {
    labTest.describe(language, () => {
      labTest.use({
        mockSettings: {
          ...galata.DEFAULT_SETTINGS,
          '@jupyterlab/translation-extension:plugin': { locale }
        }
      });
      labTest(
        title,
        async ({ lab, model, notebooks, request, startServer }) => {
          await body(new Walk(lab, model, language), {
            notebooks,
            request,
            startServer
          });
          model.forget();
          await lab.api.forgetTasks();
        }
      );
    });
  }
}

type Fixtures = Parameters<Parameters<typeof labTest>[2]>[0];

/**
 * What else a part of the walk needs.
 */
type ITools = Pick<Fixtures, 'notebooks' | 'request' | 'startServer'>;

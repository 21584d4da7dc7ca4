import type { Locator, Page } from '@playwright/test';

import type { Lab } from './lab';
import { expect, isLabs } from './lab';
import type { PlayedModel } from './model';
import { test as notebooksTest } from './notebooks';

export { expect } from './lab';

const DONE = 'The agent is done.';

/**
 * The conversation in the panel, as a person sees it.
 */
export class Chat {
  constructor(readonly lab: Lab) {}

  /**
   * Where one types.
   */
  get field(): Locator {
    return this.lab.panel.getByRole('textbox', {
      name: 'Message to the agent'
    });
  }

  /**
   * The field with its buttons, what waits, and what is said about them.
   */
  get composer(): Locator {
    return this.lab.panel.getByRole('region', { name: 'Write to the agent' });
  }

  /**
   * The messages.
   */
  get feed(): Locator {
    return this.lab.panel.getByRole('feed', { name: 'Conversation' });
  }

  /**
   * What the agent waits for.
   */
  get ask(): Locator {
    return this.lab.panel.getByRole('group', {
      name: 'The agent is waiting for you'
    });
  }

  /**
   * The messages that wait until the agent has time.
   */
  get queue(): Locator {
    return this.lab.panel.getByRole('group', {
      name: 'queued'
    });
  }

  /**
   * The open conversations.
   */
  get tabs(): Locator {
    return this.lab.panel
      .getByRole('tablist', { name: 'Open conversations' })
      .getByRole('tab');
  }

  /**
   * The page with past conversations.
   */
  get history(): Locator {
    return this.lab.panel.getByRole('region', { name: 'Past conversations' });
  }

  /**
   * What offers to undo the last change of the conversation.
   */
  get undoBar(): Locator {
    return this.lab.panel.getByRole('group', {
      name: 'The last change to the conversation'
    });
  }

  /**
   * A dialog of JupyterLab.
   */
  get dialog(): Locator {
    return this.lab.page.getByRole('dialog').filter({ visible: true });
  }

  /**
   * Messages by who or what speaks in them, with a text.
   */
  messages(speaker: string, text: string | RegExp = ''): Locator {
    return this.feed
      .getByRole('article', { name: speaker, exact: true })
      .filter({ hasText: text });
  }

  /**
   * A button anywhere in the panel.
   */
  button(name: string | RegExp): Locator {
    return this.lab.panel.getByRole('button', {
      name,
      ...(typeof name === 'string' ? { exact: true } : {})
    });
  }

  /**
   * A button for a message of the person.
   */
  action(message: Locator, name: string): Locator {
    return message
      .getByRole('group', { name: 'Message actions' })
      .getByRole('button', { name });
  }

  /**
   * Load the page, and show the panel.
   */
  async open(): Promise<void> {
    await this.lab.visit();
    await this.lab.openPanel();
    await expect(this.field).toBeVisible();
  }

  /**
   * Load the page, and ask for something.
   */
  async begin(text: string): Promise<void> {
    await this.open();
    await this.say(text);
  }

  /**
   * Load the page again, as somebody who is impatient.
   */
  async reload(): Promise<void> {
    await this.lab.reload();
    await this.lab.showPanel();
  }

  /**
   * Type and send. That the agent was done before is not taken for that it is
   * done with this.
   */
  async say(text: string): Promise<void> {
    const done = this.ask.filter({ hasText: DONE });
    const wasDone = await done.isVisible();
    await this.field.fill(text);
    await this.field.press('Enter');
    await expect(this.field).toHaveValue('');
    if (wasDone) {
      await expect(done).toHaveCount(0);
    }
  }

  /**
   * Wait until the agent asks something, in these words.
   */
  async expectAsked(text: string | RegExp): Promise<void> {
    await expect(this.ask).toContainText(text);
  }

  /**
   * Wait until the agent asks something, and press a button there.
   */
  async answer(text: string | RegExp, button: string): Promise<void> {
    await this.expectAsked(text);
    await this.ask.getByRole('button', { name: button, exact: true }).click();
    await expect(this.ask.filter({ hasText: text })).toHaveCount(0);
  }

  /**
   * Wait until the agent is done.
   */
  async expectDone(): Promise<void> {
    await this.expectAsked(DONE);
  }

  /**
   * Have the model say that it is done, and wait until that is here.
   */
  async finish(model: PlayedModel, result?: string): Promise<void> {
    await model.finish(result);
    await this.expectDone();
  }

  /**
   * Whether the newest message is in sight.
   */
  async expectAtEnd(): Promise<void> {
    await expect
      .poll(() =>
        this.feed.evaluate(
          ({ scrollHeight, scrollTop, clientHeight }) =>
            scrollHeight - scrollTop - clientHeight
        )
      )
      .toBeLessThan(5);
  }
}

interface IFixtures {
  /**
   * The conversation of the page, with a model that the test plays. Nothing is
   * approved unasked, and there is no conversation.
   */
  chat: Chat;

  /**
   * What browsers write down as errors while the test runs.
   */
  complaints: string[];
}

/**
 * A test of conversations. The browser may not complain of anything in it.
 */
export const test = notebooksTest.extend<IFixtures>({
  complaints: [
    async ({ context }, use) => {
      const complaints: string[] = [];
      const listen = (page: Page) => {
        page.on('console', message => {
          if (message.type() === 'error' && !isLabs(message)) {
            complaints.push(`${message.text()} (${message.location().url})`);
          }
        });
        page.on('pageerror', error => complaints.push(String(error)));
      };
      context.pages().forEach(listen);
      context.on('page', listen);
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true }
  ],

  chat: async ({ lab, model }, use) => {
    await lab.api.useProfile(model.profile);
    await use(new Chat(lab));
    await lab.lastLook();
    model.forget();
    await lab.api.forgetTasks();
  }
});

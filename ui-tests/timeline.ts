import type { Locator } from '@playwright/test';

import { Chat } from './chat';
import type { Lab } from './lab';
import { expect } from './lab';
import type { OpenNotebook } from './notebooks';

/**
 * The time line, and what leads to it, as a person sees them.
 */
export class Timeline {
  constructor(readonly lab: Lab) {
    this._chat = new Chat(lab);
  }

  /**
   * The view itself.
   */
  get view(): Locator {
    return this.lab.page.getByRole('region', {
      name: 'Timeline',
      exact: true
    });
  }

  /**
   * What was done, newest first.
   */
  get rows(): Locator {
    return this.view
      .getByRole('list', { name: 'Changes, newest first' })
      .locator('.jp-hdspAgent-timeline-item');
  }

  /**
   * The button of the row whose details are shown.
   */
  get opened(): Locator {
    return this.view.locator(
      '.jp-hdspAgent-timeline-open[aria-expanded="true"]'
    );
  }

  /**
   * A checkpoint in the conversation, brought into sight: only what is in sight
   * is on the page.
   */
  async checkpoint(text: string): Promise<Locator> {
    const { feed } = this._chat;
    const found = this._chat.messages('Checkpoint', text).first();
    await expect(async () => {
      if (!(await found.isVisible())) {
        await feed.evaluate(box => {
          box.scrollTop -= box.clientHeight / 2;
        });
      }
      await expect(found).toBeVisible({ timeout: 500 });
    }).toPass();
    return found;
  }

  /**
   * What tells of the last restore in the panel.
   */
  get bar(): Locator {
    return this.lab.panel.getByRole('group', { name: 'The last restore' });
  }

  /**
   * The question whether something shall be brought back.
   */
  get dialog(): Locator {
    return this._chat.dialog;
  }

  /**
   * Show the view.
   */
  async open(): Promise<void> {
    await this.lab.execute('hdsp-agent:open-time-line');
    await expect(this.view).toContainText('You are at:');
  }

  /**
   * A button of a checkpoint in the conversation.
   */
  action(checkpoint: Locator, name: string): Locator {
    return checkpoint
      .getByRole('group', { name: 'Checkpoint actions' })
      .getByRole('button', { name });
  }

  /**
   * Say yes to what a restore, an undo or a restart would do.
   */
  async accept(name: 'Undo' | 'Restore' | 'Restart and run'): Promise<void> {
    await this.dialog.getByRole('button', { name, exact: true }).click();
    await expect(this.dialog).toHaveCount(0);
  }

  private readonly _chat: Chat;
}

/**
 * What a variable of a notebook's kernel is, looked at without a trace: nothing
 * is counted, and no cell runs.
 */
export async function valueOf(
  { lab }: OpenNotebook,
  expression: string
): Promise<string> {
  return lab.page.evaluate(async expression => {
    const { sessionContext } = window.galata.app.shell
      .currentWidget as unknown as IHasKernel;
    const { content } = await sessionContext.session.kernel.requestExecute({
      code: '',
      silent: true,
      store_history: false,
      user_expressions: { it: expression }
    }).done;
    const { data, evalue } = content.user_expressions.it;
    return data?.['text/plain'] ?? evalue ?? '';
  }, expression);
}

interface IHasKernel {
  sessionContext: {
    session: {
      kernel: {
        requestExecute: (content: object) => {
          done: Promise<{
            content: {
              user_expressions: Record<
                string,
                { data?: Record<string, string>; evalue?: string }
              >;
            };
          }>;
        };
      };
    };
  };
}

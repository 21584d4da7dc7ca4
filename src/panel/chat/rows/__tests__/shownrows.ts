import type { ClineMessage } from '../../../../generated/wire';
import { OpenedPanel } from '../../../__tests__/openedpanel';

/** What the person wanted, at the beginning of the conversation. */
export const USER: ClineMessage = {
  ts: 1,
  type: 'say',
  say: 'text',
  text: 'Plot it'
};

/** The rows of a conversation `t`, in a panel on a page. */
export class ShownRows {
  constructor(options?: OpenedPanel.IOptions) {
    this.page = new OpenedPanel(options);
  }

  readonly page: OpenedPanel;

  /** Begin with these messages after the person's; the first is 2 by default. */
  async show(...messages: Partial<ClineMessage>[]): Promise<void> {
    this.page.begin({
      currentTaskId: 't',
      currentTaskStatus: 'interactive',
      clineMessages: [
        USER,
        ...messages.map(message => ({
          type: 'say' as const,
          ts: 2,
          ...message
        }))
      ]
    });
    await this.page.settle();
  }

  /** A message is another one now. */
  async update(clineMessage: ClineMessage): Promise<void> {
    this.page.publish({ type: 'messageUpdated', taskId: 't', clineMessage });
    await this.page.settle();
  }

  /** The row of a message. */
  row(ts: number): HTMLElement {
    const found = this.page.find(`[data-ts="${ts}"]`);
    if (!found) {
      throw new Error(`No row ${ts} in ${this.page.node.innerHTML}`);
    }
    return found;
  }

  /** Press the button of this name. */
  async click(label: string): Promise<void> {
    await this.page.settle(() => this.page.button(label).click());
  }
}

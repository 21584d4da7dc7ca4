import type { ExtensionState } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';

/** A server that has conversations, and a model. */
export const READY: ExtensionState = {
  canStartTasks: true,
  currentApiConfigName: 'work',
  listApiConfigMeta: [
    {
      id: 'p1',
      name: 'work',
      apiProvider: 'ollama',
      modelId: 'm',
      pinned: false,
      current: true,
      allowed: true
    }
  ]
};

/** The same with a conversation on screen that is worked on. */
export const WORKING: ExtensionState = {
  ...READY,
  currentTaskId: 't',
  currentTaskStatus: 'running',
  clineMessages: [{ ts: 1, type: 'say', say: 'text', text: 'first' }]
};

/** The panel on a page, and a person who writes. */
export class WrittenPanel extends OpenedPanel {
  get field(): HTMLTextAreaElement {
    return this.find('.jp-hdspAgent-composer-field') as HTMLTextAreaElement;
  }

  /** What is told about what went wrong. */
  get trouble(): string | undefined {
    return (
      this.find(
        '.jp-hdspAgent-composer > .jp-hdspAgent-notice > [role="alert"]'
      )?.textContent ?? undefined
    );
  }

  type(text: string, field = this.field): void {
    this.act(() => {
      Object.getOwnPropertyDescriptor(
        HTMLTextAreaElement.prototype,
        'value'
      )?.set?.call(field, text);
      field.setSelectionRange(text.length, text.length);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
  }

  press(key: string, init: KeyboardEventInit = {}): KeyboardEvent {
    const event = new KeyboardEvent('keydown', {
      key,
      bubbles: true,
      cancelable: true,
      ...init
    });
    this.act(() => this.field.dispatchEvent(event));
    return event;
  }
}

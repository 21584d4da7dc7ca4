import type { AgentStore } from '../../state/store';
import type { PanelState } from '../panelstate';
import { readAttachments } from './attachments';

/**
 * Goes through what was said before, as a shell does, and back to what was
 * being typed.
 */
export class PromptHistory {
  /**
   * Whether something said before is in the field.
   */
  get isActive(): boolean {
    return this._index >= 0;
  }

  /**
   * The text said before the one that is shown.
   *
   * @param current - What is in the field.
   *
   * @param entries - Gives what was said before, newest first; asked once, as
   * the way begins.
   *
   * @returns The text to show; `null` if there is none older.
   */
  older(current: string, entries: () => readonly string[]): string | null {
    if (!this.isActive) {
      this._entries = entries().filter(entry => entry !== current);
      this._draft = current;
    }
    if (this._index + 1 >= this._entries.length) {
      return null;
    }
    this._index += 1;
    return this._entries[this._index] ?? null;
  }

  /**
   * The text said after the one that is shown, and at last what was being typed.
   *
   * @returns The text to show; `null` if nothing older is shown.
   */
  newer(): string | null {
    if (!this.isActive) {
      return null;
    }
    this._index -= 1;
    return this.isActive ? (this._entries[this._index] ?? null) : this._draft;
  }

  /**
   * Stay with what is in the field.
   */
  leave(): void {
    this._index = -1;
  }

  private _entries: readonly string[] = [];
  private _draft = '';
  private _index = -1;
}

/**
 * What the person said before, newest first: in this conversation, then
 * elsewhere.
 */
export function saidBefore(
  store: AgentStore,
  { sent }: Pick<PanelState, 'sent'>
): string[] {
  const texts: string[] = [];
  store.order.forEach((ts, index) => {
    const message = store.message(ts);
    const isFirst = index === 0 && !store.hasOlderMessages;
    if (
      message?.say === 'user_feedback' ||
      (isFirst && message?.say === 'text')
    ) {
      texts.unshift(readAttachments(message.text ?? '').text);
    }
  });
  const tasks = (store.state?.taskHistory ?? []).map(
    ({ task }) => readAttachments(task).text
  );
  const all = [...texts, ...[...sent].reverse(), ...tasks];
  return [...new Set(all.map(text => text.trim()))].filter(text => text !== '');
}

import type { AgentStore } from '../store';
import type { PanelState } from './panelstate';
import { saidIn } from './attachments';

/**
 * Goes through what was said before in one conversation, as a shell does, and
 * back to what was being typed.
 *
 * #### Notes
 * What is in the field when one goes on stays at its place, so nothing that was
 * typed there, or put there by something else, is lost.
 */
export class PromptHistory {
  /**
   * The text said before the one that is shown.
   *
   * @param current - What is in the field.
   *
   * @param entries - Gives what was said before, newest first; asked as one
   * first goes back.
   *
   * @returns The text to show; `null` if there is none older.
   */
  older(current: string, entries: () => readonly string[]): string | null {
    if (this._texts.length < 2) {
      const others = entries().filter(entry => entry !== current);
      this._texts = [current, ...others];
    }
    return this._goTo(this._index + 1, current);
  }

  /**
   * The text said after the one that is shown, and at last what was being typed.
   *
   * @param current - What is in the field.
   *
   * @returns The text to show; `null` if nothing older is shown.
   */
  newer(current: string): string | null {
    return this._goTo(this._index - 1, current);
  }

  private _goTo(index: number, current: string): string | null {
    const text = this._texts[index];
    if (text === undefined) {
      return null;
    }
    this._texts[this._index] = current;
    this._index = index;
    return text;
  }

  private _texts: string[] = [];
  private _index = 0;
}

/**
 * What the person said before, newest first: in this conversation, elsewhere on
 * this page, and to begin other conversations.
 */
export function earlierPrompts(
  store: AgentStore,
  { sent, firstPrompts }: Pick<PanelState, 'sent' | 'firstPrompts'>
): string[] {
  const texts: string[] = [];
  store.order.forEach((ts, index) => {
    const message = store.message(ts);
    const isFirst = index === 0 && !store.hasOlderMessages;
    if (
      message?.say === 'user_feedback' ||
      (isFirst && message?.say === 'text')
    ) {
      texts.unshift(saidIn(message).text);
    }
  });
  const all = [...texts, ...[...sent].reverse(), ...firstPrompts];
  return [...new Set(all.map(text => text.trim()))].filter(text => text !== '');
}

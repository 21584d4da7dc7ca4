import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { PanelState } from '../../state/panel/panelstate';

/**
 * What is being written in place of messages. It outlives the rows of a list,
 * which come and go as one scrolls.
 */
export class MessageEdits {
  /**
   * The edits of a panel.
   */
  static of(state: PanelState): MessageEdits {
    const edits = Private.EDITS.get(state) ?? new MessageEdits();
    Private.EDITS.set(state, edits);
    return edits;
  }

  /**
   * Emitted when an edit begins, changes or ends.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * What is written in place of a message; `null` if it is not being edited.
   */
  text(taskId: string, ts: number): string | null {
    return this._texts.get(Private.key(taskId, ts)) ?? null;
  }

  /**
   * Begin to edit a message, or go on.
   */
  write(taskId: string, ts: number, text: string): void {
    this._texts.set(Private.key(taskId, ts), text);
    this._changed.emit();
  }

  /**
   * Edit a message no more.
   */
  end(taskId: string, ts: number): void {
    if (this._texts.delete(Private.key(taskId, ts))) {
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _texts = new Map<string, string>();
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const EDITS = new WeakMap<PanelState, MessageEdits>();

  export function key(taskId: string, ts: number): string {
    return `${taskId} ${ts}`;
  }
}

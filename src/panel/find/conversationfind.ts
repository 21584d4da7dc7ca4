import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { PanelState } from '../../state/panel/panelstate';

/**
 * What is looked for in the conversation on screen, while somebody does.
 */
export class ConversationFind {
  /**
   * What is looked for in a panel.
   */
  static of(state: PanelState): ConversationFind {
    const find = Private.FINDS.get(state) ?? new ConversationFind();
    Private.FINDS.set(state, find);
    return find;
  }

  /**
   * Emitted when the bar comes or goes, and when it is to take the focus.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Whether the bar is there.
   */
  get isOpen(): boolean {
    return this._isOpen;
  }

  /**
   * How often the bar was asked for: each time it takes the focus.
   */
  get asked(): number {
    return this._asked;
  }

  /**
   * Where one was when the bar was asked for; `null` if it has told already. A
   * bar that is drawn again, for another conversation, takes no focus.
   */
  takeOrigin(): { readonly origin: Element | null } | null {
    const taken = this._origin;
    this._origin = null;
    return taken;
  }

  /**
   * What was looked for last.
   */
  text = '';

  /**
   * Open the bar, or go back to its field.
   */
  open(): void {
    this._isOpen = true;
    this._asked += 1;
    this._origin = { origin: document.activeElement };
    this._changed.emit();
  }

  /**
   * Close the bar.
   */
  close(): void {
    if (this._isOpen) {
      this._isOpen = false;
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private _isOpen = false;
  private _asked = 0;
  private _origin: { readonly origin: Element | null } | null = null;
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const FINDS = new WeakMap<PanelState, ConversationFind>();
}

import { Listener } from '../../listener';
import type { AskMessage } from '../pendingask';
import type { AgentStore } from '../store';

/**
 * Knows when the server takes the first suggested answer to the question on
 * screen, by the clock of this page.
 *
 * #### Notes
 * The two clocks may differ, so the server tells what is left as well. Of one
 * moment the first telling counts: a later one may have been on its way for
 * long.
 */
export class AutoAnswerClock extends Listener {
  constructor({ store }: { store: AgentStore }) {
    super();
    this._store = store;
    store.changed.connect(this._follow, this);
    this._follow();
  }

  /**
   * When a question is answered by itself, in milliseconds; `null` if it is not.
   */
  at(ask: AskMessage): number | null {
    this._follow();
    return ask.ask === 'followup' && this._told !== null
      ? this._told.here
      : null;
  }

  private _follow(): void {
    const told = this._store.state?.autoAnswer;
    if (told === undefined) {
      this._told = null;
    } else if (told.at !== this._told?.at) {
      this._told = { at: told.at, here: Date.now() + told.left };
    }
  }

  private readonly _store: AgentStore;
  private _told: { readonly at: number; readonly here: number } | null = null;
}

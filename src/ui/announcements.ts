import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

/**
 * What parts of a conversation want read aloud. One place on the page says
 * all of it: with one each, a screen reader would have to watch hundreds.
 */
export class Announcements {
  /**
   * Emitted with what is to be read.
   */
  get said(): ISignal<this, string> {
    return this._said;
  }

  /**
   * Have a few words read aloud.
   */
  say(words: string): void {
    this._said.emit(words);
  }

  private readonly _said = new Signal<this, string>(this);
}

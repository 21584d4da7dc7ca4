import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { asErrorBody } from '../../errors';
import type { ClineAskResponse, ErrorBody } from '../../generated/wire';
import { Listener } from '../../listener';
import type { AskMessage } from '../pendingask';
import { onPendingAsk, pendingAsk } from '../pendingask';
import { alongWith } from './attachments';
import type { ISender } from './senddraft';
import { isBlank } from './senddraft';
import type { IDraft } from './panelstate';
import { AutoAnswerClock } from './autoanswer';

/**
 * An answer the server did not take.
 */
export interface IAnswerProblem {
  /**
   * The conversation it was meant for.
   */
  readonly taskId: string | null;
  readonly error: ErrorBody;

  /**
   * Whether somebody answered before, or the task went on without an answer.
   */
  readonly isLate: boolean;

  /**
   * Whether words that went along are in the field again.
   */
  readonly gaveBack: boolean;
}

/**
 * Gives the person's answers: each once, however often a button is pressed.
 */
export class AskAnswers extends Listener {
  constructor({ client, store, state }: AskAnswers.IOptions) {
    super();
    this._client = client;
    this._store = store;
    this._state = state;
    this.clock = new AutoAnswerClock({ store });
    this._endWatching = onPendingAsk(store, () => this._onPendingAsk());
  }

  /**
   * Knows when a question is answered by itself.
   */
  readonly clock: AutoAnswerClock;

  /**
   * Emitted when anything here changed.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Whether no answer is taken just now: one is on its way, or the question has
   * only just come, under a click that was meant for the one before.
   */
  get isBusy(): boolean {
    return this._answering !== null || this._pause !== undefined;
  }

  /**
   * What is on its way as the answer to a question; `null` if nothing is.
   */
  given(ask: AskMessage): ClineAskResponse | null {
    return this._answering === ask.ts ? this._given : null;
  }

  /**
   * The last answer, if the server did not take it.
   */
  get trouble(): IAnswerProblem | null {
    return this._trouble;
  }

  protected override release(): void {
    this._endWatching();
    this.clock.dispose();
    clearTimeout(this._pause);
    clearTimeout(this._release);
  }

  /**
   * Let the agent do what it asks for; what is typed goes along as a note.
   *
   * @param edited - What the person made of the proposed texts.
   *
   * @param run - Let it also run the cells that it changes.
   */
  approve(
    ask: AskMessage,
    edited?: readonly string[],
    run = false
  ): Promise<boolean> {
    return this._giveWithNote(ask, 'yesButtonClicked', edited, run);
  }

  /**
   * Do not let it; what is typed goes along as the reason.
   */
  deny(ask: AskMessage): Promise<boolean> {
    return this._giveWithNote(ask, 'noButtonClicked');
  }

  /**
   * Answer with words that stand ready. What is typed stays in the field.
   *
   * @param mode - The mode to go on in, if the answer wants another one.
   */
  async say(ask: AskMessage, text: string, mode?: string): Promise<boolean> {
    const taskId = this._taskId;
    return this._give(ask, 'messageResponse', async () => {
      if (mode !== undefined) {
        await this._client.request({
          type: 'mode',
          text: mode,
          ...named(taskId)
        });
      }
      await this._client.request({
        type: 'askResponse',
        messageTs: ask.ts,
        askResponse: 'messageResponse',
        text,
        ...named(taskId)
      });
    });
  }

  /**
   * Put away what is said about an answer that was not taken.
   */
  dismissProblem(): void {
    if (this._trouble !== null) {
      this._trouble = null;
      this._changed.emit();
    }
  }

  private async _giveWithNote(
    ask: AskMessage,
    askResponse: ClineAskResponse,
    edited?: readonly string[],
    run = false
  ): Promise<boolean> {
    const taskId = this._taskId;
    let draft: IDraft | null = null;
    return this._give(
      ask,
      askResponse,
      () => {
        draft = this._state.takeDraft(taskId);
        const text = draft.text.trim();
        return this._client.request({
          type: 'askResponse',
          messageTs: ask.ts,
          askResponse,
          ...(text ? { text } : {}),
          ...(draft.images.length > 0 ? { images: [...draft.images] } : {}),
          ...alongWith(draft.attachments),
          ...(edited ? { edited: [...edited] } : {}),
          ...(run ? { run } : {}),
          ...named(taskId)
        });
      },
      () => draft !== null && this._giveBack(taskId, draft)
    );
  }

  /**
   * @returns Whether the server took the answer.
   */
  private async _give(
    ask: AskMessage,
    askResponse: ClineAskResponse,
    send: () => Promise<unknown>,
    giveBack: () => boolean = () => false
  ): Promise<boolean> {
    if (this.isBusy || this.isDisposed) {
      return false;
    }
    const taskId = this._taskId;
    this._answering = ask.ts;
    this._given = askResponse;
    this._trouble = null;
    this._changed.emit();
    try {
      await send();
      this._taken(ask);
      return true;
    } catch (reason) {
      const error = asErrorBody(reason);
      const isLate =
        error.code === 'conflict' &&
        (error.params.ask === ask.ts || pendingAsk(this._store) !== ask);
      this._trouble = { taskId, error, isLate, gaveBack: giveBack() };
      this._answering = null;
      this._changed.emit();
      return false;
    }
  }

  /**
   * The server took the answer. Should the question stay all the same, it can
   * be answered again after a while.
   */
  private _taken(ask: AskMessage): void {
    if (this._answering === ask.ts && !this.isDisposed) {
      clearTimeout(this._release);
      this._release = setTimeout(() => {
        this._answering = null;
        this._changed.emit();
      }, AskAnswers.LONGEST_WAIT);
    }
  }

  private _onPendingAsk(): void {
    const now = pendingAsk(this._store)?.ts ?? null;
    if (now === this._seen) {
      return;
    }
    this._seen = now;
    if (this._answering !== null && now !== this._answering) {
      clearTimeout(this._release);
      this._answering = null;
    }
    clearTimeout(this._pause);
    this._pause =
      now === null ? undefined : setTimeout(this._endPause, AskAnswers.PAUSE);
    this._changed.emit();
  }

  private readonly _endPause = (): void => {
    this._pause = undefined;
    this._changed.emit();
  };

  private _giveBack(taskId: string | null, draft: IDraft): boolean {
    this._state.returnDraft(taskId, draft);
    return !isBlank(draft);
  }

  private get _taskId(): string | null {
    return this._store.state?.currentTaskId ?? null;
  }

  private readonly _client: AskAnswers.IOptions['client'];
  private readonly _store: AskAnswers.IOptions['store'];
  private readonly _state: AskAnswers.IOptions['state'];
  private readonly _changed = new Signal<this, void>(this);
  private readonly _endWatching: () => void;
  private _seen: number | null = null;
  private _answering: number | null = null;
  private _given: ClineAskResponse | null = null;
  private _trouble: IAnswerProblem | null = null;
  private _pause: ReturnType<typeof setTimeout> | undefined;
  private _release: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The namespace for `AskAnswers` statics.
 */
export namespace AskAnswers {
  /**
   * For so many milliseconds a question that came takes no answer, whoever
   * answered the one before it, and however: nobody can have read it.
   */
  export const PAUSE = 700;

  /**
   * How many milliseconds a question may stay after its answer was taken.
   */
  export const LONGEST_WAIT = 3_000;

  /**
   * What answers are made of.
   */
  export type IOptions = ISender;
}

/**
 * A request names its conversation, so that it never means one that came on screen since.
 */
export function named(taskId: string | null): { taskId?: string } {
  return taskId === null ? {} : { taskId };
}

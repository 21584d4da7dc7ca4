import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import type { RequestResult } from '../../comm/requests';
import { asErrorBody, errorText } from '../../errors';
import type {
  EditCellRequest,
  ExtensionMessage,
  HistoryItem,
  OpenTask
} from '../../generated/wire';
import { Listener } from '../../listener';
import { sentAttachment } from '../../state/panel/attachments';
import type { IAttachment } from '../../state/panel/panelstate';
import type { AgentStore } from '../../state/store';
import { CommandIDs } from '../../ui/commandids';
import { openTasks, phaseOf } from '../../ui/conversations/opentasks';
import { documentPath } from '../../ui/notebookchoice';
import { attachmentOf } from '../cells/cellparts';
import type { ICellPlace } from '../cells/cellplace';
import type { PromptPhase } from './cellprompt';

/**
 * How long a conversation may look as before, after it was told to go on.
 */
const TURN_MILLISECONDS = 2_000;

/**
 * The code of the error that a conversation is not there any more.
 */
const UNKNOWN_TASK = 'unknown_task';

/**
 * What somebody asks for at one cell, until they close the field: the first
 * words, what they say then, and how far the agent is.
 */
export class PromptSession extends Listener {
  constructor(options: PromptSession.IOptions) {
    super();
    this._options = options;
    const { client, commands, place, store, trans } = options;
    const selected = attachmentOf(place, trans);
    this._opened = { selected, source: this._source() };
    store.changed.connect(this._look, this);
    client.messageReceived.connect(this._onMessage, this);
    // It is done, and the cell shows it.
    place.cell.model.sharedModel.changed.connect(this._onEdit, this);
    commands.commandChanged.connect(this._onCommand, this);
  }

  /**
   * Emitted when it is at another point.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Emitted when more of the change is written; with its lines, which begin with
   * `+` or `-`.
   */
  get previewed(): ISignal<this, string> {
    return this._previewed;
  }

  /**
   * Emitted when the person has decided about the change.
   */
  get decided(): ISignal<this, void> {
    return this._decided;
  }

  /**
   * How far it is.
   */
  get phase(): PromptPhase {
    return this._phase;
  }

  /**
   * What went wrong; empty if nothing did.
   */
  get problem(): string {
    return this._problem;
  }

  /**
   * What the person said last.
   */
  get wish(): string {
    return this._wishes.at(-1) ?? '';
  }

  /**
   * What the first words are about: selected lines, or the whole cell.
   */
  get label(): string {
    const { place, trans } = this._options;
    const number = place.panel.content.widgets.indexOf(place.cell) + 1;
    return this._opened?.selected?.kind === 'selection'
      ? trans.__('Change the selected lines of cell %1', number)
      : trans.__('Change cell %1', number);
  }

  /**
   * Whether there was nothing in the cell when the field was opened.
   */
  get isEmpty(): boolean {
    return this._opened?.selected === null;
  }

  /**
   * Have the cell changed, or changed further.
   *
   * @param wish - What the person says.
   */
  async send(wish: string): Promise<void> {
    if (
      wish !== this.wish ||
      (this._phase !== 'failed' && this._phase !== 'unchanged')
    ) {
      // Else it is sent again, as nothing came of it.
      this._wishes.push(wish);
    }
    await this._say(wish);
  }

  /**
   * Undo the change, and have the agent do all that was said in another way.
   */
  async retry(): Promise<void> {
    const { commands, place, trans } = this._options;
    if (this._isRetrying) {
      return;
    }
    this._isRetrying = true;
    try {
      await commands.execute(CommandIDs.undoCell, this._place());
    } finally {
      this._isRetrying = false;
    }
    // The person has written in the same lines, and is told so.
    if (!this._isReviewed() && !place.cell.isDisposed) {
      await this._say(
        trans.__('Do it differently: %1', this._wishes.join('\n'))
      );
    }
  }

  /**
   * Stop the agent.
   */
  async stop(): Promise<void> {
    const turn = this._turn;
    if (turn !== null && !turn.isTaken) {
      // The agent is only about to begin.
      turn.wantsStop = true;
    } else if (this._taskId !== null) {
      await this._cancel(this._taskId);
    }
  }

  /**
   * Show the conversation in the panel.
   */
  async show(): Promise<void> {
    const { commands } = this._options;
    await commands.execute(CommandIDs.open);
    if (this._taskId !== null) {
      await commands.execute(CommandIDs.showConversation, {
        taskId: this._task()?.taskId ?? this._taskId
      });
    }
  }

  protected override release(): void {
    clearTimeout(this._timer);
  }

  private async _say(wish: string): Promise<void> {
    clearTimeout(this._timer);
    const attachments = [sentAttachment(this._attachment())];
    const turn: Private.ITurn = {
      before: this._source(),
      isTaken: false,
      hasBegun: false,
      isClosed: false,
      wasReviewed: false,
      wantsStop: false
    };
    this._turn = turn;
    this._turnTo('working');
    try {
      const said = { text: `/edit ${wish}`, attachments };
      this._taskId = await this._request(said);
      turn.isTaken = true;
      if (turn.wantsStop) {
        await this._cancel(this._taskId);
      }
      if (!this.isDisposed) {
        this._timer = window.setTimeout(() => {
          turn.hasBegun = true;
          this._look();
        }, TURN_MILLISECONDS);
        this._look();
      }
    } catch (reason) {
      this._fail(reason);
    }
  }

  /**
   * Ask for the change; the conversation that makes it.
   */
  private async _request(
    said: Pick<EditCellRequest, 'text' | 'attachments'>
  ): Promise<string> {
    const { client } = this._options;
    const message = { type: 'editCell', ...this._place(), ...said } as const;
    const taskId = this._taskId;
    let answer: RequestResult;
    try {
      answer = await client.request(
        taskId === null ? message : { ...message, taskId }
      );
    } catch (reason) {
      if (taskId === null || asErrorBody(reason).code !== UNKNOWN_TASK) {
        throw reason;
      }
      // It was deleted: another one begins.
      answer = await client.request(message);
    }
    return typeof answer === 'string' ? answer : '';
  }

  private async _cancel(taskId: string): Promise<void> {
    try {
      await this._options.client.request({ type: 'cancelTask', taskId });
    } catch (reason) {
      if (asErrorBody(reason).code === UNKNOWN_TASK) {
        // It has just ended by itself.
        this._look();
      } else {
        this._fail(reason);
      }
    }
  }

  private _fail(reason: unknown): void {
    const { trans } = this._options;
    this._turnTo('failed', errorText(trans, asErrorBody(reason)));
  }

  /**
   * See how far the conversation is.
   */
  private _look(): void {
    const { trans } = this._options;
    const turn = this._turn;
    if (this.isDisposed || turn === null || this._taskId === null) {
      return;
    }
    const task = this._task();
    const phase = task && phaseOf(task);
    if (phase === 'working') {
      // Perhaps because of what was said in the panel.
      turn.hasBegun = true;
      turn.isClosed = false;
      this._turnTo('working');
      return;
    }
    if (!turn.hasBegun || !this._isBusy) {
      // The page has not heard that it goes on, or all is said.
      return;
    }
    switch (phase) {
      case undefined:
        turn.isClosed = true;
        this._turnTo(
          'failed',
          trans.__('The conversation is closed. Send again to continue it.')
        );
        return;
      case 'asking':
        this._turnTo('asking');
        return;
      case 'failed':
        this._turnTo('failed', trans.__('The agent was stopped by an error.'));
        return;
      case 'paused':
        this._turnTo('failed', trans.__('The agent was stopped.'));
        return;
      case 'done':
      case 'resting':
        this._end(turn);
    }
  }

  /**
   * Its conversation among those that are open, or the subtask that works for
   * it.
   */
  private _task(): OpenTask | undefined {
    const tasks = openTasks(this._options.store).filter(
      ({ taskId, rootTaskId }) =>
        taskId === this._taskId || rootTaskId === this._taskId
    );
    return (
      tasks.find(task => !['done', 'resting'].includes(phaseOf(task))) ??
      tasks.find(({ taskId }) => taskId === this._taskId) ??
      tasks.at(-1)
    );
  }

  /**
   * The agent is done: say what came of it, if that is not decided already.
   */
  private _end(turn: Private.ITurn): void {
    const isOther = this._source() !== turn.before;
    if (isOther && this._isReviewed()) {
      this._turnTo('changed');
    } else if (turn.wasReviewed) {
      this._decided.emit();
    } else {
      this._turnTo(isOther ? 'approved' : 'unchanged');
    }
  }

  private _onEdit(): void {
    this._previewed.emit('');
  }

  private _onMessage(_: unknown, message: ExtensionMessage): void {
    if (message.type === 'taskHistoryItemUpdated') {
      this._onHistory(message.taskHistoryItem);
      return;
    }
    if (
      message.type !== 'cellEditPreview' ||
      ![this._taskId, this._task()?.taskId].includes(message.taskId) ||
      this._phase !== 'working'
    ) {
      return;
    }
    const { panel, cell } = this._options.place;
    // The agent's path may begin in another folder. It may name a cell by its
    // number.
    const isHere =
      PathExt.basename(message.path) === PathExt.basename(this._place().path);
    const number = panel.content.widgets.indexOf(cell) + 1;
    const lines = message.cellEdits
      .filter(
        ({ cellId }) =>
          isHere && (cellId === cell.model.id || cellId === `${number}`)
      )
      .flatMap(({ diff }) => (diff ? [diff] : []));
    this._previewed.emit(lines.join('\n'));
  }

  private _onHistory({ id, status }: HistoryItem): void {
    const turn = this._turn;
    if (turn?.isClosed && id === this._taskId && status === 'completed') {
      // It went on without being among the open ones.
      turn.isClosed = false;
      this._end(turn);
    }
  }

  private _onCommand(
    _: CommandRegistry,
    { id }: CommandRegistry.ICommandChangedArgs
  ): void {
    const turn = this._turn;
    if (id !== CommandIDs.keepCell || turn === null || this._isRetrying) {
      return;
    }
    const isReviewed = this._isReviewed();
    if (this._isBusy) {
      turn.wasReviewed ||= isReviewed && this._source() !== turn.before;
    } else if (this._phase === 'approved' && isReviewed) {
      // In a notebook that is shared the change comes before what is told of it.
      this._turnTo('changed');
    } else if (this._phase === 'changed' && !isReviewed) {
      this._wishes = [];
      // What may be in the field is about a cell without a change.
      this._turnTo('writing');
      this._decided.emit();
    }
  }

  /**
   * Whether the agent is at it, or waits for an answer.
   */
  private get _isBusy(): boolean {
    return this._phase === 'working' || this._phase === 'asking';
  }

  /**
   * Whether a change of the cell waits to be kept or undone.
   */
  private _isReviewed(): boolean {
    return this._options.commands.isEnabled(CommandIDs.keepCell, this._place());
  }

  private _place() {
    const { panel, path, cell } = this._options.place;
    // It may have been renamed.
    return { path: documentPath(panel) ?? path, cellId: cell.model.id };
  }

  private _source(): string {
    return this._options.place.cell.model.sharedModel.getSource();
  }

  /**
   * What goes along: what was selected when the field was opened, while the cell
   * is still the same.
   */
  private _attachment(): IAttachment {
    const { place, trans } = this._options;
    const opened = this._opened;
    this._opened = null;
    const selected =
      opened?.source === this._source()
        ? opened.selected
        : attachmentOf(place, trans);
    return selected ?? this._emptyCell();
  }

  private _emptyCell(): IAttachment {
    const { place, trans } = this._options;
    const number = place.panel.content.widgets.indexOf(place.cell) + 1;
    return {
      kind: 'cell',
      ...this._place(),
      label: trans.__('Cell %1', number),
      content: ''
    };
  }

  private _turnTo(phase: PromptPhase, problem = ''): void {
    if (phase !== this._phase || problem !== this._problem) {
      this._phase = phase;
      this._problem = problem;
      this._changed.emit();
    }
  }

  private readonly _options: PromptSession.IOptions;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _previewed = new Signal<this, string>(this);
  private readonly _decided = new Signal<this, void>(this);
  private _opened: Private.IOpened | null;
  private _phase: PromptPhase = 'writing';
  private _problem = '';
  private _wishes: string[] = [];
  private _taskId: string | null = null;
  private _turn: Private.ITurn | null = null;
  private _isRetrying = false;
  private _timer: number | undefined;
}

/**
 * The namespace for `PromptSession` statics.
 */
export namespace PromptSession {
  /**
   * Which cell it is about, and who changes it.
   */
  export interface IOptions {
    readonly place: ICellPlace;
    readonly client: Pick<ChannelClient, 'request'> & {
      readonly messageReceived: ISignal<unknown, ExtensionMessage>;
    };
    readonly commands: CommandRegistry;
    readonly store: AgentStore;
    readonly trans: TranslationBundle;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The cell as it was when the field was opened.
   */
  export interface IOpened {
    readonly selected: IAttachment | null;
    readonly source: string;
  }

  /**
   * What became of the last words so far.
   */
  export interface ITurn {
    /**
     * The source of the cell when they were said.
     */
    readonly before: string;

    /**
     * Whether the server has taken them.
     */
    isTaken: boolean;

    /**
     * Whether the page has heard that the agent is at it.
     */
    hasBegun: boolean;

    /**
     * Whether the conversation was closed before it had an end.
     */
    isClosed: boolean;

    /**
     * Whether a change of the agent waited to be kept or undone.
     */
    wasReviewed: boolean;
    wantsStop: boolean;
  }
}

import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import { asErrorBody, errorText } from '../../errors';
import { Listener } from '../../listener';
import { composeText } from '../../state/panel/attachments';
import type { IAttachment } from '../../state/panel/panelstate';
import type { AgentStore } from '../../state/store';
import { CommandIDs } from '../../ui/commandids';
import { openTasks, phaseOf } from '../../ui/conversations/opentasks';
import { documentPath } from '../../ui/notebookchoice';
import { CellList } from '../celllist';
import { attachmentOf } from '../cells/cellparts';
import type { ICellPlace } from '../cells/cellplace';
import { asOneStep, replaceSource } from '../undosteps';
import type { PromptPhase } from './cellprompt';

/**
 * How long a conversation may look as before, after it was told to go on.
 */
const TURN_MILLISECONDS = 2_000;

/**
 * What somebody asks for at one cell, until they close the field: the first
 * words, what they say then, and how far the agent is.
 */
export class PromptSession extends Listener {
  constructor(options: PromptSession.IOptions) {
    super();
    this._options = options;
    const { commands, place, store, trans } = options;
    this._selected = attachmentOf(place, trans);
    this._before = this._after = this._source();
    store.changed.connect(this._look, this);
    commands.commandChanged.connect(this._onCommand, this);
  }

  /**
   * Emitted when it is at another point.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
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
   * What the words are about: the selected lines, or the whole cell.
   */
  get label(): string {
    return this._selected?.label ?? this._emptyCell().label;
  }

  /**
   * Whether there was nothing in the cell.
   */
  get isEmpty(): boolean {
    return this._selected === null;
  }

  /**
   * Have the cell changed, or changed further.
   *
   * @param wish - What the person says.
   */
  async send(wish: string): Promise<void> {
    this._wish = wish;
    await this._say(wish);
  }

  /**
   * Take back what was done last, and have the agent do it in another way.
   */
  async retry(): Promise<void> {
    const { trans } = this._options;
    if (this._source() !== this._after) {
      this._turnTo(
        'failed',
        trans.__('You have edited the cell since. Say what should change.')
      );
      return;
    }
    this._isRetrying = true;
    this._restore(this._before);
    this._isRetrying = false;
    await this._say(trans.__('Do it in another way: %1', this._wish));
  }

  /**
   * Stop the agent.
   */
  async stop(): Promise<void> {
    if (this._taskId === null) {
      // It is only about to begin.
      this._wantsStop = true;
      return;
    }
    try {
      await this._options.client.request({
        type: 'cancelTask',
        taskId: this._taskId
      });
    } catch (reason) {
      this._fail(reason);
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
        taskId: this._taskId
      });
    }
  }

  protected override release(): void {
    clearTimeout(this._timer);
  }

  private async _say(wish: string): Promise<void> {
    const { client } = this._options;
    const attachment = this._attachment();
    const text = composeText({
      text: `/edit ${wish}`,
      attachments: [attachment]
    });
    this._before = this._source();
    this._hasBegun = false;
    this._wasReviewed = false;
    this._wantsStop = false;
    this._turnTo('working');
    try {
      const taskId = await client.request({
        type: 'editCell',
        ...this._place(),
        text,
        ...(this._taskId === null ? {} : { taskId: this._taskId })
      });
      if (this.isDisposed) {
        return;
      }
      this._taskId = typeof taskId === 'string' ? taskId : null;
      clearTimeout(this._timer);
      this._timer = window.setTimeout(() => {
        this._hasBegun = true;
        this._look();
      }, TURN_MILLISECONDS);
      if (this._wantsStop) {
        await this.stop();
      }
      this._look();
    } catch (reason) {
      this._fail(reason);
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
    const { store, trans } = this._options;
    const { isBusy } = this;
    if (this.isDisposed || this._taskId === null || !isBusy) {
      return;
    }
    const task = openTasks(store).find(one => one.taskId === this._taskId);
    const phase = task && phaseOf(task);
    if (phase === 'working') {
      this._hasBegun = true;
      this._turnTo('working');
      return;
    }
    if (!this._hasBegun) {
      // The page has not heard that it goes on.
      return;
    }
    switch (phase) {
      case undefined:
        this._turnTo('failed', trans.__('The conversation is not open here.'));
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
        this._end();
    }
  }

  /**
   * Whether the agent is at it, or waits for an answer.
   */
  get isBusy(): boolean {
    return this._phase === 'working' || this._phase === 'asking';
  }

  /**
   * The agent is done: say what came of it, if that is not decided already.
   */
  private _end(): void {
    this._after = this._source();
    this._waited = this._isReviewed();
    const hasChanged = this._after !== this._before;
    if (hasChanged && this._waited) {
      this._turnTo('changed');
    } else if (this._wasReviewed) {
      this._decided.emit();
    } else {
      this._turnTo(hasChanged ? 'approved' : 'unchanged');
    }
  }

  private _onCommand(
    _: CommandRegistry,
    { id }: CommandRegistry.ICommandChangedArgs
  ): void {
    if (id !== CommandIDs.keepCell || this._isRetrying) {
      return;
    }
    const isReviewed = this._isReviewed();
    if (this.isBusy) {
      this._wasReviewed ||= isReviewed && this._source() !== this._before;
    } else if (this._waited && !isReviewed) {
      this._decided.emit();
    }
    this._waited = isReviewed;
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
   * Give the cell a source that it had, in a step of its own.
   */
  private _restore(source: string): void {
    const { panel, cell } = this._options.place;
    const sharedModel = panel.content.model?.sharedModel;
    const { id } = cell.model;
    if (sharedModel) {
      asOneStep(sharedModel, [id], () => {
        const cells = new CellList(sharedModel);
        cells.change(() => replaceSource(cells.get(id), source));
      });
    }
  }

  /**
   * What goes along: what was selected when the field was opened, while the cell
   * is still the same.
   */
  private _attachment(): IAttachment {
    const { place, trans } = this._options;
    const selected = this._selected;
    this._selected = null;
    return selected !== null && this._source() === this._before
      ? selected
      : (attachmentOf(place, trans) ?? this._emptyCell());
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
  private readonly _decided = new Signal<this, void>(this);
  private _selected: IAttachment | null;
  private _before: string;
  private _after: string;
  private _phase: PromptPhase = 'writing';
  private _problem = '';
  private _wish = '';
  private _taskId: string | null = null;
  private _hasBegun = false;
  private _waited = false;
  private _wasReviewed = false;
  private _wantsStop = false;
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
    readonly client: Pick<ChannelClient, 'request'>;
    readonly commands: CommandRegistry;
    readonly store: AgentStore;
    readonly trans: TranslationBundle;
  }
}

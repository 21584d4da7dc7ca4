import type { NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { IAgentChange, AgentNotebooks } from '../agentnotebooks';
import { Listener } from '../../listener';
import type { IVerdict } from './notebookreview';
import { NotebookReview } from './notebookreview';

/**
 * What the person said of a change in a notebook.
 */
export interface INotebookVerdict extends IVerdict {
  readonly context: NotebookPanel['context'];

  /**
   * The task that changed the cell last.
   */
  readonly taskId: string | null;
}

/**
 * The reviews of all open notebooks, each one for all views of its notebook.
 */
export class OpenReviews extends Listener {
  constructor(agentNotebooks: Pick<AgentNotebooks, 'changedByAgent'>) {
    super();
    agentNotebooks.changedByAgent.connect(this._onChanged, this);
  }

  /**
   * Emitted when other changes than before wait in a notebook.
   */
  get changed(): ISignal<this, NotebookReview> {
    return this._changed;
  }

  /**
   * Emitted when the person kept a change, or took it back.
   */
  get reviewed(): ISignal<this, INotebookVerdict> {
    return this._reviewed;
  }

  /**
   * Emitted when a change was not taken back, because the person has written in
   * its place.
   */
  get refused(): ISignal<this, void> {
    return this._refused;
  }

  protected override release(): void {
    this._reviews.forEach(review => review.dispose());
    this._reviews.clear();
  }

  /**
   * The review of the notebook that a panel shows.
   */
  of({ context }: NotebookPanel): NotebookReview {
    let review = this._reviews.get(context);
    if (!review) {
      review = this._create(context);
      this._reviews.set(context, review);
    }
    return review;
  }

  /**
   * Take up what the agent changed.
   */
  take({ panel, taskId, changes, review, isEarlier }: IAgentChange): void {
    if (panel.context.isDisposed) {
      return;
    }
    const authors =
      this._authors.get(panel.context) ?? new Map<string, string | null>();
    this._authors.set(panel.context, authors);
    changes.forEach(({ cellId }) => authors.set(cellId, taskId));
    if (isEarlier) {
      this.of(panel).restore(changes);
    } else {
      this.of(panel).record(changes, !review);
    }
  }

  private _create(context: NotebookPanel['context']): NotebookReview {
    const review = new NotebookReview(context.model);
    review.changed.connect(() => this._changed.emit(review), this);
    review.reviewed.connect((_, verdict) => {
      const author = this._authors.get(context)?.get(verdict.cellId);
      this._reviewed.emit({ ...verdict, context, taskId: author ?? null });
    }, this);
    review.refused.connect(() => this._refused.emit(), this);
    context.disposed.connect(() => {
      this._reviews.delete(context);
      review.dispose();
    }, this);
    return review;
  }

  private _onChanged(_: unknown, change: IAgentChange): void {
    this.take(change);
  }

  private readonly _reviews = new Map<
    NotebookPanel['context'],
    NotebookReview
  >();
  private readonly _authors = new WeakMap<
    NotebookPanel['context'],
    Map<string, string | null>
  >();
  private readonly _changed = new Signal<this, NotebookReview>(this);
  private readonly _refused = new Signal<this, void>(this);
  private readonly _reviewed = new Signal<this, INotebookVerdict>(this);
}

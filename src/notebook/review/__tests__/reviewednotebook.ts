import type { NotebookPanel } from '@jupyterlab/notebook';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';

import type { NotebookOperation } from '../../operations';
import type { IReviewEnvironment } from '../reviewui';
import { createReview } from '../reviewui';
import { OpenedNotebook } from '../../__tests__/openednotebook';

/**
 * The cell with this id shall say something else.
 */
export function edit(cellId: string, source: string): NotebookOperation {
  return { op: 'replaceSource', cellId, source };
}

/**
 * A notebook in a page that shows what the agent does to it, for review.
 */
export class ReviewedNotebook {
  static async open(): Promise<ReviewedNotebook> {
    return new ReviewedNotebook(
      await OpenedNotebook.open(['a = 1', 'b = 2', 'c = 3'])
    );
  }

  private constructor(readonly opened: OpenedNotebook) {
    this._review = this._create();
  }

  readonly commands = new CommandRegistry();

  /** Where the context menu is. */
  pointed: HTMLElement | undefined = undefined;

  close(): void {
    this.endReview();
    this.opened.close();
  }

  endReview(): void {
    this._review.dispose();
  }

  /** Begin the review anew, otherwise than usual. */
  reviewAgain(otherwise: Partial<IReviewEnvironment>): void {
    this.endReview();
    this._review = this._create(otherwise);
  }

  /** The agent changes cells. */
  act(...operations: NotebookOperation[]): Promise<void> {
    return this.actFor(undefined, ...operations);
  }

  /** The same in a task of this id. */
  async actFor(
    taskId: string | undefined,
    ...operations: NotebookOperation[]
  ): Promise<void> {
    this._count += 1;
    this.opened.client.receive({
      type: 'applyNotebookOperations',
      opId: `op-${this._count}`,
      path: this.opened.path,
      operations,
      save: false,
      review: true,
      ...(taskId !== undefined && { taskId })
    });
    await this.opened.settle(200);
  }

  /** The agent has these cells under way. */
  async work(state: 'running' | 'queued', ...cellIds: string[]): Promise<void> {
    this.opened.client.receive({
      type: 'notebookWork',
      path: this.opened.path,
      cells: cellIds.map(cellId => ({ cellId, state }))
    });
    await this.opened.settle(60);
  }

  node(place: number, panel: NotebookPanel = this.opened.panel): HTMLElement {
    return panel.content.widgets[place].node;
  }

  /** What the rows at a cell are about. */
  kinds(place: number, panel?: NotebookPanel): (string | undefined)[] {
    return [
      ...this.node(place, panel).querySelectorAll<HTMLElement>(
        '.jp-hdspAgent-CellRow'
      )
    ].map(row => row.dataset.kind);
  }

  /** How many lines the rows at a cell say were changed. */
  counts(place: number): (string | null)[] {
    return [
      ...this.node(place).querySelectorAll('.jp-hdspAgent-CellRow-count')
    ].map(({ textContent }) => textContent);
  }

  /** What a cell shows as it was before. */
  deletedText(place: number, panel?: NotebookPanel): string {
    return (
      this.node(place, panel).querySelector('.cm-deletedChunk')?.textContent ??
      ''
    );
  }

  /** Press a button in a row at a cell. */
  async press(place: number, action: string): Promise<void> {
    this.node(place)
      .querySelector<HTMLElement>(
        `.jp-hdspAgent-CellRow [data-action="${action}"]`
      )
      ?.click();
    await this.opened.settle();
  }

  /** What the server was told of what the person decided. */
  verdicts(): unknown[] {
    return this.opened.client
      .of('cellReview')
      .map(({ cellId, accepted, part }) => [cellId, accepted, part]);
  }

  private _create(otherwise: Partial<IReviewEnvironment> = {}): IDisposable {
    return createReview({
      client: this.opened.client,
      commands: this.commands,
      agentNotebooks: this.opened.agentNotebooks,
      tracker: this.opened.tracker,
      trans: nullTranslator.load('hdsp_agent'),
      early: [],
      pointed: () => this.pointed,
      ...otherwise
    });
  }

  private _review: IDisposable;
  private _count = 0;
}

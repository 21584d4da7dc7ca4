import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import { agentIcon } from '../ui/icons/agenticon';
import { isDrawn } from './cells/cellrow';
import type { AgentNotebooks } from './agentnotebooks';
import { Listener } from '../listener';
import { Redraw } from './redraw';
import type { NotebookReview } from './review/notebookreview';

/**
 * What the agent has to do with a cell.
 */
type Mark = 'running' | 'queued' | 'changed';

/**
 * Marks in one view of a notebook the cells that the agent runs, waits to run,
 * or changed.
 */
export class CellMarks extends Listener {
  constructor(options: CellMarks.IOptions) {
    super();
    this._options = options;
    const { agentNotebooks, panel, review } = options;
    agentNotebooks.workChanged.connect((_, { path }) => {
      if (path === this._path) {
        this._schedule();
      }
    }, this);
    review.changed.connect(this._schedule, this);
    panel.content.modelContentChanged.connect(this._schedule, this);
    this._schedule();
  }

  protected override release(): void {
    this._redraw.dispose();
    this._icons.forEach((_, cell) => this._unmark(cell));
  }

  private get _path(): string | null {
    const { agentNotebooks, panel } = this._options;
    return agentNotebooks.notebooks.pathOf(panel);
  }

  private _schedule(): void {
    this._redraw.request();
  }

  private _draw(): void {
    const marks = this._marks();
    if (marks.size === 0 && this._icons.size === 0) {
      return;
    }
    const { widgets } = this._options.panel.content;
    const unmarked = new Set(this._icons.keys());
    for (const cell of widgets) {
      const mark = marks.get(cell.model.id);
      if (mark) {
        unmarked.delete(cell);
        this._mark(cell, mark);
      }
    }
    unmarked.forEach(cell => this._unmark(cell));
  }

  private _marks(): Map<string, Mark> {
    const { agentNotebooks, review } = this._options;
    const marks = new Map<string, Mark>();
    for (const [cellId, { kind }] of review.waiting) {
      if (kind !== 'deleted') {
        marks.set(cellId, 'changed');
      }
    }
    const path = this._path;
    for (const { cellId, state } of path === null
      ? []
      : agentNotebooks.work(path)) {
      if (state === 'running' || state === 'queued') {
        marks.set(cellId, state);
      }
    }
    return marks;
  }

  private _mark(cell: Cell, mark: Mark): void {
    const { node } = cell;
    if (node.dataset.hdspAgent !== mark) {
      node.dataset.hdspAgent = mark;
      this._icons.get(cell)?.remove();
      this._icons.set(cell, null);
    }
    if (this._icons.get(cell) || !isDrawn(cell, this._schedule, this)) {
      return;
    }
    const place = node.querySelector('.jp-Cell-inputWrapper');
    if (place) {
      const icon = this._icon(mark);
      place.append(icon);
      this._icons.set(cell, icon);
    }
  }

  private _unmark(cell: Cell): void {
    this._icons.get(cell)?.remove();
    this._icons.delete(cell);
    delete cell.node.dataset.hdspAgent;
  }

  private _icon(mark: Mark): HTMLElement {
    const { trans } = this._options;
    const title = {
      running: trans.__('The agent runs this cell'),
      queued: trans.__('The agent is going to run this cell'),
      changed: trans.__('The agent changed this cell')
    }[mark];
    const icon = document.createElement('span');
    icon.className = 'jp-hdspAgent-CellMark';
    icon.title = title;
    icon.setAttribute('role', 'img');
    icon.setAttribute('aria-label', title);
    agentIcon.element({ container: icon });
    return icon;
  }

  private readonly _redraw = new Redraw(() => this._draw());
  private readonly _options: CellMarks.IOptions;
  private readonly _icons = new Map<Cell, HTMLElement | null>();
}

/**
 * The namespace for `CellMarks` statics.
 */
export namespace CellMarks {
  /**
   * What is marked, and where.
   */
  export interface IOptions {
    readonly agentNotebooks: Pick<
      AgentNotebooks,
      'notebooks' | 'work' | 'workChanged'
    >;
    readonly panel: NotebookPanel;
    readonly review: NotebookReview;
    readonly trans: TranslationBundle;
  }
}

import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { NotebookWorkMessage } from '../../generated/wire';
import { agentIcon } from '../../ui/icons/agenticon';
import type { IAgentChange, AgentNotebooks } from '../agentnotebooks';
import { Listener } from '../../listener';

/**
 * How long the person is taken to be busy after they did something.
 */
const BUSY_MILLISECONDS = 5_000;

/**
 * What the person does in a notebook. Scrolling itself is not among it: the
 * page scrolls as well.
 */
const PERSON_EVENTS = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

/**
 * Brings what the agent does in one view of a notebook into sight, unless the
 * person is busy there.
 *
 * #### Notes
 * Once the person went their own way, the view stays with them, until they
 * come back to the cell the agent is at, or ask for it.
 */
export class ViewFollower extends Listener {
  constructor(options: ViewFollower.IOptions) {
    super();
    this._options = options;
    const { agentNotebooks, panel } = options;
    this._active = panel.content.activeCell;
    this._button = this._createButton();
    panel.node.append(this._button);
    for (const event of PERSON_EVENTS) {
      panel.content.node.addEventListener(event, this, {
        capture: true,
        passive: true
      });
    }
    panel.content.activeCellChanged.connect(this._onActive, this);
    agentNotebooks.changedByAgent.connect(this._onChange, this);
    agentNotebooks.workChanged.connect(this._onWork, this);
  }

  /**
   * Whether the view follows the agent now.
   */
  get isFollowing(): boolean {
    return !this._isAway;
  }

  protected override release(): void {
    for (const event of PERSON_EVENTS) {
      this._options.panel.content.node.removeEventListener(event, this, {
        capture: true
      });
    }
    this._button.remove();
  }

  /**
   * Follow again, and begin where the agent is.
   */
  resume(): void {
    this._isAway = false;
    this._busyAt = -Infinity;
    this._button.hidden = true;
    const cell = this._cell(this._last);
    if (cell) {
      this._bringIntoView(cell);
    }
  }

  /**
   * Take note of what the person does.
   */
  handleEvent(event: Event): void {
    this._busyAt = this._options.now();
  }

  private _onActive(): void {
    const { agentNotebooks, now, panel } = this._options;
    const before = this._active;
    this._active = panel.content.activeCell;
    // Where the active cell was deleted, nobody selected the next one.
    const isThere = before && panel.content.widgets.includes(before);
    if (isThere && !agentNotebooks.notebooks.isChangedByAgent(panel)) {
      this._busyAt = now();
    }
  }

  private _onChange(
    _: unknown,
    { path, changes, isEarlier }: IAgentChange
  ): void {
    const last = changes.filter(change => change.after !== null).at(-1);
    if (last && !isEarlier && path === this._path) {
      this._follow(last.cellId);
    }
  }

  private _onWork(_: unknown, { path, cells }: NotebookWorkMessage): void {
    if (path !== this._path) {
      return;
    }
    const running = cells.find(({ state }) => state === 'running');
    if (running) {
      this._follow(running.cellId);
    } else if (cells.length === 0) {
      this._button.hidden = true;
    }
  }

  private _follow(cellId: string): void {
    const { panel, isOn, now } = this._options;
    if (!isOn() || !panel.isVisible) {
      return;
    }
    const before = this._cell(this._last);
    this._last = cellId;
    const isBusy = now() - this._busyAt < BUSY_MILLISECONDS;
    if (this._isAway) {
      // They are back when the cell the agent was at is in their sight.
      this._isAway = isBusy || !before || !this._isInView(before);
    } else {
      this._isAway = isBusy;
    }
    const cell = this._cell(cellId);
    if (cell && !this._isAway) {
      this._bringIntoView(cell);
    }
    this._button.hidden = !this._isAway || !cell || this._isInView(cell);
  }

  private _isInView(cell: Cell): boolean {
    const { node } = cell;
    if (!node.isConnected) {
      return false;
    }
    const seen = this._scroller.getBoundingClientRect();
    const { top, bottom } = node.getBoundingClientRect();
    return bottom > seen.top && top < seen.bottom;
  }

  private _bringIntoView(cell: Cell): void {
    const { content } = this._options.panel;
    const isInView = this._isInView(cell);
    if (isInView) {
      const seen = this._scroller.getBoundingClientRect();
      const { top, bottom } = cell.node.getBoundingClientRect();
      if (top >= seen.top && bottom <= seen.bottom) {
        return;
      }
    }
    if (cell.node.isConnected) {
      const calm = window.matchMedia?.('(prefers-reduced-motion: reduce)');
      cell.node.scrollIntoView({
        block: isInView ? 'nearest' : 'center',
        behavior: calm?.matches ? 'auto' : 'smooth'
      });
    } else {
      // It is far away or new, and not in the page. The focus stays where the
      // person is, who may be writing.
      content.scrollToItem(content.widgets.indexOf(cell), 'auto').catch(() => {
        // Another scrolling took over.
      });
    }
  }

  private get _path(): string | null {
    const { agentNotebooks, panel } = this._options;
    return agentNotebooks.notebooks.pathOf(panel);
  }

  private get _scroller(): HTMLElement {
    const { content } = this._options.panel;
    return content.outerNode ?? content.node;
  }

  private _cell(cellId: string | null): Cell | undefined {
    return this._options.panel.content.widgets.find(
      cell => cell.model.id === cellId
    );
  }

  private _createButton(): HTMLButtonElement {
    const { trans } = this._options;
    const button = document.createElement('button');
    button.type = 'button';
    button.hidden = true;
    button.className = 'jp-hdspAgent-follow';
    button.title = trans.__('Scroll to where the agent works, and follow it');
    agentIcon.element({ container: button });
    button.append(trans.__('Follow the agent'));
    button.addEventListener('click', () => this.resume());
    return button;
  }

  private readonly _options: ViewFollower.IOptions;
  private readonly _button: HTMLButtonElement;
  private _last: string | null = null;
  private _active: Cell | null;
  private _busyAt = -Infinity;
  private _isAway = false;
}

/**
 * The namespace for `ViewFollower` statics.
 */
export namespace ViewFollower {
  /**
   * Whom to follow, and where.
   */
  export interface IOptions {
    readonly agentNotebooks: Pick<
      AgentNotebooks,
      'notebooks' | 'changedByAgent' | 'workChanged'
    >;
    readonly panel: NotebookPanel;
    readonly trans: TranslationBundle;

    /**
     * Whether the person wants it at all.
     */
    readonly isOn: () => boolean;

    /**
     * The clock, in milliseconds.
     */
    readonly now: () => number;
  }
}

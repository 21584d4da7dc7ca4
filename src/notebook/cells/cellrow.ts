import type { Cell } from '@jupyterlab/cells';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import type { PanelLayout } from '@lumino/widgets';
import { Widget } from '@lumino/widgets';

import { agentIcon } from '../../ui/icons/agenticon';

/**
 * A button of a row in a cell.
 */
export interface IRowButton {
  /**
   * What it does, as a name that never changes.
   */
  readonly name: string;
  readonly label: string;
  readonly title: string;
  readonly onClick: () => void;
}

/**
 * A slim row in a cell: what is the matter with it, and what to do about it.
 */
export class CellRow extends Widget {
  constructor({
    kind,
    text,
    buttons,
    title,
    icon = agentIcon
  }: CellRow.IOptions) {
    super();
    this.addClass('jp-hdspAgent-CellRow');
    const { node } = this;
    node.dataset.kind = kind;
    // The keys of the notebook are not those of the buttons.
    node.dataset.lmSuppressShortcuts = 'true';
    node.setAttribute('role', 'group');
    node.setAttribute('aria-label', title ?? text);
    icon.element({ container: this._child('span', 'icon') });
    this._text = this._child('span', 'text');
    this._text.textContent = text;
    if (title) {
      this._text.title = title;
    }
    this._count = this._child('span', 'count');
    this._buttons = this._child('span', 'buttons');
    buttons.forEach(button => this._addButton(button));
  }

  /**
   * Take the row out of its cell.
   *
   * #### Notes
   * A cell far away has let go of its parts, and Lumino does not expect to find
   * them elsewhere.
   */
  override dispose(): void {
    const cell = this.parent?.node;
    if (cell && this.node.parentNode !== cell) {
      cell.append(this.node);
    }
    super.dispose();
  }

  /**
   * Show a button, or not.
   */
  setVisible(name: string, isVisible: boolean): void {
    const button = this._buttons.querySelector<HTMLButtonElement>(
      `[data-action="${name}"]`
    );
    if (button) {
      button.hidden = !isVisible;
    }
  }

  /**
   * Say something else of what the row is about; it is read aloud.
   */
  setText(text: string): void {
    this._text.setAttribute('role', 'status');
    if (this._text.textContent !== text) {
      this._text.textContent = text;
    }
  }

  /**
   * Say how much there is of what the row is about.
   */
  setCount({ text, title }: CellRow.ICount): void {
    if (this._count.textContent !== text) {
      this._count.setAttribute('role', 'img');
      this._count.textContent = text;
      this._count.title = title;
      this._count.setAttribute('aria-label', title);
    }
  }

  /**
   * Say which cell the buttons are for, which those who see them see.
   *
   * @param name - The name of a button with that of the cell.
   */
  setCell(name: (label: string) => string): void {
    for (const button of this._buttons.children) {
      const words = name(button.textContent ?? '');
      if (button.getAttribute('aria-label') !== words) {
        button.setAttribute('aria-label', words);
      }
    }
  }

  private _addButton({ name, label, title, onClick }: IRowButton): void {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-hdspAgent-CellRow-button';
    button.dataset.action = name;
    button.textContent = label;
    button.title = title;
    button.addEventListener('click', onClick);
    this._buttons.append(button);
  }

  private _child(tag: 'span', part: string): HTMLElement {
    const child = document.createElement(tag);
    child.className = `jp-hdspAgent-CellRow-${part}`;
    this.node.append(child);
    return child;
  }

  private readonly _text: HTMLElement;
  private readonly _count: HTMLElement;
  private readonly _buttons: HTMLElement;
}

/**
 * The namespace for `CellRow` statics.
 */
export namespace CellRow {
  /**
   * How much there is of something, in short and in words.
   */
  export interface ICount {
    readonly text: string;
    readonly title: string;
  }

  /**
   * What a row shows.
   */
  export interface IOptions {
    /**
     * What it is about, as a name that never changes.
     */
    readonly kind: 'edited' | 'inserted' | 'deleted' | 'failed' | 'prompt';
    readonly text: string;

    /**
     * Without it, the agent's.
     */
    readonly icon?: LabIcon;

    /**
     * More than the text says, where there is more.
     */
    readonly title?: string;
    readonly buttons: readonly IRowButton[];
  }
}

/**
 * The name of a button in a cell, which others in the notebook have too.
 *
 * @param index - The index of the cell.
 */
export function cellButtonName(
  trans: TranslationBundle,
  label: string,
  index: number
): string {
  return trans.__('%1, cell %2', label, index + 1);
}

/**
 * Put a row into a cell.
 *
 * #### Notes
 * As a widget among the cell's own: those are taken out and put back when it
 * leaves the view, and anything else would come to stand somewhere else.
 */
export function addRow(cell: Cell, row: CellRow, place: addRow.Place): void {
  const layout = cell.layout as PanelLayout;
  const { widgets } = layout;
  const behind = (name: string) =>
    widgets.findIndex(widget => widget.hasClass(name)) + 1;
  switch (place) {
    case 'before':
      // Several of them stay in order.
      layout.insertWidget(
        widgets.findIndex(widget => !(widget instanceof CellRow)),
        row
      );
      break;
    case 'input':
      layout.insertWidget(behind('jp-Cell-inputWrapper'), row);
      break;
    case 'output':
      layout.insertWidget(behind('jp-Cell-outputWrapper'), row);
      break;
    case 'behind':
      layout.addWidget(row);
      break;
  }
}

/**
 * Whether a cell has all of its parts in the page; those far away have not.
 *
 * @param cell - The cell.
 *
 * @param later - Called on the receiver when it may have them.
 *
 * @param receiver - Whose signals are disconnected when it is disposed.
 */
export function isDrawn(
  cell: Cell,
  later: () => void,
  receiver: object
): boolean {
  const { children } = cell.node;
  for (const { classList } of children) {
    if (classList.contains('jp-Cell-inputWrapper')) {
      return true;
    }
  }
  cell.inViewportChanged.connect(later, receiver);
  if (cell.isPlaceholder()) {
    Private.whenReady(cell, later, receiver);
  }
  return false;
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * Who waits for which cells.
   */
  const waiting = new WeakMap<object, WeakSet<Cell>>();

  /**
   * Call a function once when a cell is ready, however often that is asked for.
   */
  export function whenReady(
    cell: Cell,
    later: () => void,
    receiver: object
  ): void {
    const cells = waiting.get(receiver) ?? new WeakSet<Cell>();
    waiting.set(receiver, cells);
    if (!cells.has(cell)) {
      cells.add(cell);
      void cell.ready.then(() => {
        cells.delete(cell);
        later.call(receiver);
      });
    }
  }
}

/**
 * The namespace for `addRow` statics.
 */
export namespace addRow {
  /**
   * Where a row stands: before everything, below the input, below the output,
   * or behind everything.
   */
  export type Place = 'before' | 'input' | 'output' | 'behind';
}

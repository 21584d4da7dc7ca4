import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import type { RenderedBlocks } from './renderedblocks';

/**
 * How often a block that grows is rendered, in milliseconds, even if that takes
 * long.
 */
const RENDER_AT_LEAST_EVERY = 1_000;
const LOOK_AGAIN_AFTER = 300;

/**
 * How much of the time may go into rendering: one part in so many.
 */
const SHARE = 8;

/**
 * A block of Markdown in a node of the page. What is shown stays until what
 * comes in its place is ready.
 */
export class LiveBlock implements IDisposable {
  constructor(options: LiveBlock.IOptions) {
    this._options = options;
  }

  /**
   * Whether this is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Take the block out of the page, and keep it for another time.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    clearTimeout(this._timer);
    if (this._shown) {
      this._options.blocks.give(this._shown.text, this._shown.widget);
      this._shown = null;
    }
  }

  /**
   * Show a text, soon while it grows and at once when it does not any more.
   */
  update(text: string, isGrowing: boolean): void {
    this._wanted = text;
    if (this._isBusy || this._shown?.text === text) {
      return;
    }
    clearTimeout(this._timer);
    const known = isGrowing ? null : this._options.blocks.take(text);
    const wait = isGrowing ? this._next - performance.now() : 0;
    if (known) {
      this._show(text, known);
    } else if (wait > 0) {
      this._timer = setTimeout(() => void this._render(), wait);
    } else {
      void this._render();
    }
  }

  private async _render(): Promise<void> {
    if (this._isInUse) {
      // What is selected would be lost; it can wait.
      this._timer = setTimeout(() => void this._render(), LOOK_AGAIN_AFTER);
      return;
    }
    const text = this._wanted;
    this._isBusy = true;
    let isPutOff = false;
    const begun = performance.now();
    try {
      const widget = await this._options.blocks.render(
        text,
        () => !this._isDisposed
      );
      isPutOff = this._shown !== null && this._isInUse;
      if (isPutOff) {
        widget?.dispose();
      } else if (widget) {
        this._show(text, widget);
      }
    } catch (reason) {
      // The source is on screen, and can be read.
      console.warn('A text could not be rendered', reason);
    }
    this._isBusy = false;
    const now = performance.now();
    this._next = now + Math.min(SHARE * (now - begun), RENDER_AT_LEAST_EVERY);
    if ((isPutOff || this._wanted !== text) && !this._isDisposed) {
      this._timer = setTimeout(() => void this._render(), this._next - now);
    }
  }

  /**
   * Whether the person selects something in the block, or has.
   */
  private get _isInUse(): boolean {
    const { host } = this._options;
    const selection = host.ownerDocument.getSelection();
    const isSelected =
      !!selection &&
      !selection.isCollapsed &&
      (host.contains(selection.anchorNode) ||
        host.contains(selection.focusNode));
    // Pressed, it may be the beginning of a selection.
    return isSelected || host.matches(':active');
  }

  private _show(text: string, widget: Widget): void {
    const { host, onShown } = this._options;
    if (this._isDisposed || !host.isConnected) {
      widget.dispose();
      return;
    }
    this._shown?.widget.dispose();
    Widget.attach(widget, host);
    this._shown = { text, widget };
    onShown(widget.node);
  }

  private readonly _options: LiveBlock.IOptions;
  private _shown: { text: string; widget: Widget } | null = null;
  private _wanted = '';
  private _isBusy = false;
  private _next = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}

/**
 * The namespace for `LiveBlock` statics.
 */
export namespace LiveBlock {
  /**
   * Where a block is shown, and by what.
   */
  export interface IOptions {
    readonly host: HTMLElement;
    readonly blocks: RenderedBlocks;

    /**
     * Called when something else is in the host.
     */
    readonly onShown: (node: HTMLElement) => void;
  }
}

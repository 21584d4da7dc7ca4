import type { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import { Diagrams } from '../diagrams/drawdiagrams';
import type { IDiagramDrawing } from '../diagrams/diagramdrawing';
import { secureLinks } from './securelinks';
import type { ISafeRegistry } from './sanitizer';
import { sharedDrawing } from '../diagrams/shareddrawing';

/**
 * How many rendered blocks are kept that are not on screen.
 */
const KEPT = 400;

/**
 * For how many milliseconds blocks are rendered without a pause: maths alone
 * may take as long for each.
 */
const SLICE = 12;

/**
 * Rendered Markdown, kept for when its row comes into sight again: a row that
 * was there before has its height at once, and the list does not jump.
 */
export class RenderedBlocks implements IDisposable {
  constructor(
    rendermime: ISafeRegistry,
    drawing: IDiagramDrawing = sharedDrawing
  ) {
    this._rendermime = rendermime;
    this._diagrams = new Diagrams(drawing);
  }

  /**
   * Whether this is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Let go of what is kept.
   */
  dispose(): void {
    this._isDisposed = true;
    this._diagrams.dispose();
    this._kept.forEach(widget => widget.dispose());
    this._kept.clear();
  }

  /**
   * The block as it was rendered before; the caller gives it back.
   */
  take(text: string): Widget | null {
    const widget = this._kept.get(text) ?? null;
    this._kept.delete(text);
    if (widget && !this._diagrams.fit(widget.node)) {
      widget.dispose();
      return null;
    }
    return widget;
  }

  /**
   * Render a block, when those before it are, and the page has had time for
   * other things in between.
   *
   * @param isWanted - Asked when its turn comes.
   * @returns `null` if it was not wanted any more.
   */
  async render(text: string, isWanted: () => boolean): Promise<Widget | null> {
    const turn = this._turn.then(() =>
      isWanted() ? this._render(text) : null
    );
    this._turn = turn.then(this._pause, this._pause);
    return turn;
  }

  private readonly _pause = async (): Promise<void> => {
    if (performance.now() - this._since > SLICE) {
      await new Promise(resolve => setTimeout(resolve));
      this._since = performance.now();
    }
  };

  private async _render(text: string): Promise<Widget> {
    const mimeType = 'text/markdown';
    const renderer = this._rendermime.createRenderer(mimeType);
    await renderer.renderModel(
      this._rendermime.createModel({
        data: { [mimeType]: text },
        trusted: false
      })
    );
    secureLinks(renderer.node);
    await this._diagrams.drawIn(renderer.node);
    return renderer;
  }

  /**
   * Keep a block that is not on screen any more.
   */
  give(text: string, widget: Widget): void {
    if (widget.isAttached && widget.node.isConnected) {
      Widget.detach(widget);
    }
    if (this._isDisposed || widget.isAttached || this._kept.has(text)) {
      widget.dispose();
      return;
    }
    this._kept.set(text, widget);
    if (this._kept.size > KEPT) {
      const [oldest] = this._kept.keys();
      this.take(oldest)?.dispose();
    }
  }

  private readonly _rendermime: ISafeRegistry;
  private readonly _diagrams: Diagrams;
  private _turn: Promise<unknown> = Promise.resolve();
  private _since = 0;
  private readonly _kept = new Map<string, Widget>();
  private _isDisposed = false;
}

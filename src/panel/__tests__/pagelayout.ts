/**
 * Gives the page a layout, which jsdom has none of: boxes that scroll are as
 * high as wanted, and everything else is as high as a row.
 */
export class PageLayout {
  constructor({
    box = 100_000,
    row = 40
  }: { box?: number; row?: number } = {}) {
    this._box = box;
    this._row = row;
    this._before = {
      observer: window.ResizeObserver,
      parent: Object.getOwnPropertyDescriptor(
        HTMLElement.prototype,
        'offsetParent'
      )
    };
    // What is missing in jsdom, as its `scrollTo` is.
    Element.prototype.scrollBy ??= () => undefined;
    const heightOf = (node: Element) => this._heightOf(node);
    window.ResizeObserver = class {
      constructor(private readonly _callback: ResizeObserverCallback) {}
      observe(target: Element): void {
        queueMicrotask(() => {
          const contentRect = { width: 300, height: heightOf(target) };
          this._callback(
            [{ target, contentRect } as ResizeObserverEntry],
            this
          );
        });
      }
      unobserve(): void {
        // Nothing changes its size here.
      }
      disconnect(): void {
        // Nothing changes its size here.
      }
    };
    Object.defineProperty(HTMLElement.prototype, 'offsetParent', {
      configurable: true,
      get(this: HTMLElement) {
        return this.parentNode;
      }
    });
  }

  /**
   * Give the page back as it was.
   */
  restore(): void {
    window.ResizeObserver = this._before.observer;
    if (this._before.parent) {
      Object.defineProperty(
        HTMLElement.prototype,
        'offsetParent',
        this._before.parent
      );
    }
  }

  private _heightOf(node: Element): number {
    return node.getAttribute('role') === 'feed' ? this._box : this._row;
  }

  private readonly _box: number;
  private readonly _row: number;
  private readonly _before: {
    observer: typeof ResizeObserver;
    parent: PropertyDescriptor | undefined;
  };
}

import type { IDisposable } from '@lumino/disposable';

/**
 * Shows in the browser's tab, by its title and its icon, how many things there
 * are to look at.
 */
export class TabBadge implements IDisposable {
  /**
   * How many things there are; with none the tab is as it was.
   */
  get count(): number {
    return this._count;
  }
  set count(count: number) {
    if (count === this._count || this._isDisposed) {
      return;
    }
    const title = this._plainTitle;
    this._count = count;
    document.title = Private.prefix(count) + title;
    this._drawIcon();
    this._followTitle();
  }

  /**
   * Whether this is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Leave the tab as it was.
   */
  dispose(): void {
    this.count = 0;
    this._isDisposed = true;
  }

  private get _plainTitle(): string {
    const prefix = Private.prefix(this._count);
    const { title } = document;
    return title.startsWith(prefix) ? title.slice(prefix.length) : title;
  }

  /**
   * Lab gives the page another title now and then.
   */
  private _followTitle(): void {
    this._observer?.disconnect();
    this._observer = null;
    if (this._count > 0) {
      this._observer = new MutationObserver(() => {
        const title = Private.prefix(this._count) + this._plainTitle;
        if (document.title !== title) {
          document.title = title;
        }
      });
      this._observer.observe(document.head, { childList: true, subtree: true });
    }
  }

  private _drawIcon(): void {
    this._icon?.remove();
    this._icon = null;
    if (this._count > 0) {
      this._icon = document.createElement('link');
      this._icon.rel = 'icon';
      this._icon.type = 'image/svg+xml';
      this._icon.href = Private.icon(this._count);
      // Browsers show the last icon of a page; Lab's own stay before it.
      document.head.append(this._icon);
    }
  }

  private _count = 0;
  private _icon: HTMLLinkElement | null = null;
  private _observer: MutationObserver | null = null;
  private _isDisposed = false;
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The most that is shown in the little room of an icon.
   */
  const MOST = 9;

  export function prefix(count: number): string {
    return count > 0 ? `(${count}) ` : '';
  }

  /**
   * An icon in Jupyter's orange with the number on it. It is not in the page, so
   * it cannot have the colours of Lab's theme.
   */
  export function icon(count: number): string {
    const text = count > MOST ? `${MOST}+` : String(count);
    return `data:image/svg+xml,${encodeURIComponent(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
        '<circle cx="16" cy="16" r="16" fill="#f37726"/>' +
        '<text x="16" y="23" text-anchor="middle" fill="#fff"' +
        ` font-family="sans-serif" font-weight="bold" font-size="20">${text}</text></svg>`
    )}`;
  }
}

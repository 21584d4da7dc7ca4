import type { IDisposable } from '@lumino/disposable';

/**
 * The names under which the style sheet colours what was found.
 */
const FOUND = 'hdsp-agent-found';
const CURRENT = 'hdsp-agent-found-current';

/**
 * So many places are coloured; a letter may be in a conversation very often.
 */
const MOST = 2_000;

/**
 * Where a new line begins, across which nothing is found.
 */
const BLOCKS = 'p, li, td, th, pre, dd, dt, h1, h2, h3, h4, h5, h6, div';

/**
 * What is on the page for the person to press, and none of the conversation.
 */
const TOOLS = 'button, [role="status"], .jp-hdspAgent-code-bar';

/**
 * What hides a part of a row until somebody wants to see it.
 */
const FOLDED =
  '.jp-hdspAgent-chat-fold-summary[aria-expanded="false"],' +
  '.jp-hdspAgent-bounded-more[aria-expanded="false"]';

/**
 * Marks the words that were found in the rows on the page.
 *
 * #### Notes
 * The browser colours them without any change of the page, so that neither
 * React nor what was rendered from Markdown minds. A browser that cannot do that
 * still shows which row it is.
 */
export class WordHighlights implements IDisposable {
  /**
   * @param box - What holds the rows.
   */
  constructor(box: HTMLElement) {
    this._box = box;
    this._observer = new MutationObserver(() => this._request());
    this._observer.observe(box, {
      childList: true,
      characterData: true,
      subtree: true
    });
  }

  /**
   * Whether this is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Leave the page as it was.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._observer.disconnect();
    cancelAnimationFrame(this._frame);
    this._clear();
  }

  /**
   * Mark a text wherever it is, and the row one is at.
   */
  show(text: string, row: number | null): void {
    this._text = text;
    this._row = row;
    this._isRevealing = false;
    this._update();
  }

  /**
   * Bring the words of the row one is at into sight, also where they are folded.
   */
  reveal(): void {
    this._isRevealing = true;
    this._update();
  }

  private _request(): void {
    cancelAnimationFrame(this._frame);
    this._frame = requestAnimationFrame(() => this._update());
  }

  private _update(): void {
    this._clear();
    const pattern = patternOf(this._text);
    if (pattern === null) {
      return;
    }
    const found: Range[] = [];
    const current: Range[] = [];
    for (const row of this._box.querySelectorAll<HTMLElement>('[data-ts]')) {
      const isCurrent = row.dataset.ts === String(this._row);
      const ranges = rangesIn(row, pattern, MOST - found.length);
      (isCurrent ? current : found).push(...ranges);
      if (isCurrent) {
        row.dataset.found = 'true';
        this._revealIn(row, ranges);
      }
    }
    // Of jsdom and of older browsers it is not.
    const { highlights } = globalThis.CSS ?? {};
    highlights?.set(FOUND, new Highlight(...found));
    highlights?.set(CURRENT, new Highlight(...current));
  }

  private _revealIn(row: HTMLElement, ranges: readonly Range[]): void {
    if (!this._isRevealing) {
      return;
    }
    if (ranges.length > 0) {
      this._isRevealing = false;
      scrollTo(this._box, ranges[0]);
      return;
    }
    const folds = row.querySelectorAll<HTMLElement>(FOLDED);
    folds.forEach(fold => fold.click());
    this._isRevealing = folds.length > 0;
  }

  private _clear(): void {
    globalThis.CSS?.highlights?.delete(FOUND);
    globalThis.CSS?.highlights?.delete(CURRENT);
    for (const row of this._box.querySelectorAll<HTMLElement>('[data-found]')) {
      delete row.dataset.found;
    }
  }

  private readonly _box: HTMLElement;
  private readonly _observer: MutationObserver;
  private _text = '';
  private _row: number | null = null;
  private _frame = 0;
  private _isRevealing = false;
  private _isDisposed = false;
}

/**
 * Where a text is in a row.
 */
export function rangesIn(
  row: HTMLElement,
  pattern: RegExp,
  most: number
): Range[] {
  const nodes: { node: Text; start: number }[] = [];
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  let all = '';
  let block: Element | null = null;
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const parent = node.parentElement;
    if (parent === null || parent.closest(TOOLS)) {
      continue;
    }
    const around = parent.closest(BLOCKS);
    if (around !== block) {
      all += '\n';
      block = around;
    }
    nodes.push({ node, start: all.length });
    all += node.data;
  }
  const ranges: Range[] = [];
  for (const match of all.matchAll(pattern)) {
    if (ranges.length >= most) {
      break;
    }
    const range = document.createRange();
    const begin = at(nodes, match.index);
    const end = at(nodes, match.index + match[0].length - 1);
    range.setStart(begin.node, match.index - begin.start);
    range.setEnd(end.node, match.index + match[0].length - end.start);
    ranges.push(range);
  }
  return ranges;
}

/**
 * What finds a text as the server does: capitals make no difference, nor does
 * how much space is between words. `null` if there is nothing to find.
 */
export function patternOf(text: string): RegExp | null {
  const words = text
    .trim()
    .split(/\s+/)
    .filter(word => word !== '');
  return words.length === 0
    ? null
    : new RegExp(
        words
          .map(word => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
          .join('[^\\S\\n]+'),
        'giu'
      );
}

function at(
  nodes: readonly { node: Text; start: number }[],
  place: number
): { node: Text; start: number } {
  let index = nodes.length - 1;
  while (nodes[index].start > place) {
    index -= 1;
  }
  return nodes[index];
}

/**
 * Scroll to a place, if it is not in sight.
 */
function scrollTo(box: HTMLElement, range: Range): void {
  const place = range.getBoundingClientRect();
  const view = box.getBoundingClientRect();
  if (place.top < view.top || place.bottom > view.bottom) {
    box.scrollTop += place.top - view.top - view.height / 3;
  }
}

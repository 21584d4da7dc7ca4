/**
 * A Markdown text in blocks that can be rendered each for itself.
 *
 * #### Notes
 * While a text streams in, only its last block grows: those before it are
 * rendered once, and never again.
 */
export interface IMarkdownBlocks {
  readonly text: string;
  readonly blocks: readonly string[];
}

/**
 * Cut a Markdown text into blocks, taking over those of the text it continues.
 *
 * #### Notes
 * A block ends where a blank line is followed by something that cannot belong
 * to it. Lists stay whole, and so do fenced code, formulas and HTML elements.
 */
export function markdownBlocks(
  text: string,
  before: IMarkdownBlocks | null = null
): IMarkdownBlocks {
  if (before?.text === text) {
    return before;
  }
  if (DEFINITION.test(text)) {
    // What is defined may be used anywhere.
    return { text, blocks: [text] };
  }
  const continues =
    before !== null &&
    text.startsWith(before.text) &&
    !DEFINITION.test(before.text);
  const kept = continues ? before.blocks.slice(0, -1) : [];
  const start = kept.reduce((length, block) => length + block.length, 0);
  return { text, blocks: [...kept, ...split(text.slice(start))] };
}

/**
 * Whether a block is fenced code that has not ended.
 */
export function isOpenFence(block: string): boolean {
  const state = new BlockState();
  block.split('\n').forEach(line => state.take(line));
  return state.isInFence && FENCE.test(block.trimStart());
}

const DEFINITION = /^ {0,3}\[[^\]\n]+\]:\s*\S/m;
const FENCE = /^\s*(`{3,}|~{3,})/;
const LIST = /^([-*+]|\d{1,9}[.)])(\s|$)/;

// What may yet become an item of a list, at the end of a text that grows.
const PERHAPS_LIST = /^([-*+]|\d{1,9})$/;
const ELEMENT = /^<([a-z][\w-]*)/i;

function split(text: string): string[] {
  const blocks: string[] = [];
  let state = new BlockState();
  let start = 0;
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length : end + 1;
    const line = text.slice(at, next).replace(/\r?\n$/, '');
    if (at > start && state.endsBefore(line, text.slice(start, at))) {
      blocks.push(text.slice(start, at));
      start = at;
      state = new BlockState();
    }
    state.take(line);
    at = next;
  }
  return [...blocks, text.slice(start)];
}

/**
 * What is known of a block after some of its lines.
 */
class BlockState {
  get isInFence(): boolean {
    return this._fence !== null;
  }

  take(line: string): void {
    this._first ??= line.trim() === '' ? null : line;
    this._isBlank = line.trim() === '';
    const fence = FENCE.exec(line)?.[1];
    if (this._fence !== null) {
      if (fence?.startsWith(this._fence) && line.trim() === fence) {
        this._fence = null;
      }
    } else if (fence) {
      this._fence = fence;
    } else if ((line.split('$$').length - 1) % 2 === 1) {
      this._isInFormula = !this._isInFormula;
    }
  }

  /**
   * Whether a line belongs to the next block.
   */
  endsBefore(line: string, block: string): boolean {
    if (this._fence !== null || this._isInFormula || !this._isBlank) {
      return false;
    }
    if (this._first === null || line.trim() === '' || /^\s/.test(line)) {
      return false;
    }
    if (LIST.test(this._first)) {
      return !LIST.test(line) && !PERHAPS_LIST.test(line);
    }
    const element = ELEMENT.exec(this._first)?.[1];
    return !element || block.includes(`</${element}>`);
  }

  private _first: string | null = null;
  private _isBlank = false;
  private _isInFormula = false;
  private _fence: string | null = null;
}

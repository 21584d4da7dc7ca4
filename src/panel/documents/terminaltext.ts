import type { Widget } from '@lumino/widgets';

/**
 * How many lines of a terminal go along.
 */
const MOST_LINES = 200;

/**
 * A tab that may be a terminal; its class is in no package that we use.
 */
interface IMaybeTerminal extends Widget {
  readonly content?: {
    readonly hasSelection?: () => boolean;
    readonly getSelection?: () => string;

    /**
     * The terminal that Lab draws with, which Lab itself keeps to itself.
     */
    readonly _term?: {
      readonly buffer?: {
        readonly active?: {
          readonly length: number;
          getLine(index: number): IBufferLine | undefined;
        };
      };
    };
  } | null;
}

interface IBufferLine {
  /**
   * Whether it goes on the line before.
   */
  readonly isWrapped: boolean;
  translateToString(trimRight: boolean): string;
}

/**
 * Whether a tab is a terminal.
 */
export function isTerminal(widget: Widget | null): boolean {
  const terminal: IMaybeTerminal | null = widget;
  return terminal?.content?.getSelection !== undefined;
}

/**
 * What is selected in a terminal; `null` if nothing is, or it is none.
 */
export function selectionInTerminal(widget: Widget | null): string | null {
  const terminal: IMaybeTerminal | null = widget;
  const content = terminal?.content;
  return content?.hasSelection?.() ? (content.getSelection?.() ?? null) : null;
}

/**
 * The last lines that a terminal shows; `null` if they cannot be read.
 */
export function lastLinesOf(widget: Widget): string | null {
  const terminal: IMaybeTerminal = widget;
  const buffer = terminal.content?._term?.buffer?.active;
  if (!buffer) {
    return null;
  }
  const lines: string[] = [];
  for (let index = 0; index < buffer.length; index++) {
    const line = buffer.getLine(index);
    const text = line?.translateToString(!wraps(buffer.getLine(index + 1)));
    if (line?.isWrapped && lines.length > 0) {
      lines[lines.length - 1] += text ?? '';
    } else {
      lines.push(text ?? '');
    }
  }
  // Below the prompt there is nothing yet.
  const text = lines.join('\n').trimEnd();
  return text.split('\n').slice(-MOST_LINES).join('\n');
}

function wraps(next: IBufferLine | undefined): boolean {
  return next?.isWrapped === true;
}

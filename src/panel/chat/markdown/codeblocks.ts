/**
 * A piece of code in a rendered text, and where its buttons go.
 */
export interface ICodeBlock {
  readonly host: HTMLElement;
  readonly code: string;

  /**
   * As the text names it; empty if it does not.
   */
  readonly language: string;
}

const FRAME = 'jp-hdspAgent-code';
const TOOLS = 'jp-hdspAgent-code-tools';

/**
 * The pieces of code in a rendered text, each in a frame with room for buttons.
 */
export function codeBlocksOf(node: HTMLElement): readonly ICodeBlock[] {
  return [...node.querySelectorAll('pre')]
    .filter(pre => pre.querySelector(':scope > code') !== null)
    .map(pre => ({
      host: roomOf(pre),
      code: (pre.textContent ?? '').replace(/\n$/, ''),
      language:
        /(?:^|\s)language-(\S+)/.exec(
          pre.querySelector('code')?.className ?? ''
        )?.[1] ?? ''
    }));
}

function roomOf(pre: HTMLPreElement): HTMLElement {
  const frame = pre.parentElement;
  const before = frame?.matches(`.${FRAME}`)
    ? frame.querySelector<HTMLElement>(`:scope > .${TOOLS}`)
    : null;
  if (before) {
    return before;
  }
  const around = document.createElement('div');
  around.className = FRAME;
  const tools = document.createElement('div');
  tools.className = TOOLS;
  pre.replaceWith(around);
  // Wide code is scrolled, with the keyboard too.
  pre.tabIndex = 0;
  around.append(tools, pre);
  return tools;
}

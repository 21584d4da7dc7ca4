import { DRAWN } from '../diagrams/diagrams';

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

  /**
   * What is around the code and its buttons, the code, and what is below it.
   */
  readonly frame: HTMLElement;
  readonly pre: HTMLElement;
  readonly foot: HTMLElement;
}

const FRAME = 'jp-hdspAgent-code';
const TOOLS = 'jp-hdspAgent-code-tools';
const FOOT = 'jp-hdspAgent-code-foot';

/**
 * The pieces of code in a rendered text, each in a frame with room for buttons.
 */
export function codeBlocksOf(node: HTMLElement): readonly ICodeBlock[] {
  return [...node.querySelectorAll('pre')]
    .filter(
      pre =>
        pre.querySelector(':scope > code') !== null &&
        pre.closest(DRAWN) === null
    )
    .map(pre => ({
      ...frameOf(pre),
      pre,
      code: (pre.textContent ?? '').replace(/\n$/, ''),
      language:
        /(?:^|\s)language-(\S+)/.exec(
          pre.querySelector('code')?.className ?? ''
        )?.[1] ?? ''
    }));
}

function frameOf(
  pre: HTMLPreElement
): Pick<ICodeBlock, 'frame' | 'host' | 'foot'> {
  const parent = pre.parentElement;
  if (parent?.matches(`.${FRAME}`)) {
    const host = parent.querySelector<HTMLElement>(`:scope > .${TOOLS}`);
    const foot = parent.querySelector<HTMLElement>(`:scope > .${FOOT}`);
    if (host && foot) {
      return { frame: parent, host, foot };
    }
  }
  const [frame, host, foot] = [made(FRAME), made(TOOLS), made(FOOT)] as const;
  pre.replaceWith(frame);
  // Wide code is scrolled, with the keyboard too.
  pre.tabIndex = 0;
  frame.append(host, pre, foot);
  return { frame, host, foot };
}

function made(className: string): HTMLElement {
  const node = document.createElement('div');
  node.className = className;
  return node;
}

import type { IMarkdownParser } from '@jupyterlab/rendermime';

/**
 * A parser that leaves the source of diagrams as code.
 *
 * #### Notes
 * Lab's own parser has Mermaid draw them at once, in the page itself. It knows
 * them by what a fence is said to hold. That word is taken out of every line
 * that could be a fence, whatever else is on it, and put back into what was
 * rendered: no second opinion of what Markdown is can differ from Lab's.
 */
export class CodeOnlyParser implements IMarkdownParser {
  constructor(parser: IMarkdownParser) {
    this._parser = parser;
  }

  /**
   * The text as HTML.
   */
  async render(source: string): Promise<string> {
    const words: string[] = [];
    const mark = unusedIn(source);
    const hidden = source.replace(PERHAPS_FENCE, line =>
      line.replace(WORD, word => {
        words.push(word);
        return `${mark}${lettersOf(words.length - 1)}`;
      })
    );
    const html = await this._parser.render(hidden);
    return words.length === 0
      ? html
      : html.replace(
          new RegExp(`${mark}([a-j]+)z`, 'gi'),
          (found, letters) =>
            // Nothing else is made of such a mark.
            words[numberOf(String(letters))] ?? found
        );
  }

  private readonly _parser: IMarkdownParser;
}

const WORD = /mermaid/gi;
const PERHAPS_FENCE = /(?:`{3}|~{3})[^\n\r]*/g;

const A = 'a'.charCodeAt(0);

/**
 * A number in letters only, so that it stays one word in every language.
 */
function lettersOf(index: number): string {
  const digits = [...String(index)].map(digit =>
    String.fromCharCode(A + Number(digit))
  );
  return `${digits.join('')}z`;
}

function numberOf(letters: string): number {
  const digits = [...letters.toLowerCase()].map(
    letter => letter.charCodeAt(0) - A
  );
  return Number(digits.join(''));
}

/**
 * A word that is not in the text.
 */
function unusedIn(text: string): string {
  const small = text.toLowerCase();
  for (;;) {
    const random = crypto.getRandomValues(new Uint8Array(16));
    const word = [...random]
      .map(byte => String.fromCharCode(A + 10 + (byte % 15)))
      .join('');
    if (!small.includes(word)) {
      return word;
    }
  }
}

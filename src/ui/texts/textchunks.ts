/**
 * A text in pieces, each of which but the last never changes again.
 *
 * #### Notes
 * A browser lays a whole paragraph out anew when a word is added to it. Text
 * that streams in is therefore shown as a list of blocks, of which only the
 * last one grows.
 */
export interface IChunkedText {
  readonly text: string;
  readonly chunks: readonly string[];
}

/**
 * A chunk ends at the first line break after this many characters.
 */
export const CHUNK_LENGTH = 1_000;

/**
 * Cut a text into chunks, taking over those of the text it continues.
 */
export function chunked(
  text: string,
  before: IChunkedText | null
): IChunkedText {
  if (before?.text === text) {
    return before;
  }
  const continued = before !== null && text.startsWith(before.text);
  const chunks = continued ? before.chunks.slice(0, -1) : [];
  let start = chunks.reduce((total, chunk) => total + chunk.length, 0);
  for (;;) {
    const lineBreak = text.indexOf('\n', start + CHUNK_LENGTH);
    // The break belongs to the chunk it ends, and only one with a text after
    // it is one: the last chunk is never empty, unless the text is.
    if (lineBreak === -1 || lineBreak === text.length - 1) {
      break;
    }
    chunks.push(Private.copy(text.slice(start, lineBreak + 1)));
    start = lineBreak + 1;
  }
  chunks.push(Private.copy(text.slice(start)));
  return { text, chunks };
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The same string in memory of its own.
   *
   * #### Notes
   * Engines keep a slice as a view of the whole text. Each chunk, and what was
   * shown of it last, would hold on to the text as it was then, and a long
   * answer would cost the square of its length.
   */
  export function copy(slice: string): string {
    return JSON.parse(JSON.stringify(slice)) as string;
  }
}

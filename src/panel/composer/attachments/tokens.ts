/**
 * How many bytes of a text make a token, on average; the server reckons with the
 * same.
 */
const BYTES_PER_TOKEN = 4;

/**
 * About how many tokens a text is.
 */
export function tokensOf(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN);
}

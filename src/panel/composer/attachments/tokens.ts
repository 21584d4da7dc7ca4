import type { AttachmentTokensView } from '../../../generated/rest';
import type { IDraft } from '../../../state/panel/panelstate';

/**
 * How many bytes of a text make a token, on average, and how many tokens an
 * image; the server reckons with the same.
 */
const BYTES_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 1_844;

/**
 * About how many tokens go along with a message, as far as this page knows it.
 */
export function estimatedTokens({
  attachments,
  images
}: IDraft): AttachmentTokensView {
  const about = (tokens: number) => ({ tokens, isExact: false });
  const each = attachments.map(({ content }) =>
    content === null ? null : about(Private.tokensOf(content))
  );
  const pictures = images.map(() => about(TOKENS_PER_IMAGE));
  return {
    total: about(
      [...each, ...pictures].reduce((sum, one) => sum + (one?.tokens ?? 0), 0)
    ),
    isPartial: each.includes(null),
    attachments: each,
    images: pictures
  };
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function tokensOf(text: string): number {
    return Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN);
  }
}

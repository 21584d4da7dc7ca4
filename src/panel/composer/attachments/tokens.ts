import type {
  AttachmentTokensView,
  TokenCountView
} from '../../../generated/rest';
import type { IDraft } from '../../../state/panel/panelstate';

/**
 * How many bytes of a text make a token, on average, and how many tokens an
 * image; the server reckons with the same.
 */
const BYTES_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 1_844;

/**
 * What was counted of a draft.
 */
export interface ICountedDraft extends Pick<IDraft, 'attachments' | 'images'> {
  /**
   * The conversation it was of; `null` before that has begun.
   */
  readonly taskId: string | null;
  readonly counted: AttachmentTokensView;
}

/**
 * About how many tokens go along with a message, as far as this page knows it.
 *
 * @param draft - What goes along, and the text that mentions more.
 *
 * @param last - What was counted before: what is still there takes as much, and
 * what the text mentions too.
 */
export function estimatedTokens(
  { attachments, images, text }: IDraft,
  last: ICountedDraft | null
): AttachmentTokensView {
  const about = (tokens: number) => ({ tokens, isExact: false });
  const each = attachments.map(attachment => {
    const known =
      last?.counted.attachments[last.attachments.indexOf(attachment)];
    const { content } = attachment;
    return (
      known ?? (content === null ? null : about(Private.tokensOf(content)))
    );
  });
  const pictures = images.map(
    image =>
      last?.counted.images[last.images.indexOf(image)] ??
      about(TOKENS_PER_IMAGE)
  );
  const mentions = text && last ? last.counted : null;
  const mentioned = mentions
    ? mentions.total.tokens -
      Private.sum([...mentions.attachments, ...mentions.images])
    : 0;
  return {
    total: about(Private.sum([...each, ...pictures]) + Math.max(0, mentioned)),
    isPartial:
      each.includes(null) ||
      (mentions !== null &&
        mentions.isPartial &&
        !mentions.attachments.includes(null)),
    attachments: each,
    images: pictures
  };
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function sum(counts: readonly (TokenCountView | null)[]): number {
    return counts.reduce((sum, count) => sum + (count?.tokens ?? 0), 0);
  }

  export function tokensOf(text: string): number {
    return Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN);
  }
}

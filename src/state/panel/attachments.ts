import type { Attachment } from '../../generated/wire';
import type { AttachmentKind, IAttachment } from './panelstate';

/**
 * What a message says, apart from what goes along with it.
 */
export interface IComposedText {
  /**
   * The person's own words.
   */
  readonly text: string;

  /**
   * What goes along, in the order it was added.
   */
  readonly attachments: readonly IAttachment[];
}

/**
 * What a message says, and what goes along with it.
 *
 * #### Notes
 * Messages of earlier versions had it at the end of their text.
 */
export function saidIn({
  text = '',
  attachments
}: {
  readonly text?: string;
  readonly attachments?: readonly Attachment[];
}): IComposedText {
  return attachments
    ? { text, attachments: attachments.map(Private.received) }
    : readAttachments(text);
}

/**
 * The part of a request that says what goes along; nothing if nothing does.
 */
export function alongWith(attachments: readonly IAttachment[]): {
  attachments?: Attachment[];
} {
  return attachments.length === 0
    ? {}
    : { attachments: attachments.map(sentAttachment) };
}

/**
 * What goes along with a message, as it is sent.
 */
export function sentAttachment({
  kind,
  path,
  cellId,
  label,
  content
}: IAttachment): Attachment {
  return {
    kind,
    path,
    ...(cellId === null ? {} : { cellId }),
    label: label.slice(0, Private.LONGEST_LABEL),
    ...(content === null ? {} : { content })
  };
}

/**
 * Take the text of a message apart that an earlier version put together: the
 * person's words, then one block for each attachment.
 *
 * #### Notes
 * A line of the content that looks like the end of its block has a backslash
 * more. Only blocks at the very end count: a block within the person's words is
 * something they wrote about.
 */
export function readAttachments(text: string): IComposedText {
  if (!text.endsWith(Private.END)) {
    return { text, attachments: [] };
  }
  const lines = text.split('\n');
  const attachments: IAttachment[] = [];
  let end = lines.length;
  while (end > 0 && lines[end - 1] === Private.END) {
    const begin = Private.beginOf(lines, end - 1);
    const attachment = begin === null ? null : Private.read(lines, begin, end);
    if (begin === null || attachment === null) {
      break;
    }
    attachments.unshift(attachment);
    end = lines[begin - 1] === '' ? begin - 1 : begin;
  }
  return { text: lines.slice(0, end).join('\n'), attachments };
}

/**
 * The value of an attribute of an attachment, such as its label, as it was.
 */
export function unescapeAttribute(value: string): string {
  return Private.unescape(value);
}

/**
 * Whether a value names a kind of attachment.
 */
export function isAttachmentKind(value: unknown): value is AttachmentKind {
  return Private.KINDS.has(value);
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const END = '</attachment>';

  const BEGIN = /^<attachment ((?:[a-zA-Z]+="[^"]*" ?)+)>$/;
  const ATTRIBUTE = /([a-zA-Z]+)="([^"]*)"/g;
  const STUFFED_END = /^\\+<\/attachment>$/;

  export const KINDS: ReadonlySet<unknown> = new Set<AttachmentKind>([
    'cell',
    'selection',
    'output',
    'error',
    'file',
    'variable',
    'table',
    'terminal',
    'conversation',
    'checkpoint',
    'page'
  ]);

  /**
   * How long a name may be that is sent.
   */
  export const LONGEST_LABEL = 1_000;

  export function received({
    kind,
    path,
    cellId,
    label,
    content
  }: Attachment): IAttachment {
    return {
      kind,
      path,
      cellId: cellId ?? null,
      label,
      content: content ?? null
    };
  }

  /**
   * The first line of the block that ends in a line. What looks like a first
   * line within the content is passed over: in front of the right one is
   * nothing, an empty line, or the end of another block.
   */
  export function beginOf(
    lines: readonly string[],
    end: number
  ): number | null {
    let found: number | null = null;
    for (let index = end - 1; index >= 0; index--) {
      const line = lines[index] ?? '';
      if (line === END) {
        break;
      }
      if (BEGIN.test(line) && (index === 0 || lines[index - 1] === '')) {
        found = index;
      }
    }
    return found;
  }

  export function read(
    lines: readonly string[],
    begin: number,
    end: number
  ): IAttachment | null {
    const attributes = new Map(
      [...(lines[begin] ?? '').matchAll(ATTRIBUTE)].map(([, name, value]) => [
        name,
        unescape(value ?? '')
      ])
    );
    const kind = attributes.get('kind');
    return isAttachmentKind(kind)
      ? {
          kind,
          path: attributes.get('path') ?? '',
          cellId: attributes.get('cellId') ?? null,
          label: attributes.get('label') ?? '',
          content: lines
            .slice(begin + 1, end - 1)
            .map(line => (STUFFED_END.test(line) ? line.slice(1) : line))
            .join('\n')
        }
      : null;
  }

  const CHARACTERS: Readonly<Record<string, string>> = {
    '&amp;': '&',
    '&quot;': '"',
    '&lt;': '<',
    '&gt;': '>',
    '&#10;': '\n'
  };

  export function unescape(value: string): string {
    return value.replace(
      /&(?:amp|quot|lt|gt|#10);/g,
      found => CHARACTERS[found] ?? found
    );
  }
}

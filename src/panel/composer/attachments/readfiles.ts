import type { TranslationBundle } from '@jupyterlab/translation';

import type { IAttachment } from '../../../state/panel/panelstate';
import type { IFromCell } from '../../../notebook/cells/cellparts';
import { IMAGE_TYPES } from '../../../ui/imagetypes';
import { LARGEST_BYTES, readPicture } from './pictureupload';

/**
 * How large, in bytes, a text file may be that goes along.
 */
const LARGEST_TEXT = 200_000;

/**
 * What files from the person's computer became.
 */
export interface IReadFiles extends IFromCell {
  /**
   * Why others became nothing, in words.
   */
  readonly refusals: readonly string[];
}

/**
 * Read files that were pasted, dropped or chosen: pictures as pictures, text as
 * attachments.
 */
export async function readFiles(
  files: readonly File[],
  trans: TranslationBundle
): Promise<IReadFiles> {
  const images: string[] = [];
  const attachments: IAttachment[] = [];
  const refusals: string[] = [];
  for (const file of files) {
    const isPicture = file.type.startsWith('image/');
    const read = isPicture
      ? await Private.picture(file, trans)
      : await Private.text(file, trans);
    if ('refusal' in read) {
      refusals.push(read.refusal);
    } else if (isPicture) {
      images.push(read.content);
    } else {
      attachments.push({
        kind: 'file',
        path: file.name,
        cellId: null,
        label: file.name,
        content: read.content
      });
    }
  }
  return { images, attachments, refusals };
}

/**
 * A namespace for private data.
 */
namespace Private {
  type Read = { readonly content: string } | { readonly refusal: string };

  export async function picture(
    file: File,
    trans: TranslationBundle
  ): Promise<Read> {
    if (!IMAGE_TYPES.includes(file.type)) {
      return {
        refusal: trans.__(
          '“%1” is not attached: images can be PNG, JPEG, WebP or GIF.',
          file.name
        )
      };
    }
    const content = file.size <= LARGEST_BYTES ? await readPicture(file) : null;
    return content === null
      ? {
          refusal: trans.__(
            '“%1” is not attached: the image cannot be read, or is too large even when scaled down.',
            file.name
          )
        }
      : { content };
  }

  export async function text(
    file: File,
    trans: TranslationBundle
  ): Promise<Read> {
    if (file.size > LARGEST_TEXT) {
      return {
        refusal: trans.__(
          '“%1” is not attached: it is larger than %2 kB. Upload it in the file browser, then mention it here with @.',
          file.name,
          LARGEST_TEXT / 1000
        )
      };
    }
    try {
      const bytes = await file.arrayBuffer();
      const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      if (!content.includes('\0')) {
        return { content };
      }
    } catch {
      // It is no text, as is said below.
    }
    return {
      refusal: trans.__(
        '“%1” is not attached: it is neither text nor an image. Upload it in the file browser, then mention it here with @.',
        file.name
      )
    };
  }
}

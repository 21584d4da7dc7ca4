import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * Names or counts one after the other, as the language of the panel lists them.
 */
export function listText(
  items: readonly string[],
  trans: TranslationBundle
): string {
  return items.join(trans._p('between the items of a list', ', '));
}

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ClineMessage } from '../../generated/wire';
import { costText } from '../../ui/texts/formats';
import { plainName } from '../../ui/texts/visibletext';
import { limitOf } from './askcontent';

/**
 * Why the agent stopped after mistakes; an older question says it in words of
 * its own.
 */
export function mistakesText(
  { halt, text }: Pick<ClineMessage, 'halt' | 'text'>,
  trans: TranslationBundle
): string {
  return halt?.kind === 'repetition'
    ? trans.__(
        'The model keeps calling “%1” in the same way.',
        plainName(halt.tool ?? '')
      )
    : halt || !text
      ? trans.__('The model keeps making mistakes.')
      : text;
}

/**
 * Which limit of what is done without asking was reached.
 */
export function limitText(
  text: string | undefined,
  trans: TranslationBundle
): string {
  const { type, count } = limitOf(text);
  const number = Number(count);
  return type === 'cost'
    ? trans.__('The agent reached your cost limit (%1).', costText(number))
    : trans._n(
        'The agent reached your limit of %1 request.',
        'The agent reached your limit of %1 requests.',
        number
      );
}

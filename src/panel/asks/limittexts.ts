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
        'The model keeps using the tool “%1” in the same way.',
        plainName(halt.tool ?? '')
      )
    : halt || !text
      ? trans.__('The model makes one mistake after the other.')
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
    ? trans.__(
        'The agent has spent the %1 you allow it at a time.',
        costText(number)
      )
    : trans._n(
        'The agent has made the %1 request you allow it at a time.',
        'The agent has made the %1 requests you allow it at a time.',
        number
      );
}

import type { TranslationBundle } from '@jupyterlab/translation';

import { costText } from '../figures';
import { limitOf } from './texts';

/**
 * Why the agent stopped after mistakes, by the text of its question.
 */
export function mistakesText(
  text: string | undefined,
  trans: TranslationBundle
): string {
  const [, tool] = REPEATED.exec(text ?? '') ?? [];
  if (tool !== undefined) {
    return trans.__(
      'The model keeps using the tool “%1” in the same way.',
      tool
    );
  }
  return !text || IN_A_ROW.test(text)
    ? trans.__('The model makes one mistake after the other.')
    : text;
}

/**
 * What the server says. What else it may say is shown as it is.
 */
const REPEATED = /^The model keeps calling (\S+) in the same way\./;
const IN_A_ROW = /^The model makes one mistake after the other\./;

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

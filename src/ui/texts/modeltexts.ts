import type { TranslationBundle } from '@jupyterlab/translation';

import type { ModelEntry } from '../../generated/rest';
import { fullCount, language, shortCount } from './formats';

/**
 * What is known of a model's size and price.
 */
export type ModelFigures = Pick<
  ModelEntry,
  'contextWindow' | 'inputPrice' | 'outputPrice'
>;

/**
 * A model's id without what its maker or a folder puts before it.
 */
export function shortModelName(id: string): string {
  return id.split(/[/\\]/).filter(Boolean).at(-1) ?? id;
}

/**
 * A model's window and price in few characters.
 */
export function shortFigures(
  trans: TranslationBundle,
  { contextWindow, inputPrice, outputPrice }: ModelFigures
): string {
  const price =
    inputPrice === undefined || outputPrice === undefined
      ? trans.__('price unknown')
      : inputPrice === 0 && outputPrice === 0
        ? trans.__('free')
        : trans.__(
            '%1 in, %2 out',
            priceText(inputPrice),
            priceText(outputPrice)
          );
  return contextWindow === undefined
    ? price
    : `${shortCount(contextWindow)} · ${price}`;
}

/**
 * A model's window and price in sentences.
 */
export function fullFigures(
  trans: TranslationBundle,
  { contextWindow, inputPrice, outputPrice }: ModelFigures
): string {
  const window =
    contextWindow === undefined
      ? trans.__('Context window unknown.')
      : trans.__('Context window: %1 tokens.', fullCount(contextWindow));
  const price =
    inputPrice === undefined || outputPrice === undefined
      ? trans.__('Price unknown.')
      : inputPrice === 0 && outputPrice === 0
        ? trans.__('Free of charge.')
        : trans.__(
            'Price per million tokens: %1 in, %2 out.',
            priceText(inputPrice),
            priceText(outputPrice)
          );
  return `${window} ${price}`;
}

/**
 * A price for a million tokens.
 */
function priceText(price: number): string {
  return new Intl.NumberFormat(language(), {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: Number.isInteger(price) ? 0 : 2,
    maximumFractionDigits: 3
  }).format(price);
}

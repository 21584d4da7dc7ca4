import type { TranslationBundle } from '@jupyterlab/translation';

const KILOBYTE = 1024;
const SMALLEST_COST = 0.01;

/**
 * The language Lab is in, which need not be the browser's; numbers and times
 * are written as it does.
 */
export function language(): string | undefined {
  // Lab says so once it has loaded its translations, and reads it here itself.
  return document.documentElement.lang || undefined;
}

/**
 * A number of tokens in few characters, such as 12K.
 *
 * #### Notes
 * The same in all languages, as providers write the windows of their models: what
 * is counted by ten thousands, such as 1.9만, is hard to compare with 128K.
 */
export function shortCount(count: number): string {
  return new Intl.NumberFormat('en', {
    notation: 'compact',
    maximumFractionDigits: 1
  }).format(count);
}

/**
 * A number with all its digits.
 */
export function fullCount(count: number): string {
  return new Intl.NumberFormat(language()).format(count);
}

/**
 * An amount of US dollars; tiny ones keep the digits that tell them from nothing.
 */
export function costText(cost: number): string {
  const isTiny = cost > 0 && cost < SMALLEST_COST;
  return new Intl.NumberFormat(language(), {
    style: 'currency',
    currency: 'USD',
    ...(isTiny ? { maximumSignificantDigits: 2 } : {})
  }).format(cost);
}

/**
 * What tokens cost. If they seem to have cost nothing, nobody knows their price,
 * unless they are free.
 */
export function spendingText(
  trans: TranslationBundle,
  {
    cost,
    tokens,
    isFree
  }: {
    readonly cost: number;
    readonly tokens: number;
    readonly isFree: boolean;
  }
): string {
  if (cost > 0 || tokens === 0) {
    return costText(cost);
  }
  return isFree ? trans.__('free') : trans.__('unknown');
}

/**
 * A share between 0 and 1 in percent.
 */
export function percentText(share: number): string {
  return new Intl.NumberFormat(language(), { style: 'percent' }).format(share);
}

/**
 * A size in the unit that suits it.
 */
export function sizeText(bytes: number, trans: TranslationBundle): string {
  const number = new Intl.NumberFormat(language(), {
    maximumFractionDigits: 1
  });
  if (bytes < KILOBYTE) {
    return trans._n('%1 byte', '%1 bytes', bytes);
  }
  if (bytes < KILOBYTE ** 2) {
    return trans.__('%1 kB', number.format(bytes / KILOBYTE));
  }
  if (bytes < KILOBYTE ** 3) {
    return trans.__('%1 MB', number.format(bytes / KILOBYTE ** 2));
  }
  return trans.__('%1 GB', number.format(bytes / KILOBYTE ** 3));
}

/**
 * A moment, as the reader's language writes date and time.
 */
export function dateTimeText(ts: number): string {
  return new Intl.DateTimeFormat(language(), {
    dateStyle: 'medium',
    timeStyle: 'short'
  }).format(ts);
}

/**
 * A day given as YYYY-MM-DD, as the reader's language writes it; anything else
 * as it is.
 */
export function dayText(day: string): string {
  const ts = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(ts)
    ? day
    : new Intl.DateTimeFormat(language(), {
        dateStyle: 'medium',
        timeZone: 'UTC'
      }).format(ts);
}

/**
 * A length of time as people say it.
 */
export function durationText(
  trans: TranslationBundle,
  milliseconds: number
): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) {
    return whole(trans.__('%1 s', fullCount(Math.round(seconds * 10) / 10)));
  }
  if (seconds < 60) {
    return whole(trans.__('%1 s', Math.round(seconds)));
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return whole(trans.__('%1 min %2 s', minutes, Math.floor(seconds % 60)));
  }
  return whole(trans.__('%1 h %2 min', Math.floor(minutes / 60), minutes % 60));
}

/**
 * The same text, with each number on one line with its unit.
 */
export function whole(text: string): string {
  return text.replace(/(\d) (?=\p{L}{1,3}(?!\p{L}))/gu, '$1\u00a0');
}

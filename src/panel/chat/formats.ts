import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * A length of time as people say it.
 */
export function durationText(
  trans: TranslationBundle,
  milliseconds: number
): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) {
    return trans.__('%1 s', (Math.round(seconds * 10) / 10).toLocaleString());
  }
  if (seconds < 60) {
    return trans.__('%1 s', Math.round(seconds));
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return trans.__('%1 min %2 s', minutes, Math.floor(seconds % 60));
  }
  return trans.__('%1 h %2 min', Math.floor(minutes / 60), minutes % 60);
}

/**
 * A number of tokens, short.
 */
export function tokensText(count: number): string {
  if (count < 1_000) {
    return count.toLocaleString();
  }
  const [divided, unit] =
    count < 1_000_000 ? [count / 1_000, 'k'] : [count / 1_000_000, 'M'];
  const digits = divided < 100 ? 1 : 0;
  return `${divided.toLocaleString(undefined, { maximumFractionDigits: digits })}${unit}`;
}

/**
 * What something cost, in dollars.
 */
export function costText(dollars: number): string {
  const digits = dollars >= 1 || dollars === 0 ? 2 : 4;
  return `$${dollars.toLocaleString(undefined, {
    minimumFractionDigits: 2,
    maximumFractionDigits: digits
  })}`;
}

/**
 * A number of characters or lines.
 */
export function countText(count: number): string {
  return count.toLocaleString();
}

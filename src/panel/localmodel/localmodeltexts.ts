import type { TranslationBundle } from '@jupyterlab/translation';

import type { LocalModelView, LocalRuntimeView } from '../../generated/rest';
import {
  durationText,
  fullCount,
  language,
  whole
} from '../../ui/texts/formats';

const MEGABYTE = 1_000_000;

/**
 * An amount of bytes as models are measured: in units of a thousand, as the
 * terminal and the messages of the server have them.
 */
export function bytesText(bytes: number, trans: TranslationBundle): string {
  const written = (amount: number, digits: number) =>
    new Intl.NumberFormat(language(), { maximumFractionDigits: digits }).format(
      amount
    );
  const megabytes = bytes / MEGABYTE;
  return whole(
    megabytes < 1000
      ? trans.__('%1 MB', written(megabytes, megabytes < 10 ? 1 : 0))
      : trans.__('%1 GB', written(megabytes / 1000, 1))
  );
}

/**
 * A number of tokens a second.
 */
function rateText(rate: number): string {
  return fullCount(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate));
}

/**
 * How far the getting of a model is, how fast it goes, and how long it still takes.
 */
export function progressText(
  { done, size, source }: LocalModelView,
  speed: number | null,
  remaining: number | null,
  trans: TranslationBundle
): string {
  if (source === 'check') {
    return trans.__('Verifying the download…');
  }
  const parts = [
    trans.__('%1 of %2', bytesText(done, trans), bytesText(size, trans))
  ];
  if (speed !== null) {
    parts.push(trans.__('%1 a second', bytesText(speed, trans)));
  }
  if (remaining !== null) {
    parts.push(
      trans.__(
        '%1 left',
        durationText(trans, Math.ceil(remaining / 1000) * 1000)
      )
    );
  }
  return parts.join(' · ');
}

/**
 * Where a model is being fetched from.
 */
export function sourceText(
  source: LocalModelView['source'],
  trans: TranslationBundle
): string {
  switch (source) {
    case 'hub':
      return trans.__("From the model's own hub.");
    case 'packages':
      return trans.__(
        'From the package index, in packages that contain only data. They are not installed.'
      );
    case 'disk':
    case 'file':
      return trans.__('From a file that is already on this disk.');
    case 'check':
    case undefined:
      return '';
  }
}

/**
 * What a model this small is good for.
 */
export function canText(trans: TranslationBundle): string {
  return trans.__(
    'Small steps in the open notebook: add a cell and run it, change one and run it, look at cells and variables, answer short questions about them.'
  );
}

/**
 * What it is no good for, plainly.
 */
export function limitsText(trans: TranslationBundle): string {
  return trans.__(
    'Often wrong, and bad at planning. Many files, pictures and long tasks are beyond a model this small. Check what it did before you rely on it.'
  );
}

/**
 * That nothing leaves the machine.
 */
export function privacyText(trans: TranslationBundle): string {
  return trans.__(
    "Runs only on this Jupyter server's machine: what you write and your notebooks stay there. No key, no account, no cost."
  );
}

/**
 * How fast the model was here; empty if nobody has measured it.
 */
export function speedText(
  { readingSpeed, writingSpeed }: LocalRuntimeView,
  trans: TranslationBundle
): string {
  if (readingSpeed !== undefined && writingSpeed !== undefined) {
    return trans.__(
      'It reads %1 and writes %2 tokens a second here.',
      rateText(readingSpeed),
      rateText(writingSpeed)
    );
  }
  return writingSpeed === undefined
    ? ''
    : trans.__('It writes %1 tokens a second here.', rateText(writingSpeed));
}

/**
 * What the model's process does just now.
 */
export function stateText(
  { state, memory, waiting }: LocalRuntimeView,
  trans: TranslationBundle
): string {
  switch (state) {
    case 'stopped':
      return trans.__(
        'Not loaded, so it uses no memory. It starts when you ask it something.'
      );
    case 'starting':
      return trans.__('Starting…');
    case 'ready':
      return memory === undefined
        ? trans.__('Loaded and ready.')
        : trans.__(
            'Loaded and ready. It uses %1 of memory now.',
            bytesText(memory, trans)
          );
    case 'busy':
      return waiting > 0
        ? trans._n(
            'Working. %1 other request is waiting.',
            'Working. %1 other requests are waiting.',
            waiting
          )
        : memory === undefined
          ? trans.__('Working.')
          : trans.__(
              'Working. It uses %1 of memory now.',
              bytesText(memory, trans)
            );
  }
}

import type { TranslationBundle } from '@jupyterlab/translation';

import type { LocalModelView, LocalRuntimeView } from '../../generated/rest';
import {
  durationText,
  fullCount,
  language,
  percentText,
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
  model: LocalModelView,
  trans: TranslationBundle
): string {
  switch (model.source) {
    case 'hub':
      return trans.__("From the model's own hub.");
    case 'packages':
      return trans.__(
        'From packages on the package index that hold its weights (%1). They are not installed.',
        packagesOf(model)
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
 * Where a model comes from, plainly: packages are named for what they are.
 */
export function originText(
  model: LocalModelView,
  trans: TranslationBundle
): string {
  const hub = model.sources.find(source => source.kind === 'hub');
  const packages = packagesOf(model);
  const parts = [
    hub && trans.__('%1 on the hub, commit %2', hub.repository, hub.revision),
    packages !== '' &&
      trans.__(
        'packages on the package index that hold its weights (%1)',
        packages
      )
  ];
  return parts.filter(Boolean).join('; ');
}

function packagesOf({ sources }: LocalModelView): string {
  const packages = sources.find(source => source.kind === 'packages');
  return packages === undefined
    ? ''
    : packages.package.replace('{n}', `1…${packages.count}`);
}

/**
 * In a line, what a model can do, and how much it was seen to do.
 */
export function abilityText(
  { ability, heldOut }: Pick<LocalModelView, 'ability' | 'heldOut'>,
  trans: TranslationBundle
): string {
  const line = {
    small: trans.__(
      'Small steps in the open notebook: add a cell and run it, change one, look at variables, answer short questions. Often wrong: check what it did.'
    ),
    larger: trans.__(
      'The same small steps as the smaller model, right more often. Still wrong at times: check what it did.'
    ),
    unknown: trans.__('Nobody has tried it with this agent. Check what it did.')
  }[ability];
  return heldOut === undefined
    ? line
    : `${line} ${trans.__(
        'Of %1 tasks it had never seen, it did %2 right.',
        fullCount(heldOut.of),
        percentText(heldOut.done / 100)
      )}`;
}

/**
 * What tells a model from others that one may choose.
 */
export function choiceText(
  { name, size, memory, heldOut }: LocalModelView,
  trans: TranslationBundle
): string {
  const [disk, room] = [bytesText(size, trans), bytesText(memory, trans)];
  return heldOut === undefined
    ? trans.__('%1: %2 on disk, about %3 of memory', name, disk, room)
    : trans.__(
        '%1: %2 of new tasks right; %3 on disk, about %4 of memory',
        name,
        percentText(heldOut.done / 100),
        disk,
        room
      );
}

/**
 * What it can do, in a few words.
 */
export function shortAbilityText(
  ability: LocalModelView['ability'],
  trans: TranslationBundle
): string {
  return {
    small: trans.__('small, often wrong'),
    larger: trans.__('small, sometimes wrong'),
    unknown: trans.__('not tested with this agent')
  }[ability];
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

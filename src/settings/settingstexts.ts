import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSONValue } from '@lumino/coreutils';
import { JSONExt } from '@lumino/coreutils';

import { errorText } from '../errors';
import type { ImportItem, ModelEntry } from '../generated/rest';
import type { SecretPresence, SecretStorageStatus } from '../generated/wire';
import { fullCount } from '../ui/texts/formats';
import { listText } from '../ui/texts/listtext';

import type { IField } from './fields/fields';
import type { SaveStatus } from './fields/fieldform';
import { choiceKey, formatValue } from './fields/fieldvalues';

/**
 * A value as people read it.
 */
export function valueText(
  trans: TranslationBundle,
  field: IField,
  value: JSONValue
): string {
  const choice = field.choices.find(one => JSONExt.deepEqual(one.value, value));
  if (choice) {
    return choice.title;
  }
  if (value === true) {
    return trans.__('on');
  }
  if (value === false) {
    return trans.__('off');
  }
  if (value === null || value === '') {
    return trans.__('not set');
  }
  if (Array.isArray(value)) {
    return valuesText(trans, field, value);
  }
  return typeof value === 'object' && Object.keys(value).length === 0
    ? trans.__('empty')
    : formatValue(field, value);
}

function valuesText(
  trans: TranslationBundle,
  field: IField,
  values: readonly JSONValue[]
): string {
  if (values.length === 0) {
    return trans.__('empty');
  }
  if (field.kind === 'choices' && values.length === field.choices.length) {
    return trans.__('all');
  }
  const titles = new Map(
    field.choices.map(({ value, title }) => [choiceKey(value), title])
  );
  const names = values.map(choiceKey).map(key => titles.get(key) ?? key);
  return listText(names, trans);
}

/**
 * What a field accepts, where that is not plain to see.
 */
export function boundsText(trans: TranslationBundle, field: IField): string {
  const { kind, minimum, maximum } = field;
  if (kind === 'lines') {
    return trans.__('One per line');
  }
  if (kind === 'json') {
    return trans.__('Written as JSON');
  }
  if (kind !== 'integer' && kind !== 'number') {
    return '';
  }
  if (minimum !== null && maximum !== null) {
    return trans.__('From %1 to %2', minimum, maximum);
  }
  if (minimum !== null) {
    return trans.__('At least %1', minimum);
  }
  return maximum === null ? '' : trans.__('At most %1', maximum);
}

/**
 * How a field stands, in a word.
 */
export function statusText(
  trans: TranslationBundle,
  status: SaveStatus
): string {
  switch (status) {
    case 'saving':
      return trans.__('Saving…');
    case 'saved':
      return trans.__('Saved');
    case 'failed':
      return trans.__('Not saved');
    case 'waiting':
    case 'idle':
      return '';
  }
}

/**
 * What is known of a model, in one line.
 */
export function modelText(trans: TranslationBundle, model: ModelEntry): string {
  const { contextWindow, inputPrice, outputPrice } = model;
  const parts = [];
  if (contextWindow !== undefined) {
    parts.push(
      trans.__('context window of %1 tokens', fullCount(contextWindow))
    );
  }
  if (inputPrice === undefined || outputPrice === undefined) {
    parts.push(trans.__('price unknown'));
  } else if (inputPrice === 0 && outputPrice === 0) {
    parts.push(trans.__('free'));
  } else {
    parts.push(
      trans.__(
        'US$ %1 in, US$ %2 out per million tokens',
        fullCount(inputPrice),
        fullCount(outputPrice)
      )
    );
  }
  if (model.deprecated) {
    parts.push(trans.__('no longer offered to new users'));
  }
  return parts.join(' · ');
}

/**
 * What is known of a key.
 */
export function keySourceText(
  trans: TranslationBundle,
  status: SecretPresence
): string {
  if (!status.present) {
    return trans.__('No key');
  }
  const { last4: end, variable = '' } = status;
  switch (status.source) {
    case 'environment':
      return end
        ? trans.__('From the variable %1, ends in …%2', variable, end)
        : trans.__('From the variable %1', variable);
    case 'operator':
      return trans.__('Provided by your administrator');
    case 'keyring':
      return end
        ? trans.__('Saved, ends in …%1, kept in the system keyring', end)
        : trans.__('Saved, kept in the system keyring');
    case 'encrypted-file':
      return end
        ? trans.__('Saved, ends in …%1, kept in an encrypted file', end)
        : trans.__('Saved, kept in an encrypted file');
    case 'file':
      return end
        ? trans.__('Saved, ends in …%1, kept in a file only you can read', end)
        : trans.__('Saved, kept in a file only you can read');
    case 'memory':
      return end
        ? trans.__('Ends in …%1, kept in memory until Jupyter stops', end)
        : trans.__('Kept in memory until Jupyter stops');
    default:
      return end ? trans.__('Saved, ends in …%1', end) : trans.__('Saved');
  }
}

/**
 * Why a key that is there is not used at the profile's address.
 */
export function otherAddressText(
  trans: TranslationBundle,
  { present, givenFor, variable = '' }: SecretPresence
): string {
  if (!present) {
    return trans.__(
      'The key in the environment variable %1 goes only to %2. Type a key for this address.',
      variable,
      givenFor ?? ''
    );
  }
  return givenFor
    ? trans.__('Enter the key again. The saved key is for %1.', givenFor)
    : trans.__(
        "Enter the key again. We can't tell which address the saved key is for."
      );
}

/**
 * Where keys are kept, in a sentence.
 */
export function storageText(
  trans: TranslationBundle,
  storage: SecretStorageStatus
): string {
  switch (storage.kind) {
    case 'keyring':
      return trans.__('Keys are kept in the system keyring of this server.');
    case 'encrypted-file':
      return trans.__(
        'Keys are kept in a file encrypted with a passphrase that is not stored.'
      );
    case 'file':
      return trans.__(
        'Keys are kept unencrypted in a file that only your account can read.'
      );
    case 'memory':
      return trans.__('Keys are kept in memory until Jupyter stops.');
    default:
      return trans.__('No place to keep keys is available yet.');
  }
}

/**
 * Why a value of an imported file was left out or changed.
 */
export function importText(trans: TranslationBundle, item: ImportItem): string {
  switch (item.code) {
    case 'unknown':
      return trans.__('This setting does not exist here.');
    case 'invalid':
      return trans.__('It has the wrong format.');
    case 'provider_retired':
    case 'provider_unknown':
      return trans.__(
        'This provider is not offered here. Choose another one for the profile.'
      );
    case 'not_transferred':
      return trans.__('This is set on each machine.');
    case 'project_mode':
      return trans.__('It belongs to a project and is not imported.');
    case 'unknown_profile':
      return item.outcome === 'changed'
        ? trans.__(
            "The file's current profile could not be imported. Another one is current."
          )
        : trans.__('Its profile does not exist.');
    default:
      return errorText(trans, item);
  }
}

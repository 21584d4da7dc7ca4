import type { JSONObject, JSONValue } from '@lumino/coreutils';
import { JSONExt } from '@lumino/coreutils';

import type { GlobalSettings, ProviderSettings } from '../../generated/wire';

import type { IField } from './fields';

/**
 * What a person typed, read as a value of a field, or why it is none.
 */
export type Reading =
  | { readonly ok: true; readonly value: JSONValue }
  | { readonly ok: false; readonly code: 'not_a_number' | 'not_json' };

/**
 * Settings by name, as fields made from the schema look them up.
 */
export function byName(
  settings: GlobalSettings | ProviderSettings
): JSONObject {
  // Interfaces have no index signature, so TypeScript takes them for no JSON.
  return settings as unknown as JSONObject;
}

/**
 * A value as the text of an input.
 */
export function formatValue(field: IField, value: JSONValue): string {
  if (value === null) {
    return '';
  }
  switch (field.kind) {
    case 'lines':
      return Array.isArray(value) ? value.join('\n') : '';
    case 'json':
    case 'choices':
      return JSON.stringify(value, null, 2);
    default:
      return choiceKey(value);
  }
}

/**
 * The text of an input as a value. Only what cannot be a value at all is refused here: bounds and
 * forms are the server's to check, which says the same to every client.
 */
export function readValue(field: IField, text: string): Reading {
  switch (field.kind) {
    case 'switch':
      return { ok: true, value: text === 'true' };
    case 'flag':
      return { ok: true, value: text === '' ? null : text === 'true' };
    case 'integer':
    case 'number':
      return readNumber(field, text);
    case 'lines':
      return { ok: true, value: readLines(text) };
    case 'json':
    case 'choices':
      return readJson(field, text);
    case 'choice':
      return { ok: true, value: choiceOf(field, text) };
    default:
      return { ok: true, value: text === '' && field.nullable ? null : text };
  }
}

/**
 * Whether two values are the same setting.
 */
export function sameValue(a: JSONValue, b: JSONValue): boolean {
  return JSONExt.deepEqual(a, b);
}

/**
 * A value as a text that no other value has: texts as they are, anything else as JSON.
 */
export function choiceKey(value: JSONValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The values chosen of a field of several choices.
 */
export function chosenValues(text: string): JSONValue[] {
  const value = text === '' ? [] : (JSON.parse(text) as JSONValue);
  return Array.isArray(value) ? value : [];
}

function choiceOf(field: IField, text: string): JSONValue {
  const found = field.choices.find(choice => choiceKey(choice.value) === text);
  return found ? found.value : null;
}

function readNumber(field: IField, text: string): Reading {
  const trimmed = text.trim();
  if (trimmed === '') {
    return field.nullable
      ? { ok: true, value: null }
      : { ok: false, code: 'not_a_number' };
  }
  const value = Number(trimmed);
  return Number.isFinite(value)
    ? { ok: true, value }
    : { ok: false, code: 'not_a_number' };
}

function readLines(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean);
}

function readJson(field: IField, text: string): Reading {
  if (text.trim() === '' && field.nullable) {
    return { ok: true, value: null };
  }
  try {
    return { ok: true, value: JSON.parse(text) as JSONValue };
  } catch {
    return { ok: false, code: 'not_json' };
  }
}

import type { JSONObject, JSONValue } from '@lumino/coreutils';

import { choiceKey } from './fieldvalues';

/**
 * How a setting is edited.
 */
export type FieldKind =
  | 'switch'
  | 'flag'
  | 'integer'
  | 'number'
  | 'text'
  | 'paragraph'
  | 'choice'
  | 'choices'
  | 'lines'
  | 'json'
  | 'secret';

/**
 * One of the values a setting may have.
 */
export interface IChoice {
  readonly value: JSONValue;
  readonly title: string;
}

/**
 * One setting, as the panel needs to know it.
 */
export interface IField {
  /**
   * The name on the wire and in the settings file.
   */
  readonly key: string;

  readonly kind: FieldKind;

  readonly title: string;
  readonly description: string;

  /**
   * The group it is shown under.
   */
  readonly group: string;

  /**
   * Whether it is folded away until asked for.
   */
  readonly advanced: boolean;

  /**
   * Whether the setting may have no value.
   */
  readonly nullable: boolean;

  /**
   * The providers it belongs to; `null` for all of them.
   */
  readonly providers: readonly string[] | null;

  readonly defaultValue: JSONValue;

  /**
   * The smallest and largest number accepted, where there is one.
   */
  readonly minimum: number | null;
  readonly maximum: number | null;

  /**
   * The values to choose from; empty unless the kind is `choice`, `choices` or `flag`.
   */
  readonly choices: readonly IChoice[];
}

/**
 * Settings that are shown under one heading.
 */
export interface IFieldGroup {
  readonly id: string;

  readonly title: string;
  readonly fields: readonly IField[];
}

/**
 * Titles and descriptions in the reader's language.
 *
 * #### Notes
 * Keys are a setting's name, `group:<id>` and `choice:<name>:<value>`; one with
 * `profile.` before it goes first for the settings of a profile.
 */
export type FieldTexts = Readonly<
  Record<string, { title: string; description: string }>
>;

/**
 * Read the settings out of a JSON Schema, in the order they are shown.
 *
 * @param schema - An object schema with our `x-…` annotations.
 *
 * @param texts - Translated titles and descriptions.
 *
 * @param prefix - What tells the texts of this schema from another's.
 *
 * @returns The fields with a group; one without, or hidden, is not for people.
 */
export function readFields(
  schema: JSONObject,
  texts: FieldTexts = {},
  prefix = ''
): IField[] {
  const textOf = (key: string) => texts[prefix + key] ?? texts[key];
  const definitions = asObject(schema.$defs);
  return Object.entries(asObject(schema.properties))
    .map(([key, raw], position) => ({
      property: resolve(asObject(raw), definitions),
      key,
      position
    }))
    .filter(
      ({ property }) =>
        typeof property['x-group'] === 'string' && property['x-hidden'] !== true
    )
    .sort((a, b) => order(a) - order(b) || a.position - b.position)
    .map(({ key, property }) => toField(key, property, textOf));

  function order(entry: { property: JSONObject; position: number }): number {
    return asNumber(entry.property['x-order']) ?? entry.position;
  }
}

/**
 * Gather fields under their groups.
 *
 * @param schema - The schema that lists the groups in their order; others follow.
 *
 * @param fields - What to gather.
 *
 * @param texts - Translated headings.
 */
export function groupFields(
  schema: JSONObject,
  fields: readonly IField[],
  texts: FieldTexts = {}
): IFieldGroup[] {
  const groups = new Map<string, { title: string; fields: IField[] }>();
  const listed = Array.isArray(schema['x-groups']) ? schema['x-groups'] : [];
  for (const group of listed.map(asObject)) {
    const id = asText(group.id);
    const title = texts[`group:${id}`]?.title || asText(group.title) || id;
    groups.set(id, { title, fields: [] });
  }
  for (const field of fields) {
    const group = groups.get(field.group);
    if (group) {
      group.fields.push(field);
    } else {
      groups.set(field.group, { title: field.group, fields: [field] });
    }
  }
  return [...groups]
    .map(([id, group]) => ({ id, ...group }))
    .filter(group => group.fields.length > 0);
}

/**
 * The fields that matter to a profile of a provider.
 */
export function fieldsOfProvider(
  fields: readonly IField[],
  provider: string | null
): IField[] {
  return fields.filter(
    field =>
      field.providers === null ||
      (provider !== null && field.providers.includes(provider))
  );
}

/**
 * A text that may be this long is written in several lines.
 */
const PARAGRAPH_LENGTH = 10_000;

function toField(
  key: string,
  property: JSONObject,
  textOf: (key: string) => FieldTexts[string] | undefined
): IField {
  const text = textOf(key);
  const { schema, nullable } = withoutNull(property);
  const isList = schema.type === 'array';
  const choices = readChoices(isList ? asObject(schema.items) : schema).map(
    ({ value, title }) => ({
      value,
      title: textOf(`choice:${key}:${choiceKey(value)}`)?.title || title
    })
  );
  const annotated = { ...schema, ...property };
  return {
    key,
    kind: kindOf(annotated, schema, nullable, choices.length > 0),
    title: text?.title || asText(property.title) || key,
    description: text?.description || asText(property.description),
    group: asText(property['x-group']),
    advanced: property['x-advanced'] === true,
    nullable,
    providers: asTexts(property['x-providers']),
    defaultValue: property.default ?? null,
    minimum: asNumber(schema.minimum),
    maximum: asNumber(schema.maximum),
    choices
  };
}

function kindOf(
  annotated: JSONObject,
  schema: JSONObject,
  nullable: boolean,
  hasChoices: boolean
): FieldKind {
  if (annotated['x-secret'] === true) {
    return 'secret';
  }
  if (hasChoices) {
    return schema.type === 'array' ? 'choices' : 'choice';
  }
  switch (schema.type) {
    case 'boolean':
      return nullable ? 'flag' : 'switch';
    case 'integer':
      return 'integer';
    case 'number':
      return 'number';
    case 'string':
      return (asNumber(schema.maxLength) ?? 0) >= PARAGRAPH_LENGTH
        ? 'paragraph'
        : 'text';
    case 'array':
      return asObject(schema.items).type === 'string' ? 'lines' : 'json';
    default:
      return 'json';
  }
}

/**
 * Follow references, so that what is said beside a `$ref` is kept.
 */
function resolve(schema: JSONObject, definitions: JSONObject): JSONObject {
  const all = schema.allOf;
  if (Array.isArray(all) && all.length === 1) {
    const { allOf: _, ...beside } = schema;
    return { ...resolve(asObject(all[0]), definitions), ...beside };
  }
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema;
    const name = $ref.split('/').pop() ?? '';
    return { ...resolve(asObject(definitions[name]), definitions), ...beside };
  }
  if (Array.isArray(schema.anyOf)) {
    const anyOf = schema.anyOf.map(one => resolve(asObject(one), definitions));
    return { ...schema, anyOf };
  }
  if (schema.items !== undefined) {
    const items = resolve(asObject(schema.items), definitions);
    return { ...schema, items };
  }
  return schema;
}

function withoutNull(schema: JSONObject): {
  schema: JSONObject;
  nullable: boolean;
} {
  if (!Array.isArray(schema.anyOf)) {
    return { schema, nullable: schema.type === 'null' };
  }
  const members = schema.anyOf.map(asObject);
  const rest = members.filter(member => member.type !== 'null');
  const nullable = rest.length < members.length;
  // A union of several types is edited as JSON.
  return { schema: rest.length === 1 ? rest[0] : {}, nullable };
}

function readChoices(schema: JSONObject): IChoice[] {
  if (Array.isArray(schema.oneOf)) {
    const members = schema.oneOf.map(asObject);
    if (members.every(member => 'const' in member)) {
      return members.map(member => ({
        value: member.const ?? null,
        title: asText(member.title) || choiceKey(member.const ?? null)
      }));
    }
  }
  const values = Array.isArray(schema.enum) ? schema.enum : [];
  return values.map(value => ({ value, title: choiceKey(value) }));
}

function asObject(value: unknown): JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JSONObject)
    : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asTexts(value: unknown): string[] | null {
  return Array.isArray(value) ? value.map(String) : null;
}

function asNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

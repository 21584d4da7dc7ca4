import type { IField } from './fields';

/**
 * A text as the search compares it: case, width and Latin accents do not matter.
 *
 * #### Notes
 * Only the accents of Latin, Greek and Cyrillic are dropped. The marks of kana stay, since が and か
 * are different letters; Hangul is taken apart, so a syllable is found while it is still being typed.
 */
export function normalized(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
}

/**
 * The fields that contain every word of a query in their title, description or name.
 *
 * @param fields - Where to look.
 *
 * @param query - What a person typed; nothing but spaces finds everything.
 *
 * @param heading - What the fields are shown under, which is searched too.
 */
export function searchFields(
  fields: readonly IField[],
  query: string,
  heading = ''
): IField[] {
  return fields.filter(field => matches(query, [heading, ...textsOf(field)]));
}

/**
 * Everything a field is found by.
 */
export function textsOf(field: IField): string[] {
  return [
    field.title,
    field.description,
    field.key,
    ...field.choices.map(choice => choice.title)
  ];
}

/**
 * Whether every word of a query is found in one of the texts.
 */
export function matches(query: string, texts: readonly string[]): boolean {
  const words = normalized(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    return true;
  }
  const folded = texts.map(normalized);
  return words.every(word => folded.some(text => text.includes(word)));
}

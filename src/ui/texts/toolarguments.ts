/**
 * What ends a line wherever it is shown.
 */
const LINE_END = /\r\n|[\n\r\u2028\u2029\u0085\v\f]/;

/**
 * The arguments of a tool as one reads them, a name and a value on each line.
 *
 * #### Notes
 * A value of several lines is indented, so that none can look like another
 * argument. What is not an object stays as it is.
 *
 * @param json - The arguments as they are sent.
 */
export function argumentLines(json: string): string {
  const values = objectIn(json);
  return values === null
    ? json
    : Object.entries(values)
        .map(([name, value]) => `${oneLine(name)}: ${within(textOf(value))}`)
        .join('\n');
}

/**
 * A text that is JSON, as one reads it; `null` if it is none, or a single value.
 */
export function indentedJson(text: string): string | null {
  if (!/^\s*[{[]/.test(text)) {
    return null;
  }
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

function objectIn(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? value
      : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null
      ? JSON.stringify(value, null, 2)
      : String(value);
}

function oneLine(name: string): string {
  return name.split(LINE_END).join(' ');
}

function within(text: string): string {
  return LINE_END.test(text)
    ? `\n    ${text.split(LINE_END).join('\n    ')}`
    : text;
}

/**
 * What a message carries as JSON in its text.
 *
 * @returns The object; `null` if the text is none, such as while it streams.
 */
export function readJson<T extends object>(
  text: string | undefined
): Partial<T> | null {
  if (!text?.startsWith('{')) {
    return null;
  }
  try {
    return JSON.parse(text) as Partial<T>;
  } catch {
    // Not whole yet, or of another version: who asked shows it another way.
    return null;
  }
}

/**
 * Has a test fail that warns or complains on the console. One that is about
 * such a word listens to it with `jest.spyOn(console, …)`.
 */

/**
 * What libraries say of themselves, whatever a test does: jsdom has no
 * clipboard, and Lab's shared models look at cells before these are in their
 * notebook.
 */
const OF_LIBRARIES: readonly unknown[] = [
  'Clipboard API not available',
  'Invalid access: Add Yjs type to a document before reading data.',
  '[yjs#509] Not same Y.Doc'
];

let said: string[] = [];

function hear(kind: string): (...words: unknown[]) => void {
  return (...words) => {
    if (!OF_LIBRARIES.includes(words[0])) {
      said.push([`console.${kind}:`, ...words].join(' '));
    }
  };
}

Object.assign(console, {
  warn: hear('warn'),
  error: hear('error'),
  // Lab's own tools for tests say there what they do.
  debug: () => undefined
});

afterEach(() => {
  const all = said;
  said = [];
  if (all.length > 0) {
    throw new Error(all.join('\n\n'));
  }
});

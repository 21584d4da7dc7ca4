import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { fullCount } from './figures';
import { usePanel } from './services';

/**
 * A text in which nothing hides: what has no shape of its own, turns the
 * direction of writing or pushes the rest out of sight is named in its place.
 *
 * #### Notes
 * What is approved must be what was read. A character that turns the direction
 * lets `rm` look like a comment, and a thousand empty lines hide what is below.
 */
export function Unseen({ text }: { text: string }): JSX.Element {
  const { trans } = usePanel();
  const parts = React.useMemo(() => partsOf(text, trans), [text, trans]);
  return (
    <>
      {parts.map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          <mark key={index} className="jp-hdspAgent-unseen">
            {part}
          </mark>
        )
      )}
    </>
  );
}

/**
 * The same as one line of plain text, for the name of a file in a sentence.
 */
export function plainName(name: string): string {
  return name.replace(NOT_IN_NAMES, shapes => [...shapes].map(code).join(''));
}

/**
 * The text, and between its parts the names of what cannot be seen.
 */
function partsOf(text: string, trans: TranslationBundle): string[] {
  return text
    .split(UNSEEN)
    .map((part, index) => (index % 2 === 0 ? part : named(part, trans)));
}

function named(part: string, trans: TranslationBundle): string {
  if (!/^\s+$/.test(part) || part.length < LEAST_GAP) {
    return [...part].map(code).join('');
  }
  const lines = part.split('\n').length - 1;
  return lines > 0
    ? `\n⟨${trans._n('%1 empty line', '%1 empty lines', lines - 1, fullCount(lines - 1))}⟩\n`
    : ` ⟨${trans.__('%1 blanks', fullCount(part.length))}⟩ `;
}

function code(character: string): string {
  const digits = character.codePointAt(0)?.toString(16).toUpperCase() ?? '';
  return `⟨U+${digits.padStart(4, '0')}⟩`;
}

/**
 * So many blanks, or empty lines, are no layout any more.
 */
const LEAST_GAP = 5;

// Within an emoji, a joiner has its place.
const SHAPELESS =
  '(?!\\u200D(?=\\p{Extended_Pictographic}))(?:\\u034F|[\\p{Cf}\\p{Zl}\\p{Zp}\\u00A0\\u115F\\u1160\\u2000-\\u200A\\u202F\\u205F\\u3164\\uFFA0])';
const UNSEEN = new RegExp(
  `(\\n(?:[ \\t]*\\n){4,}|[ \\t]{40,}|(?:${SHAPELESS}|(?![\\n\\t])\\p{Cc})+)`,
  'u'
);
const NOT_IN_NAMES = new RegExp(`(?:${SHAPELESS}|\\p{Cc})+`, 'gu');

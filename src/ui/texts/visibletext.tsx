import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { fullCount } from './formats';
import { usePanel } from '../services';

/**
 * A text in which nothing hides: what has no shape of its own, turns the
 * direction of writing or pushes the rest out of sight is named in its place.
 *
 * #### Notes
 * What is approved must be what was read. A character that turns the direction
 * lets `rm` look like a comment, and a thousand empty lines hide what is below.
 */
export function VisibleText({ text }: { text: string }): JSX.Element {
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
  return name.replace(NOT_IN_NAMES, codes);
}

/**
 * The text, and between its parts the names of what cannot be seen.
 */
function partsOf(text: string, trans: TranslationBundle): string[] {
  return text
    .split(INVISIBLE)
    .map((part, index) => (index % 2 === 0 ? part : named(part, trans)));
}

function named(part: string, trans: TranslationBundle): string {
  if (GAP.test(part)) {
    const lines = part.split('\n').length - 1;
    return lines > 0
      ? `\n⟨${trans._n('%1 empty line', '%1 empty lines', lines - 1, fullCount(lines - 1))}⟩\n`
      : ` ⟨${trans.__('%1 spaces', fullCount(part.length))}⟩ `;
  }
  return codes(part);
}

/**
 * Many of one kind in a row are counted, or they would push the rest out of
 * sight themselves.
 */
function codes(part: string): string {
  const alike: { character: string; count: number }[] = [];
  for (const character of part) {
    const last = alike[alike.length - 1];
    if (last?.character === character) {
      last.count += 1;
    } else {
      alike.push({ character, count: 1 });
    }
  }
  return alike
    .map(({ character, count }) =>
      /[ -~]/.test(character)
        ? character.repeat(count)
        : count > MOST_ALIKE
          ? `⟨${code(character)} × ${fullCount(count)}⟩`
          : `⟨${code(character)}⟩`.repeat(count)
    )
    .join('');
}

function code(character: string): string {
  const digits = character.codePointAt(0)?.toString(16).toUpperCase() ?? '';
  return `U+${digits.padStart(4, '0')}`;
}

const MOST_ALIKE = 4;

// What has no shape of its own, turns the direction, is obeyed by a terminal,
// or is a blank that is none to a shell. The program on the terminal has the
// same list, and both are tested with `unseencharacters.json`.
const SHAPELESS =
  '\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u00A0\\u00AD\\u034F\\u0600-\\u0605' +
  '\\u061C\\u06DD\\u070F\\u0890\\u0891\\u08E2\\u115F\\u1160\\u1680\\u17B4\\u17B5' +
  '\\u180B-\\u180F\\u2000-\\u200C\\u200E\\u200F\\u2028-\\u202F\\u205F-\\u206F' +
  '\\u2800\\u3164\\uD800-\\uDFFF\\uFE00-\\uFE0D\\uFEFF\\uFFA0\\uFFF0-\\uFFFB' +
  '\\u{110BD}\\u{110CD}\\u{13430}-\\u{1343F}\\u{1BCA0}-\\u{1BCA3}\\u{1D159}' +
  '\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E0FFF}';
const EMOJI =
  '\\u2190-\\u21FF\\u2600-\\u27BF\\u2B00-\\u2BFF\\u{1F000}-\\u{1FAFF}';
// Within an emoji, a joiner and the choice of its form have their place; a
// keycap begins with a digit.
const HIDDEN =
  `(?:[${SHAPELESS}]|\\u200D(?![${EMOJI}])|[\\uFE0E\\uFE0F]{2,}` +
  '|[ -~][\\uFE0E\\uFE0F](?!\\u20E3))+';
// They are alternatives, none combines with another.
/* eslint-disable no-misleading-character-class */
const INVISIBLE = new RegExp(
  `(\\n(?:[ \\t\\u3000]*\\n){4,}|[ \\t\\u3000]{40,}|${HIDDEN})`,
  'u'
);
const GAP = /^(?:\n[ \t\u3000\n]*|[ \t\u3000]{40,})$/;
const NOT_IN_NAMES = new RegExp(`(?:${HIDDEN}|[\\n\\t])+`, 'gu');
/* eslint-enable no-misleading-character-class */

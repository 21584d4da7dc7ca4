import * as React from 'react';

import { fullCount } from '../../ui/texts/formats';
import { usePanel } from '../../ui/services';

/**
 * So many characters of a text are shown at first.
 */
const SHORT = 2_000;

/**
 * So many places of what is looked for are marked.
 */
const MOST_MARKS = 500;

/**
 * A text of the request, word for word; a long one is cut until one asks for
 * all of it, or looks for something in it.
 */
export function HighlightedText({
  text,
  wanted
}: {
  text: string;

  /**
   * What is looked for, which is marked.
   */
  wanted: string;
}): JSX.Element {
  const { trans } = usePanel();
  const [isWhole, setWhole] = React.useState(false);
  const at = wanted === '' ? -1 : lower(text).indexOf(lower(wanted));
  const isCut = !isWhole && text.length > SHORT && at + wanted.length < SHORT;
  const shown = isCut ? text.slice(0, SHORT) : text;
  return (
    <>
      {/* It scrolls, so that it must be reached by keyboard. */}
      <pre tabIndex={0}>
        {at === -1 ? shown : marked(shown, wanted)}
        {isCut && '…'}
      </pre>
      {isCut && (
        <button
          type="button"
          className="jp-hdspAgent-link"
          onClick={() => setWhole(true)}
        >
          {trans.__('Show all %1 characters', fullCount(text.length))}
        </button>
      )}
    </>
  );
}

function marked(text: string, wanted: string): React.ReactNode[] {
  const parts: React.ReactNode[] = [];
  const all = lower(text);
  const looked = lower(wanted);
  let from = 0;
  for (let count = 0; count < MOST_MARKS; count++) {
    const at = all.indexOf(looked, from);
    if (at === -1) {
      break;
    }
    parts.push(text.slice(from, at));
    from = at + wanted.length;
    parts.push(<mark key={at}>{text.slice(at, from)}</mark>);
  }
  parts.push(text.slice(from));
  return parts;
}

/**
 * In small letters, each as long as before: some, such as İ, become two.
 */
function lower(text: string): string {
  const small = text.toLowerCase();
  return small.length === text.length
    ? small
    : text.replace(/[\s\S]/g, letter => {
        const one = letter.toLowerCase();
        return one.length === 1 ? one : letter;
      });
}

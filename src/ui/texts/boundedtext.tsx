import * as React from 'react';

import { usePanel } from '../services';
import { useFold } from './fold';
import { fullCount } from './formats';

/**
 * How many lines and characters of a long text are shown at first.
 */
const MOST_LINES = 30;
const MOST_CHARACTERS = 4_000;

/**
 * How many lines of an output are shown at first.
 */
export const OUTPUT_LINES = 12;

/**
 * A plain text, of which the rest is shown when one wants to see it.
 *
 * @param id - Under which it is remembered whether it is open.
 * @param side - Which part of it is shown at first.
 * @param lines - How many lines are shown at first, and not one more; by
 * default, about as many as fit.
 */
export function BoundedText({
  id,
  text,
  side = 'begin',
  lines,
  render = text => text
}: {
  id: string;
  text: string;
  side?: 'begin' | 'end';
  lines?: number;
  render?: (text: string) => React.ReactNode;
}): JSX.Element {
  const { trans } = usePanel();
  const [isOpen, setOpen] = useFold(id, false);
  const short = React.useMemo(
    () => bounded(text, side, lines),
    [text, side, lines]
  );
  if (short === text) {
    return <>{render(text)}</>;
  }
  const count = lineCount(text);
  const toggle = (
    <button
      className="jp-hdspAgent-chat-link jp-hdspAgent-bounded-more"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      {isOpen
        ? trans.__('Show less')
        : lineCount(short) < count
          ? trans._n(
              'Show all (%1 line)',
              'Show all (%1 lines)',
              count,
              fullCount(count)
            )
          : trans.__(
              'Show all (%1 more characters)',
              fullCount(text.length - short.length)
            )}
    </button>
  );
  return (
    <>
      {side === 'end' && toggle}
      {render(isOpen ? text : short)}
      {side === 'begin' && toggle}
    </>
  );
}

function bounded(
  text: string,
  side: 'begin' | 'end',
  most: number | undefined
): string {
  // What ends in a line break has no empty line behind it.
  const end = text.endsWith('\n') ? '\n' : '';
  const lines = text.slice(0, text.length - end.length).split('\n');
  // A little more than that is shown whole: there is nothing to be gained.
  const isLong =
    lines.length > (most ?? MOST_LINES * 1.2) ||
    text.length > MOST_CHARACTERS * 1.2;
  if (!isLong) {
    return text;
  }
  const shown = most ?? MOST_LINES;
  return side === 'begin'
    ? lines.slice(0, shown).join('\n').slice(0, MOST_CHARACTERS)
    : (lines.slice(-shown).join('\n') + end).slice(-MOST_CHARACTERS);
}

function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}

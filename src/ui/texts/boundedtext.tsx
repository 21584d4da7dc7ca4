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
 * A plain text, of which the rest is shown when one wants to see it.
 *
 * @param id - Under which it is remembered whether it is open.
 * @param side - Which part of it is shown at first.
 */
export function BoundedText({
  id,
  text,
  side = 'begin',
  render = text => text
}: {
  id: string;
  text: string;
  side?: 'begin' | 'end';
  render?: (text: string) => React.ReactNode;
}): JSX.Element {
  const { trans } = usePanel();
  const [isOpen, setOpen] = useFold(id, false);
  const short = React.useMemo(() => bounded(text, side), [text, side]);
  if (short === text) {
    return <>{render(text)}</>;
  }
  const hidden = text.length - short.length;
  const toggle = (
    <button
      className="jp-hdspAgent-chat-link jp-hdspAgent-bounded-more"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      {isOpen
        ? trans.__('Show less')
        : trans.__('Show all (%1 more characters)', fullCount(hidden))}
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

function bounded(text: string, side: 'begin' | 'end'): string {
  const lines = text.split('\n');
  // A little more than that is shown whole: there is nothing to be gained.
  const isLong =
    lines.length > MOST_LINES * 1.2 || text.length > MOST_CHARACTERS * 1.2;
  if (!isLong) {
    return text;
  }
  return side === 'begin'
    ? lines.slice(0, MOST_LINES).join('\n').slice(0, MOST_CHARACTERS)
    : lines.slice(-MOST_LINES).join('\n').slice(-MOST_CHARACTERS);
}

import * as React from 'react';

import { usePanel } from '../services';
import { VisibleText } from './visibletext';
import { useFold } from './fold';
import { fullCount } from './formats';

/**
 * How many lines of a change are shown at first.
 */
const MOST_LINES = 40;

/**
 * How many lines were added and removed.
 */
export function DiffStats({
  added,
  removed
}: {
  added: number;
  removed: number;
}): JSX.Element {
  const { trans } = usePanel();
  const words = trans.__(
    '%1 lines added, %2 removed',
    fullCount(added),
    fullCount(removed)
  );
  return (
    <span
      className="jp-hdspAgent-chat-stats"
      role="img"
      aria-label={words}
      title={words}
    >
      <span className="jp-hdspAgent-chat-stats-added">+{fullCount(added)}</span>{' '}
      <span className="jp-hdspAgent-chat-stats-removed">
        −{fullCount(removed)}
      </span>
    </span>
  );
}

/**
 * A change, line by line. Each line has its sign, and its colour besides.
 *
 * @param id - Under which it is remembered whether all of it is shown.
 */
export function Diff({ id, text }: { id: string; text: string }): JSX.Element {
  const { trans } = usePanel();
  const [isOpen, setOpen] = useFold(id, false);
  const lines = React.useMemo(() => diffLines(text), [text]);
  const isLong = lines.length > MOST_LINES * 1.2;
  const shown = isLong && !isOpen ? lines.slice(0, MOST_LINES) : lines;
  return (
    <div className="jp-hdspAgent-chat-diff">
      <pre tabIndex={0} aria-label={trans.__('Changes')}>
        {shown.map(({ kind, text }, index) => (
          <div
            key={index}
            className="jp-hdspAgent-chat-diff-line"
            data-kind={kind}
          >
            <VisibleText text={text.replace(/\r$/, '')} />
          </div>
        ))}
      </pre>
      {isLong && (
        <button
          className="jp-hdspAgent-chat-link"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen
            ? trans.__('Show less')
            : trans.__('Show all (%1 lines)', fullCount(lines.length))}
        </button>
      )}
    </div>
  );
}

/**
 * A line of a change.
 */
export interface IDiffLine {
  readonly kind: 'added' | 'removed' | 'place' | 'same';

  /**
   * With its sign.
   */
  readonly text: string;
}

/**
 * The lines of a unified diff, without the names of the files; also of Roo
 * Code's blocks to search and replace.
 */
export function diffLines(text: string): IDiffLine[] {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.some(line => SEARCH.test(line))
    ? searchReplaceLines(lines)
    : unifiedLines(lines);
}

/**
 * The lines of a new file, as a change.
 */
export function addedLines(content: string): string {
  return content
    .replace(/\n$/, '')
    .split('\n')
    .map(line => `+${line}`)
    .join('\n');
}

const SEARCH = /^<{5,9} SEARCH/;
const HEAD = /^(--- |\+\+\+ |diff --git |index [0-9a-f]+)/;

function unifiedLines(lines: readonly string[]): IDiffLine[] {
  const firstHunk = lines.findIndex(line => line.startsWith('@@'));
  // Where the only place is, the change itself tells.
  const isOne = lines.filter(line => line.startsWith('@@')).length === 1;
  return lines
    .filter(
      (line, index) =>
        !(isOne && index === firstHunk) &&
        (index >= firstHunk || !HEAD.test(line))
    )
    .map(line => {
      const sign = line[0];
      if (line.startsWith('@@')) {
        return { kind: 'place', text: line };
      }
      if (sign === '+') {
        return { kind: 'added', text: line };
      }
      return { kind: sign === '-' ? 'removed' : 'same', text: line };
    });
}

function searchReplaceLines(lines: readonly string[]): IDiffLine[] {
  const found: IDiffLine[] = [];
  let kind: IDiffLine['kind'] = 'same';
  for (const line of lines) {
    if (SEARCH.test(line)) {
      kind = 'removed';
      found.push({ kind: 'place', text: '@@' });
    } else if (/^={5,9}$/.test(line) && kind === 'removed') {
      kind = 'added';
    } else if (/^>{5,9} REPLACE/.test(line)) {
      kind = 'same';
    } else if (
      kind === 'removed' &&
      /^(:start_line:|:end_line:|-{5,9}$)/.test(line)
    ) {
      // Where it is searched, for the one who searches.
    } else if (kind !== 'same') {
      found.push({ kind, text: `${kind === 'added' ? '+' : '-'}${line}` });
    }
  }
  return found;
}

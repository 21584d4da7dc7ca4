import type * as React from 'react';
import type { VirtualizerHandle } from 'virtua';

import type { IChatRow } from './rowmodel';

/**
 * How often the page is looked at for a row that is being put there.
 */
const TRIES = 5;

/**
 * Moves the focus from row to row, with Page Up and Page Down from a row, as
 * feeds do, and with Alt and the arrows from anywhere in the conversation.
 * Control with Home or End leads out of it, as in feeds, too: to what is before
 * it and after it.
 *
 * @param isStop - Whether the focus goes to a row; else it goes past it.
 */
export function moveByRow(
  event: React.KeyboardEvent<HTMLElement>,
  rows: readonly IChatRow[],
  list: VirtualizerHandle | null,
  isStop: (row: IChatRow) => boolean
): void {
  const box = event.currentTarget;
  const target = event.target as HTMLElement;
  if (leaveFeed(event, box)) {
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  const step = stepOf(event, target);
  if (step === 0 || list === null) {
    return;
  }
  const current = target.closest<HTMLElement>('[data-ts]')?.dataset.ts;
  let index =
    step +
    (current === undefined
      ? rows.length
      : rows.findIndex(({ ts }) => String(ts) === current));
  while (rows[index] && !isStop(rows[index])) {
    index += step;
  }
  const next = rows[index];
  if (next === undefined) {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  list.scrollToIndex(index, { align: 'nearest' });
  focusRow(box, next.ts);
}

/**
 * Put the focus on what is before or after a feed, if a key says so.
 */
function leaveFeed(event: React.KeyboardEvent, feed: HTMLElement): boolean {
  const isOut =
    (event.ctrlKey || event.metaKey) &&
    !event.altKey &&
    !event.shiftKey &&
    (event.key === 'Home' || event.key === 'End');
  if (!isOut || isTextField(event.target as HTMLElement)) {
    return false;
  }
  const isBefore = event.key === 'Home';
  const wanted = isBefore
    ? Node.DOCUMENT_POSITION_PRECEDING
    : Node.DOCUMENT_POSITION_FOLLOWING;
  const panel = feed.closest('.jp-hdspAgent-Panel');
  const reached = [
    ...(panel?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])
  ].filter(
    node =>
      !feed.contains(node) &&
      (feed.compareDocumentPosition(node) & wanted) !== 0 &&
      !node.closest('[hidden], [inert]')
  );
  const next = isBefore ? reached.at(-1) : reached[0];
  next?.focus();
  return next !== undefined;
}

const FOCUSABLE =
  ':is(button, input, select, textarea, a[href], [tabindex]):not([tabindex="-1"], :disabled)';

function isTextField(node: HTMLElement): boolean {
  return node.matches('input, textarea, select');
}

function stepOf(event: React.KeyboardEvent, target: HTMLElement): number {
  const isRow = target.matches('[data-ts]');
  const isAlt = event.altKey && !event.ctrlKey && !event.metaKey;
  switch (event.key) {
    case 'PageUp':
      return isRow ? -1 : 0;
    case 'PageDown':
      return isRow ? 1 : 0;
    case 'ArrowUp':
      return isAlt ? -1 : 0;
    case 'ArrowDown':
      return isAlt ? 1 : 0;
    default:
      return 0;
  }
}

/**
 * Put the focus on a row that is being brought into sight.
 *
 * @param done - Called once it has the focus, or does not come.
 */
export function focusRow(
  box: HTMLElement,
  ts: number,
  tries: number = TRIES,
  done: () => void = () => undefined
): void {
  const takeFocus = (row: HTMLElement) => {
    row.focus({ preventScroll: true });
    // One that is not measured yet is hidden, and takes no focus.
    return document.activeElement === row;
  };
  awaitRow(box, ts, tries, takeFocus, done);
}

/**
 * Wait for a row that is being brought into sight.
 *
 * @param isThere - Whether it is as it is wanted.
 * @param done - Called once it is, or does not come.
 */
export function awaitRow(
  box: HTMLElement,
  ts: number,
  tries: number,
  isThere: (row: HTMLElement) => boolean,
  done: () => void
): void {
  const row = box.querySelector<HTMLElement>(`[data-ts="${ts}"]`);
  if ((row && isThere(row)) || tries === 0) {
    done();
  } else {
    requestAnimationFrame(() => awaitRow(box, ts, tries - 1, isThere, done));
  }
}

/**
 * Whether a row is measured, and so not hidden any more.
 */
export function isMeasured(row: HTMLElement): boolean {
  return getComputedStyle(row).visibility !== 'hidden';
}

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
 */
export function moveByRow(
  event: React.KeyboardEvent<HTMLElement>,
  rows: readonly IChatRow[],
  list: VirtualizerHandle | null
): void {
  const box = event.currentTarget;
  const target = event.target as HTMLElement;
  const step = stepOf(event, target);
  if (step === 0 || list === null) {
    return;
  }
  const current = target.closest<HTMLElement>('[data-ts]')?.dataset.ts;
  const index =
    current === undefined
      ? rows.length
      : rows.findIndex(({ ts }) => String(ts) === current);
  const next = rows[index + step];
  if (next === undefined) {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  list.scrollToIndex(index + step, { align: 'nearest' });
  focusRow(box, next.ts, TRIES);
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

function focusRow(box: HTMLElement, ts: number, tries: number): void {
  const row = box.querySelector<HTMLElement>(`[data-ts="${ts}"]`);
  if (row) {
    row.focus({ preventScroll: true });
  } else if (tries > 0) {
    requestAnimationFrame(() => focusRow(box, ts, tries - 1));
  }
}

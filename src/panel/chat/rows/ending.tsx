import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type {
  Ending,
  EndingCheck,
  EndingReason
} from '../../../generated/wire';
import { usePanel } from '../../../ui/services';
import { listText } from '../../../ui/texts/listtext';
import { plainName } from '../../../ui/texts/visibletext';

/**
 * Whether what a small model did was checked, or was not done.
 */
export function EndingLine({ ending }: { ending: Ending }): JSX.Element {
  const { trans } = usePanel();
  return (
    <div className="jp-hdspAgent-chat-ending" data-ending={ending.state}>
      {endingText(ending, trans)}
    </div>
  );
}

/**
 * That the cell was changed at which the person asked for it, if so.
 */
export function changedAtCell(
  checks: readonly EndingCheck[]
): EndingCheck | undefined {
  return checks.find(({ code }) => code === 'changed');
}

function endingText(
  { state, checks, reason, putBack }: Ending,
  trans: TranslationBundle
): string {
  switch (state) {
    case 'checked':
      return trans.__(
        'Checked: %1.',
        checks
          .map(check => checkText(check, trans))
          .filter(text => text !== null)
          .join(trans._p('between things that were checked', '; '))
      );
    case 'unchecked': {
      const atCell = changedAtCell(checks);
      if (atCell !== undefined) {
        return trans.__(
          'Cell %1 was changed but not run. Look at it before you run it.',
          valueText(atCell.params?.cell)
        );
      }
      return checks.some(({ code }) => code === 'unchanged')
        ? trans.__('Not checked. No cell was changed.')
        : trans.__('Not checked. Look at the result before you use it.');
    }
    case 'not_done':
      return [
        trans.__('Not done.'),
        ...(reason ? [reasonText(reason, trans)] : []),
        putBack
          ? trans.__('Your cells are as they were.')
          : trans.__('Some cells could not be put back: look at them.')
      ].join(' ');
  }
}

/**
 * What shows that it was done; of other things that were seen, nothing.
 */
function checkText(
  { code, params = {} }: EndingCheck,
  trans: TranslationBundle
): string | null {
  const name = (key: string) => valueText(params[key]);
  switch (code) {
    case 'fixed': {
      const calls = Array.isArray(params.calls) ? params.calls : [];
      return calls.length === 0
        ? trans.__('cell %1 runs now', name('cell'))
        : trans.__(
            'cell %1 runs now and still calls %2',
            name('cell'),
            listText(calls.map(valueText), trans)
          );
    }
    case 'renamed':
      return trans.__(
        'no cell uses %1 any more, and those with %2 run',
        name('old'),
        name('new')
      );
    case 'deleted':
      return trans.__('cell %1 is gone', name('cell'));
    case 'exists':
      return trans.__('%1 is there now', name('name'));
    case 'runs':
    case 'picture':
    case 'numbers':
    case 'unchanged':
    case 'changed':
      return null;
  }
}

function reasonText(
  { code, params = {} }: EndingReason,
  trans: TranslationBundle
): string {
  switch (code) {
    case 'failed':
      return trans.__('The last try failed.');
    case 'no_answer':
      return trans.__('The model gave no answer to this.');
    case 'missing':
      return trans.__('There is no %1 yet.', valueText(params.name));
    case 'steps':
      return trans.__('It took too many steps.');
    case 'stopped':
      return trans.__('The work was stopped.');
    case 'limit':
      return trans.__('A limit was reached.');
    case 'model':
      return trans.__('The model gave no answer.');
    case 'mistakes':
      return trans.__('The model kept making mistakes.');
    case 'too_long':
      return trans.__('The cell is too long for this model.');
    case 'gone':
      return trans.__('The cell is no longer there.');
  }
}

/**
 * A name or a number, as it may be shown.
 */
function valueText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number'
    ? plainName(`${value}`)
    : '';
}

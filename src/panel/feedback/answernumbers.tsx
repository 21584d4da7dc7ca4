import * as React from 'react';

import type { AnswerNumbersView, AnswerNumberView } from '../../generated/rest';
import { PlaceLink } from '../../ui/controls/placelink';
import { usePanel } from '../../ui/services';
import { plainName } from '../../ui/texts/visibletext';

/**
 * Where each number of an answer stands, or that it stands nowhere.
 */
export function AnswerNumbers({
  found
}: {
  readonly found: AnswerNumbersView;
}): JSX.Element {
  const { trans } = usePanel();
  const { numbers, path, unstated } = found;
  const proved = numbers.filter(({ place }) => place === 'output').length;
  return (
    <div
      className="jp-hdspAgent-numbers"
      role="group"
      aria-label={trans.__('Numbers of this answer')}
    >
      <p>
        {numbers.length === 0
          ? trans.__(
              'No number looks like a result. Whole numbers up to 10, dates and the names of cells are left out.'
            )
          : path === undefined
            ? trans.__(
                'There are no outputs to compare with: this conversation has no notebook, or it cannot be read.'
              )
            : trans._n(
                '%2 of %1 number stands in the outputs of %3, as it is now.',
                '%2 of %1 numbers stand in the outputs of %3, as it is now.',
                numbers.length,
                proved,
                plainName(path)
              )}
      </p>
      {numbers.length > 0 && (
        <ul>
          {numbers.map(number => (
            <li key={number.text} data-place={number.place ?? 'none'}>
              <span className="jp-hdspAgent-number">{number.text}</span>{' '}
              <Place number={number} path={path} />
            </li>
          ))}
        </ul>
      )}
      {unstated.length > 0 && (
        <p>
          {trans.__(
            'Not found, but probably no results: %1',
            unstated.join(', ')
          )}
        </p>
      )}
    </div>
  );
}

function Place({
  number: { place, cell, cellId },
  path
}: {
  readonly number: AnswerNumberView;
  readonly path?: string;
}): JSX.Element {
  const { trans } = usePanel();
  switch (place) {
    case 'output':
    case 'code': {
      const text =
        place === 'output'
          ? trans.__('Output of cell %1', cell ?? '')
          : trans.__('Only in the code of cell %1', cell ?? '');
      return path === undefined ? (
        <span>{text}</span>
      ) : (
        <PlaceLink path={path} cellId={cellId}>
          {text}
        </PlaceLink>
      );
    }
    case 'tool':
      return <span>{trans.__('Only in a result that the agent got')}</span>;
    case 'person':
      return <span>{trans.__('Only in your messages')}</span>;
    case undefined:
      return <span>{trans.__('Not found')}</span>;
  }
}

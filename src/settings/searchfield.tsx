import * as React from 'react';

import { useSettings } from './settingscontext';

/**
 * A field to search in, with how much was found beside it.
 */
export function SearchField({
  label,
  query,
  count,
  onQuery
}: {
  label: string;
  query: string;
  /** Null while nothing is searched for. */
  count: number | null;
  onQuery: (query: string) => void;
}): JSX.Element {
  const { trans } = useSettings();
  return (
    <>
      <input
        type="search"
        className="jp-hdspSettings-input"
        aria-label={label}
        placeholder={label}
        value={query}
        onChange={event => onQuery(event.target.value)}
      />
      <span role="status">
        {count !== null && trans._n('%1 result', '%1 results', count)}
      </span>
    </>
  );
}

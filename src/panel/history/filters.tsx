import { filterIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Debouncer } from '@lumino/polling';
import * as React from 'react';

import type { HistorySort } from '../../generated/wire';
import { IconButton } from '../header/iconbutton';
import { favoriteIcon, notFavoriteIcon } from '../header/icons';
import { usePanel } from '../services';
import type { IHistoryFilter } from './api';
import type { HistoryPages } from './pages';

/**
 * How long after the last key the search begins.
 */
const SEARCH_DELAY = 250;

const SORTS: readonly HistorySort[] = [
  'newest',
  'oldest',
  'mostExpensive',
  'mostTokens',
  'mostRelevant'
];

/**
 * What is looked for in the history, and how it is ordered.
 */
export function HistoryFilters({
  pages
}: {
  pages: HistoryPages;
}): JSX.Element {
  const { trans } = usePanel();
  const { filter } = pages;
  const [areMoreShown, setMoreShown] = React.useState(false);
  const id = React.useId();
  const isNarrowed =
    filter.workspace !== null ||
    filter.notebook !== null ||
    filter.since !== null ||
    filter.until !== null;
  return (
    <div className="jp-hdspAgent-history-filters" role="search">
      <SearchField pages={pages} />
      <div className="jp-hdspAgent-history-line">
        <select
          className="jp-hdspAgent-select"
          aria-label={trans.__('Order')}
          value={filter.sort}
          onChange={event =>
            void pages.choose({
              sort: event.currentTarget.value as HistorySort
            })
          }
        >
          {SORTS.map(sort => (
            <option
              key={sort}
              value={sort}
              disabled={sort === 'mostRelevant' && filter.query === ''}
            >
              {sortText(sort, trans)}
            </option>
          ))}
        </select>
        <IconButton
          icon={filter.favorites ? favoriteIcon : notFavoriteIcon}
          label={trans.__('Favorites only')}
          aria-pressed={filter.favorites}
          onClick={() => void pages.choose({ favorites: !filter.favorites })}
        />
        <IconButton
          icon={filterIcon}
          label={trans.__('Filter by folder, notebook and date')}
          aria-expanded={areMoreShown}
          aria-controls={areMoreShown ? id : undefined}
          aria-pressed={isNarrowed}
          onClick={() => setMoreShown(!areMoreShown)}
        />
      </div>
      {areMoreShown && (
        <div id={id} className="jp-hdspAgent-history-more">
          <PlaceFilter
            label={trans.__('Folder')}
            everything={trans.__('Every folder')}
            known={workspacesOf(pages)}
            value={filter.workspace}
            onChoose={workspace => void pages.choose({ workspace })}
          />
          <NotebookFilter pages={pages} />
          <DateFilter
            label={trans.__('From')}
            value={filter.since}
            onChoose={since => void pages.choose({ since })}
          />
          <DateFilter
            label={trans.__('Until')}
            days={1}
            value={filter.until}
            onChoose={until => void pages.choose({ until })}
          />
        </div>
      )}
    </div>
  );
}

function SearchField({ pages }: { pages: HistoryPages }): JSX.Element {
  const { trans } = usePanel();
  const [typed, setTyped] = React.useState(pages.filter.query);
  const search = React.useMemo(
    () =>
      new Debouncer<void, unknown, [string]>(
        query => pages.choose({ query: query.trim() }),
        SEARCH_DELAY
      ),
    [pages]
  );
  React.useEffect(() => () => search.dispose(), [search]);
  const { query } = pages.filter;
  React.useEffect(() => {
    // Somebody wants to see everything again.
    if (query === '') {
      setTyped('');
    }
  }, [query]);
  return (
    <input
      type="search"
      className="jp-hdspAgent-input"
      aria-label={trans.__('Search past conversations')}
      placeholder={trans.__('Search')}
      value={typed}
      onChange={event => {
        const { value } = event.currentTarget;
        setTyped(value);
        void search.invoke(value).catch(() => undefined);
      }}
    />
  );
}

/**
 * A choice among places that are known from the list.
 */
function PlaceFilter(props: {
  label: string;
  everything: string;
  known: readonly string[];
  value: string | null;
  onChoose: (place: string | null) => void;
}): JSX.Element {
  const { known, value } = props;
  const all =
    value === null || known.includes(value) ? known : [value, ...known];
  return (
    <label>
      {props.label}
      <select
        className="jp-hdspAgent-select"
        value={value ?? ''}
        onChange={event => props.onChoose(event.currentTarget.value || null)}
      >
        <option value="">{props.everything}</option>
        {all.map(place => (
          <option key={place} value={place}>
            {place}
          </option>
        ))}
      </select>
    </label>
  );
}

function NotebookFilter({ pages }: { pages: HistoryPages }): JSX.Element {
  const { notebooks, trans } = usePanel();
  const inFront = notebooks?.currentWidget?.context.path;
  const listed = (pages.items ?? []).flatMap(({ notebook }) =>
    notebook ? [notebook.path] : []
  );
  const known = inFront === undefined ? listed : [inFront, ...listed];
  return (
    <PlaceFilter
      label={trans.__('Notebook')}
      everything={trans.__('Every notebook')}
      known={[...new Set(known)]}
      value={pages.filter.notebook}
      onChoose={notebook => void pages.choose({ notebook })}
    />
  );
}

/**
 * A day, as the moment it begins, or some days after that.
 */
function DateFilter({
  label,
  days = 0,
  value,
  onChoose
}: {
  label: string;
  days?: number;
  value: number | null;
  onChoose: (moment: number | null) => void;
}): JSX.Element {
  return (
    <label>
      {label}
      <input
        type="date"
        className="jp-hdspAgent-input"
        value={value === null ? '' : dayOf(value, -days)}
        onChange={event => onChoose(momentOf(event.currentTarget.value, days))}
      />
    </label>
  );
}

/**
 * The moment a day begins where the reader is; `null` for what is no day.
 */
export function momentOf(day: string, daysAfter: number): number | null {
  const [year, month, date] = day.split('-').map(Number);
  // Not every day has 24 hours.
  const moment = new Date(year, month - 1, date + daysAfter).getTime();
  return Number.isNaN(moment) ? null : moment;
}

/**
 * The day a moment belongs to where the reader is.
 */
export function dayOf(moment: number, daysAfter: number): string {
  const date = new Date(moment);
  date.setDate(date.getDate() + daysAfter);
  const pad = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

function workspacesOf({ items, filter }: HistoryPages): string[] {
  const listed = (items ?? []).flatMap(({ workspace }) =>
    workspace === undefined ? [] : [workspace]
  );
  const chosen: IHistoryFilter['workspace'] = filter.workspace;
  return [...new Set(chosen === null ? listed : [chosen, ...listed])];
}

/**
 * What an order is called.
 */
function sortText(sort: HistorySort, trans: TranslationBundle): string {
  switch (sort) {
    case 'newest':
      return trans.__('Newest first');
    case 'oldest':
      return trans.__('Oldest first');
    case 'mostExpensive':
      return trans.__('Most expensive first');
    case 'mostTokens':
      return trans.__('Most tokens first');
    case 'mostRelevant':
      return trans.__('Best match first');
  }
}

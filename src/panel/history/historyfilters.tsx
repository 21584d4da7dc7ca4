import { filterIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Debouncer } from '@lumino/polling';
import * as React from 'react';

import type { HistoryPlacesView } from '../../generated/rest';
import type { HistorySort } from '../../generated/wire';
import { IconButton } from '../../ui/controls/iconbutton';
import {
  favoriteIcon,
  notFavoriteIcon
} from '../../ui/icons/conversationicons';
import { isComposing } from '../../ui/inputmethod';
import { ProblemNote } from '../../ui/controls/problemnote';
import { Select } from '../../ui/controls/select';
import { usePanelState } from '../../ui/hooks';
import { useAction } from '../../ui/useaction';
import { usePanel } from '../../ui/services';
import { HistoryApi } from '../../rest/historyapi';
import type { HistoryPages } from './historypages';

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
        <Select
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
        </Select>
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
          <PlaceFilters pages={pages} />
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
  const { state: panel, trans } = usePanel();
  const field = React.useRef<HTMLInputElement>(null);
  const [typed, setTyped] = React.useState(pages.filter.query);
  const search = React.useMemo(
    () =>
      new Debouncer<void, unknown, [string]>(
        query =>
          query.trim() === pages.filter.query
            ? Promise.resolve()
            : pages.choose({ query: query.trim() }),
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
  const wanted = usePanelState(panel, ({ wantedSearch }) => wantedSearch);
  React.useEffect(() => {
    if (wanted === null) {
      return;
    }
    panel.wantedSearch = null;
    field.current?.focus();
    field.current?.select();
    if (wanted.query !== '') {
      setTyped(wanted.query);
      void pages.choose({ query: wanted.query });
    }
  }, [wanted, panel, pages]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const isEmptied =
      event.key === 'Escape' && typed !== '' && !isComposing(event.nativeEvent);
    if (isEmptied) {
      // It empties itself in some browsers only.
      event.preventDefault();
      event.stopPropagation();
      setTyped('');
      void search.invoke('').catch(() => undefined);
      void pages.choose({ query: '' });
    }
  };
  return (
    <input
      ref={field}
      type="search"
      dir="auto"
      className="jp-hdspAgent-input"
      aria-label={trans.__('Search conversations, notebooks and memory')}
      placeholder={trans.__('Search')}
      value={typed}
      onChange={event => {
        const { value } = event.currentTarget;
        setTyped(value);
        void search.invoke(value).catch(() => undefined);
      }}
      onKeyDown={onKeyDown}
    />
  );
}

/**
 * The folders and notebooks there are conversations about, to choose from.
 */
function PlaceFilters({ pages }: { pages: HistoryPages }): JSX.Element {
  const { notebooks, serverSettings, trans } = usePanel();
  const { workspace, notebook } = pages.filter;
  const { run, error } = useAction();
  const [known, setKnown] = React.useState<HistoryPlacesView>(Private.NOWHERE);
  React.useEffect(() => {
    void run(async () =>
      setKnown(await new HistoryApi(serverSettings).historyPlaces())
    );
  }, [run, serverSettings]);
  const inFront = notebooks?.currentWidget?.context.path ?? null;
  return (
    <>
      <PlaceFilter
        label={trans.__('Folder')}
        everything={trans.__('Every folder')}
        known={withPlaces(known.workspaces, workspace)}
        value={workspace}
        onChoose={workspace => void pages.choose({ workspace })}
      />
      <PlaceFilter
        label={trans.__('Notebook')}
        everything={trans.__('Every notebook')}
        known={withPlaces(known.notebooks, inFront, notebook)}
        value={notebook}
        onChoose={notebook => void pages.choose({ notebook })}
      />
      <ProblemNote error={error} />
    </>
  );
}

/**
 * A choice among places, each with the number of its conversations.
 */
function PlaceFilter(props: {
  label: string;
  everything: string;
  known: readonly IPlace[];
  value: string | null;
  onChoose: (place: string | null) => void;
}): JSX.Element {
  const { trans } = usePanel();
  const { value } = props;
  return (
    <label>
      {props.label}
      <Select
        value={value ?? ''}
        onChange={event => props.onChoose(event.currentTarget.value || null)}
      >
        <option value="">{props.everything}</option>
        {props.known.map(({ path, tasks }) => (
          <option key={path} value={path}>
            {tasks === null ? path : trans.__('%1 (%2)', path, tasks)}
          </option>
        ))}
      </Select>
    </label>
  );
}

/**
 * A place, and how many conversations are about it, if that is known.
 */
interface IPlace {
  readonly path: string;
  readonly tasks: number | null;
}

/**
 * These places, with one more in front of them or brought there.
 */
function withPlaces(
  known: readonly IPlace[],
  ...first: (string | null)[]
): readonly IPlace[] {
  return first.reduce<readonly IPlace[]>((places, path) => {
    if (path === null) {
      return places;
    }
    const place = known.find(one => one.path === path) ?? { path, tasks: null };
    return [place, ...places.filter(one => one.path !== path)];
  }, known);
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
        onChange={event =>
          onChoose(startOfDay(event.currentTarget.value, days))
        }
      />
    </label>
  );
}

/**
 * The moment a day begins where the reader is; `null` for what is no day.
 */
function startOfDay(day: string, daysAfter: number): number | null {
  const [year, month, date] = day.split('-').map(Number);
  // Not every day has 24 hours.
  const moment = new Date(year, month - 1, date + daysAfter).getTime();
  return Number.isNaN(moment) ? null : moment;
}

/**
 * The day a moment belongs to where the reader is.
 */
function dayOf(moment: number, daysAfter: number): string {
  const date = new Date(moment);
  date.setDate(date.getDate() + daysAfter);
  const pad = (part: number) => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
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

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * Before the server has told any place.
   */
  export const NOWHERE: HistoryPlacesView = { workspaces: [], notebooks: [] };
}

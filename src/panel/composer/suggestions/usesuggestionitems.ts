import * as React from 'react';

import { asErrorBody } from '../../../errors';
import type { ErrorBody } from '../../../generated/wire';
import type { IPanelServices } from '../../../ui/services';
import { usePanel } from '../../../ui/services';
import { databaseSuggestions } from './databasesuggestions';
import {
  checkpointSuggestions,
  conversationSuggestions,
  pageSuggestions,
  terminalSuggestions
} from './referencesuggestions';
import type { IRanked, ISuggestion, ITrigger } from './suggestions';
import { mayMean, rank } from './suggestions';
import {
  CHANGES,
  commandSuggestions,
  resourceSuggestions,
  commitSuggestions,
  fileSuggestions,
  notebookSuggestions,
  variableSuggestions
} from './suggestionsources';

/**
 * How long typing pauses before files and commits are searched for.
 */
const PAUSE_MILLISECONDS = 120;

/**
 * How long it is before a kernel is asked again that runs a cell, at first and at
 * most.
 */
const AGAIN_MILLISECONDS = { first: 500, most: 4_000 };

/**
 * How many suggestions are shown; who wants others types on.
 */
const MOST_SHOWN = 40;

/**
 * How many of a notebook's own things come before the files.
 */
const MOST_OF_NOTEBOOK = 12;

/**
 * How many variables and columns come after them.
 */
const MOST_OF_KERNEL = 8;

/**
 * How many tables of databases come after those.
 */
const MOST_TABLES = 6;

/**
 * How much of what MCP servers have is offered with it.
 */
const MOST_OF_SERVERS = 8;

/**
 * How many terminals, and how many checkpoints, are offered after the files, and
 * how much is there altogether.
 */
const MOST_ELSEWHERE = 3;
const MOST_LAST = 12;

/**
 * How many files keep their place, whatever else is found.
 */
const LEAST_FILES = 10;

/**
 * How much is typed before commits are searched for; before that the newest are
 * offered.
 */
const LEAST_OF_COMMITS = 2;

/**
 * The same for conversations, of which none are offered before that.
 */
const LEAST_OF_CONVERSATIONS = 3;

/**
 * The same where few characters make a word, as in Korean and Japanese.
 */
const LEAST_OF_WIDE = 2;

/**
 * What is found for a mention or a command.
 */
export interface ISuggestionItems {
  readonly items: readonly IRanked[];
  readonly isLoading: boolean;
  readonly error: ErrorBody | null;
}

export function useSuggestionItems(
  trigger: ITrigger | null,
  { text, onRefused, onMode }: useSuggestionItems.IOptions
): ISuggestionItems {
  const services = usePanel();
  const kind = trigger?.kind ?? null;
  const query = trigger?.query ?? '';
  const callbacks = React.useRef({ onRefused, onMode });
  callbacks.current = { onRefused, onMode };
  const refused = React.useCallback(
    (refusal: string) => callbacks.current.onRefused(refusal),
    []
  );
  const fixed = useLoaded(kind, () =>
    kind === 'command'
      ? commandSuggestions(services, slug => callbacks.current.onMode(slug))
      : notebookSuggestions(services, refusal =>
          callbacks.current.onRefused(refusal)
        )
  );
  const resources = useLoaded(kind === 'mention' ? kind : null, () =>
    // Without servers of tools one still mentions files.
    resourceSuggestions(services).catch(() => [])
  );
  const variables = useLoaded(kind === 'mention' ? kind : null, () =>
    // A kernel that does not answer keeps nobody from naming other things.
    variableSuggestions(services, refusal =>
      callbacks.current.onRefused(refusal)
    ).catch(() => [])
  );
  const tables = useLoaded(kind === 'mention' ? kind : null, () =>
    // Nor does a database.
    databaseSuggestions(services, refused).catch(() => [])
  );
  // A slash begins the path of a file.
  const isPath = trigger !== null && text[trigger.start + 1] === '/';
  const sought = kind === 'mention' && query !== '' && !isPath ? kind : null;
  const checkpoints = useLoaded(sought, () =>
    // Where none are kept one still mentions files.
    checkpointSuggestions(services, refused).catch(() => [])
  );
  const terminals = useLoaded(
    kind === 'mention' && !isPath ? kind : null,
    // What Lab keeps to itself may be another one day.
    () => Promise.resolve().then(() => terminalSuggestions(services, refused))
  );
  const files = useSearch(kind === 'mention' ? query : null, fileSuggestions);
  const commits = useSearch(
    kind !== 'mention' || isPath
      ? null
      : query.length < LEAST_OF_COMMITS
        ? ''
        : query,
    commitSuggestions
  );
  const conversations = useSearch(
    kind !== 'mention' || isPath || query.length < leastOf(query)
      ? null
      : query,
    React.useCallback(
      (services: IPanelServices, query: string) =>
        conversationSuggestions(services, query, refused),
      [refused]
    )
  );
  const items = React.useMemo(() => {
    const own = rank(fixed.suggestions, query);
    if (kind === 'command') {
      return own.slice(0, MOST_SHOWN);
    }
    const changes = commits.suggestions.filter(({ key }) => key === CHANGES);
    const last = [
      ...Private.meant(commits, query).filter(
        ({ suggestion }) => suggestion.key !== CHANGES
      ),
      ...rank(terminals.suggestions, query).slice(0, MOST_ELSEWHERE),
      ...rank(checkpoints.suggestions, query).slice(0, MOST_ELSEWHERE),
      ...Private.meant(conversations, query)
    ].slice(0, MOST_LAST);
    const found = Private.meant(files, query);
    const room = MOST_SHOWN - last.length;
    const first = [
      ...pageSuggestions(services, query, refused).map(suggestion => ({
        suggestion,
        found: []
      })),
      ...own.slice(0, MOST_OF_NOTEBOOK),
      ...rank(variables.suggestions, query).slice(0, MOST_OF_KERNEL),
      ...rank(tables.suggestions, query).slice(0, MOST_TABLES),
      ...rank(resources.suggestions, query).slice(0, MOST_OF_SERVERS),
      ...rank(changes, query)
    ];
    return [
      ...first.slice(0, room - Math.min(found.length, LEAST_FILES)),
      ...found
    ]
      .slice(0, room)
      .concat(last);
  }, [
    fixed.suggestions,
    variables.suggestions,
    tables.suggestions,
    resources.suggestions,
    checkpoints.suggestions,
    terminals.suggestions,
    conversations,
    files,
    commits,
    kind,
    query,
    refused,
    services
  ]);
  return {
    items,
    isLoading: [fixed, files, commits, checkpoints, conversations].some(
      ({ isLoading }) => isLoading
    ),
    error: fixed.error ?? files.error ?? commits.error
  };
}

/**
 * The namespace for `useSuggestionItems` statics.
 */
export namespace useSuggestionItems {
  /**
   * What is typed, and what is done with what is chosen.
   */
  export interface IOptions {
    readonly text: string;

    /**
     * Told in words why something was not attached.
     */
    readonly onRefused: (refusal: string) => void;

    readonly onMode: (slug: string) => void;
  }
}

/**
 * How much of a query has to be typed before conversations are searched for it.
 */
function leastOf(query: string): number {
  return /[\u2E80-\uFFDC]/u.test(query)
    ? LEAST_OF_WIDE
    : LEAST_OF_CONVERSATIONS;
}

/**
 * Suggestions that are on their way, there, or will not come.
 */
interface ILoaded {
  readonly suggestions: readonly ISuggestion[];
  readonly isLoading: boolean;
  readonly error: ErrorBody | null;

  /**
   * What was searched for, of what a search found.
   */
  readonly query?: string;
}

/**
 * Load suggestions each time a list opens; again and again while it is open, if
 * there will be an answer `'later'` only.
 */
function useLoaded(
  kind: ITrigger['kind'] | null,
  load: () => Promise<ISuggestion[] | 'later'>
): ILoaded {
  const [loaded, setLoaded] = React.useState(Private.NOTHING);
  const current = React.useRef(load);
  current.current = load;
  React.useEffect(() => {
    if (kind === null) {
      setLoaded(Private.NOTHING);
      return;
    }
    let isWanted = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLoaded(Private.LOADING);
    const settle = (outcome: ILoaded) => isWanted && setLoaded(outcome);
    const ask = (pause: number) =>
      void current.current().then(
        suggestions => {
          if (suggestions !== 'later') {
            settle({ ...Private.NOTHING, suggestions });
          } else if (isWanted) {
            const next = Math.min(pause * 2, AGAIN_MILLISECONDS.most);
            timer = setTimeout(() => ask(next), pause);
          }
        },
        (reason: unknown) =>
          settle({ ...Private.NOTHING, error: asErrorBody(reason) })
      );
    ask(AGAIN_MILLISECONDS.first);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [kind]);
  return loaded;
}

/**
 * What a query finds. What the query before found stays until something else is
 * found, and one search is under way at a time. Of what was found before, only
 * what the new query may mean is offered.
 */
function useSearch(
  query: string | null,
  search: (services: IPanelServices, query: string) => Promise<ISuggestion[]>
): ILoaded {
  const services = usePanel();
  const [loaded, setLoaded] = React.useState(Private.NOTHING);
  const last = React.useRef<Promise<void>>(Promise.resolve());
  React.useEffect(() => {
    if (query === null) {
      setLoaded(Private.NOTHING);
      return;
    }
    let isWanted = true;
    setLoaded(before => ({ ...before, isLoading: true }));
    const find = async () => {
      if (!isWanted) {
        return;
      }
      let outcome: ILoaded;
      try {
        const suggestions = await search(services, query);
        outcome = { ...Private.NOTHING, suggestions, query };
      } catch (reason) {
        outcome = { ...Private.NOTHING, error: asErrorBody(reason), query };
      }
      if (isWanted) {
        setLoaded(outcome);
      }
    };
    const timer = setTimeout(() => {
      last.current = last.current.then(find);
    }, PAUSE_MILLISECONDS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [query, services, search]);
  return loaded;
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const NOTHING: ILoaded = {
    suggestions: [],
    isLoading: false,
    error: null
  };

  export const LOADING: ILoaded = { ...NOTHING, isLoading: true };

  /**
   * What a search found that this query may mean.
   */
  export function meant(found: ILoaded, query: string): IRanked[] {
    return found.suggestions
      .filter(suggestion => found.query === query || mayMean(suggestion, query))
      .map(suggestion => ({ suggestion, found: [] }));
  }
}

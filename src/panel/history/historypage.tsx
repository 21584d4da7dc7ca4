import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { HistoryItem } from '../../generated/wire';
import { focusComposer } from '../../ui/focuscomposer';
import {
  deleteConversations,
  showConversation
} from '../../ui/conversations/conversationactions';
import { IconButton } from '../../ui/controls/iconbutton';
import { isComposing } from '../../ui/inputmethod';
import { lazyComponent } from '../../ui/lazycomponent';
import { titleOf } from '../../ui/conversations/opentasks';
import { ProblemNote } from '../../ui/controls/problemnote';
import { usePanelState } from '../../ui/hooks';
import { useAction } from '../../ui/useaction';
import { MoreButton } from '../../ui/controls/morebutton';
import { usePanel } from '../../ui/services';
import { listText } from '../../ui/texts/listtext';
import { FoundGroups, FoundLinks, countOf } from './foundgroups';
import type { FoundPassages } from './foundpassages';
import { HistoryFilters } from './historyfilters';
import { HistoryList } from './historylist';
import { HistoryPages } from './historypages';
import { useFoundPassages, useHistory, useSubtasks } from './usehistory';

const Statistics = lazyComponent(
  async () => (await import('./statistics')).Statistics
);

/**
 * The list of all conversations with what one can do with them, and what they
 * used.
 */
export function HistoryPage(): JSX.Element {
  const { node, state: panel, trans } = usePanel();
  const pages = useHistory();
  const [areFiguresShown, setFiguresShown] = React.useState(false);
  const isSearchWanted = usePanelState(
    panel,
    ({ wantedSearch }) => wantedSearch !== null
  );
  React.useEffect(() => {
    if (isSearchWanted) {
      // The field that takes it is with the list.
      setFiguresShown(false);
    }
  }, [isSearchWanted]);
  const heading = React.useRef<HTMLHeadingElement>(null);
  const part = React.useRef<HTMLElement>(null);
  const returnsTo = React.useRef<HTMLElement | null>(null);
  const opener = React.useRef<Element | null>(null);
  React.useEffect(() => {
    opener.current = document.activeElement;
    heading.current?.focus();
    return () =>
      void requestAnimationFrame(() => {
        // What had the focus here is gone with the page.
        if (document.activeElement !== document.body) {
          return;
        }
        if (returnsTo.current?.isConnected) {
          returnsTo.current.focus();
        } else {
          focusComposer(node);
        }
      });
  }, [node]);
  const leave = () => {
    const { current } = opener;
    // From elsewhere the panel was opened, too, and stays.
    returnsTo.current =
      current instanceof HTMLElement && node.contains(current) ? current : null;
    panel.page = 'chat';
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key !== 'Escape' || isComposing(event.nativeEvent)) {
      return;
    }
    // One step back at a time; to Lab it means to leave the panel.
    event.stopPropagation();
    if (pages !== null && pages.filter.query !== '') {
      part.current?.querySelector<HTMLElement>('[type="search"]')?.focus();
      void pages.choose({ query: '' });
    } else {
      leave();
    }
  };
  return (
    <section
      ref={part}
      className="jp-hdspAgent-history"
      aria-label={trans.__('Past conversations')}
      onKeyDown={onKeyDown}
    >
      <div className="jp-hdspAgent-history-head">
        <h3 ref={heading} tabIndex={-1}>
          {trans.__('Past conversations')}
        </h3>
        <button
          type="button"
          className="jp-hdspAgent-button"
          aria-pressed={areFiguresShown}
          onClick={() => setFiguresShown(!areFiguresShown)}
        >
          {trans.__('Usage')}
        </button>
        <IconButton
          icon={closeIcon}
          label={trans.__('Back to the conversation')}
          onClick={leave}
        />
      </div>
      {areFiguresShown ? (
        <Statistics />
      ) : (
        pages !== null && <Listed pages={pages} />
      )}
    </section>
  );
}

/**
 * The list, what is looked for in it, and what is selected.
 */
function Listed({ pages }: { pages: HistoryPages }): JSX.Element {
  const services = usePanel();
  const { trans } = services;
  const { run, error, isBusy } = useAction();
  const [marked, setMarked] = React.useState<ReadonlySet<string>>(new Set());
  const items = pages.items ?? Private.NONE;
  const passages = useFoundPassages(pages);
  const found = passages?.found ?? null;
  const others = found === null ? 0 : countOf(found);
  const counts = [
    ...(pages.items !== null && !pages.isLoading
      ? [trans._n('%1 conversation', '%1 conversations', pages.total)]
      : []),
    ...(others > 0
      ? [trans._n('%1 other passage', '%1 other passages', others)]
      : [])
  ];
  const id = React.useId();
  const subtasks = useSubtasks(services);
  const here = new Map([
    ...subtasks.known,
    ...items.map(item => [item.id, item] as const)
  ]);
  const selected = [...here.values()].filter(({ id }) => marked.has(id));

  const open = React.useCallback(
    (item: HistoryItem, ts: number | null) =>
      void run(() => showConversation(services, item.id, ts)),
    [run, services]
  );
  const favor = React.useCallback(
    (item: HistoryItem) =>
      void run(() =>
        services.client.request({
          type: 'favoriteTask',
          taskId: item.id,
          favorite: item.isFavorited !== true
        })
      ),
    [run, services]
  );
  const remove = React.useCallback(
    (gone: readonly HistoryItem[]) =>
      void run(async () => {
        const tasks = gone.map(item => ({
          taskId: item.id,
          title: titleOf(item, services.trans)
        }));
        if (await deleteConversations(services, tasks)) {
          setMarked(new Set());
        }
      }),
    [run, services]
  );
  const mark = React.useCallback(
    (taskId: string, isMarked: boolean) =>
      setMarked(before => {
        const after = new Set(before);
        if (isMarked) {
          after.add(taskId);
        } else {
          after.delete(taskId);
        }
        return after;
      }),
    []
  );
  return (
    <>
      <HistoryFilters pages={pages} />
      <div className="jp-hdspAgent-announcement" role="status">
        {listText(counts, trans)}
      </div>
      {found !== null && items.length > 0 && (
        <FoundLinks found={found} id={id} />
      )}
      {items.length > 0 && (
        <Selection
          count={selected.length}
          total={pages.total}
          isBusy={isBusy}
          areAllMarked={items.every(({ id }) => marked.has(id))}
          onMarkAll={areMarked =>
            setMarked(new Set(areMarked ? items.map(({ id }) => id) : []))
          }
          onDelete={() => remove(selected)}
        />
      )}
      <ProblemNote error={error} />
      <HistoryList
        pages={pages}
        passages={found?.listed ?? null}
        subtasks={subtasks}
        marked={marked}
        onOpen={open}
        onFavor={favor}
        onMark={mark}
        onDelete={remove}
      />
      <Ending pages={pages} passages={passages} />
      {passages !== null && (
        <FoundGroups
          passages={passages}
          id={id}
          isBelowList={items.length > 0}
        />
      )}
    </>
  );
}

/**
 * How many are selected, and what can be done with them.
 */
function Selection(props: {
  count: number;
  total: number;
  isBusy: boolean;
  areAllMarked: boolean;
  onMarkAll: (areMarked: boolean) => void;
  onDelete: () => void;
}): JSX.Element {
  const { trans } = usePanel();
  const { count, areAllMarked } = props;
  const box = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    if (box.current !== null) {
      box.current.indeterminate = count > 0 && !areAllMarked;
    }
  }, [count, areAllMarked]);
  return (
    <div className="jp-hdspAgent-history-selection">
      <label>
        <input
          ref={box}
          type="checkbox"
          checked={areAllMarked}
          onChange={event => props.onMarkAll(event.currentTarget.checked)}
        />
        {count === 0
          ? trans._n('%1 conversation', '%1 conversations', props.total)
          : trans._n('%1 selected', '%1 selected', count)}
      </label>
      {count > 0 && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          disabled={props.isBusy}
          onClick={props.onDelete}
        >
          {trans._n(
            'Delete %1 conversation…',
            'Delete %1 conversations…',
            count
          )}
        </button>
      )}
    </div>
  );
}

/**
 * What follows the list: more of it, nothing at all, or why it is not there.
 */
function Ending({
  pages,
  passages
}: {
  pages: HistoryPages;
  passages: FoundPassages | null;
}): JSX.Element | null {
  const { trans } = usePanel();
  const found = passages?.found ?? null;
  const isFollowed = found !== null && countOf(found) > 0;
  const { items, error, hasMore, isFiltered, isLoading } = pages;
  const isNothing = items?.length === 0;
  if (error !== null) {
    return (
      <div className="jp-hdspAgent-history-ending">
        <ProblemNote error={error} />
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => void (hasMore ? pages.more() : pages.reload())}
        >
          {trans.__('Try again')}
        </button>
      </div>
    );
  }
  if (isLoading || items === null || (isNothing && passages?.isLoading)) {
    return (
      <p className="jp-hdspAgent-history-ending">{trans.__('Loading…')}</p>
    );
  }
  if (hasMore) {
    return (
      <div className="jp-hdspAgent-history-ending">
        {/* What follows would never come into sight. */}
        <MoreButton pages={pages} isAutomatic={!isFollowed} />
      </div>
    );
  }
  if (!isNothing || isFollowed) {
    return null;
  }
  return (
    <div className="jp-hdspAgent-history-ending">
      <p>
        {isFiltered
          ? found?.isEverywhere
            ? trans.__('Nothing matches in conversations, notebooks or memory.')
            : trans.__('No conversation matches.')
          : trans.__(
              'There are no conversations yet. What you ask the agent is kept here.'
            )}
      </p>
      {isFiltered && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => void pages.choose(HistoryPages.EVERYTHING)}
        >
          {trans.__('Show all')}
        </button>
      )}
    </div>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The same empty list each time, so that nothing seems to have changed.
   */
  export const NONE: readonly HistoryItem[] = [];
}

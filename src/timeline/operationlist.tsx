import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { ProblemNote } from '../ui/controls/problemnote';
import { MoreButton } from '../ui/controls/morebutton';
import { plainTitle } from '../ui/conversations/opentasks';
import { usePanel } from '../ui/services';
import { useFold } from '../ui/texts/fold';
import { useEntries, useTimelineModel, useTimeline } from './timelinecontext';
import type { IEntryGroup } from './timelineentries';
import { groupsOf, isUnchanged } from './timelineentries';
import { isAbout } from './timelinemodel';
import { OperationRow } from './operationrow';
import { failureOf } from './failuretexts';

/**
 * What was done, newest first, by the requests that led to it.
 */
export function OperationList(): JSX.Element {
  const { trans } = usePanel();
  const all = useEntries();
  const open = useTimelineModel(({ open }) => open);
  const { only, place, withUnchanged } = useTimelineModel(
    ({ filter }) => filter
  );
  const notebook = only === 'notebook' ? place.path : undefined;
  const entries = React.useMemo(
    () =>
      notebook === undefined
        ? all
        : all.filter(({ operation }) => isAbout(operation, notebook)),
    [all, notebook]
  );
  const groups = React.useMemo(
    () =>
      groupsOf(
        entries.filter(
          entry =>
            withUnchanged || entry.operation.id === open || !isUnchanged(entry)
        )
      ),
    [entries, withUnchanged, open]
  );
  return (
    <div className="jp-hdspAgent-timeline-scroll">
      {groups.length === 0 && (
        <Nothing isFiltered={only !== 'all'} hasHidden={entries.length > 0} />
      )}
      {groups.length > 0 && (
        <ol
          className="jp-hdspAgent-timeline-list"
          aria-label={trans.__('Changes, newest first')}
          onKeyDown={onKeyDown}
        >
          {groups.map(group =>
            group.request === null ? (
              <Rows key={group.key} group={group} open={open} />
            ) : (
              <RequestGroup key={group.key} group={group} open={open} />
            )
          )}
        </ol>
      )}
      <Older />
    </div>
  );
}

/**
 * What one request of the person led to, below how that begins.
 */
function RequestGroup({
  group,
  open
}: {
  group: IEntryGroup;
  open: string | null;
}): JSX.Element {
  const { trans } = usePanel();
  const [isChosen, choose] = useFold(group.key, true);
  const content = React.useId();
  // What is to be seen is not hidden.
  const isOpen =
    isChosen || group.entries.some(({ operation }) => operation.id === open);
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  const request = plainTitle(group.request ?? '', trans);
  return (
    <li className="jp-hdspAgent-timeline-group">
      <button
        type="button"
        className="jp-hdspAgent-timeline-request"
        aria-expanded={isOpen}
        aria-controls={isOpen ? content : undefined}
        onClick={() => choose(!isOpen)}
      >
        <Caret tag="span" className="jp-hdspAgent-chat-fold-caret" />
        <span
          className="jp-hdspAgent-timeline-requestText"
          dir="auto"
          title={request}
        >
          {request}
        </span>
      </button>
      {isOpen && (
        <ol id={content} className="jp-hdspAgent-timeline-list">
          <Rows group={group} open={open} />
        </ol>
      )}
    </li>
  );
}

function Rows({
  group,
  open
}: {
  group: IEntryGroup;
  open: string | null;
}): JSX.Element {
  return (
    <>
      {group.entries.map(entry => (
        <OperationRow
          key={entry.operation.id}
          {...entry}
          isOpen={entry.operation.id === open}
        />
      ))}
    </>
  );
}

function Nothing({
  isFiltered,
  hasHidden
}: {
  isFiltered: boolean;
  hasHidden: boolean;
}): JSX.Element {
  const { trans } = usePanel();
  const { model } = useTimeline();
  const { place } = model.filter;
  return (
    <div className="jp-hdspAgent-timeline-note">
      <p>
        {hasHidden
          ? trans.__('Nothing has changed so far.')
          : isFiltered
            ? trans.__('No loaded entry matches this filter.')
            : trans.__(
                'There are no checkpoints yet. One is saved before the agent changes something, and whenever you save one.'
              )}
      </p>
      {hasHidden ? (
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => model.listUnchanged(true)}
        >
          {trans.__('Show entries without changes')}
        </button>
      ) : (
        isFiltered && (
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={() => void model.show({ place, only: 'all' })}
          >
            {trans.__('Show all')}
          </button>
        )
      )}
    </div>
  );
}

/**
 * What is older, if there is any.
 */
function Older(): JSX.Element | null {
  const { trans } = usePanel();
  const { model } = useTimeline();
  const hasMore = useTimelineModel(({ view }) => view?.more ?? false);
  const error = useTimelineModel(({ error }) => error);
  return hasMore ? (
    <div className="jp-hdspAgent-timeline-note">
      <ProblemNote error={error && failureOf(error, trans)} />
      <MoreButton pages={model} />
    </div>
  ) : null;
}

/**
 * The buttons that open requests and rows, in their order on screen.
 */
function rowsOf(list: HTMLElement): HTMLElement[] {
  return [
    ...list.querySelectorAll<HTMLElement>(
      '.jp-hdspAgent-timeline-request, .jp-hdspAgent-timeline-open'
    )
  ];
}

/**
 * Arrows go from one row to the next, and open and close it; Escape closes it
 * from anywhere within.
 */
function onKeyDown(event: React.KeyboardEvent<HTMLElement>): void {
  const target = event.target as HTMLElement;
  const item = target.closest('.jp-hdspAgent-timeline-item');
  const own = item?.querySelector<HTMLElement>('.jp-hdspAgent-timeline-open');
  if (event.key === 'Escape' && own?.getAttribute('aria-expanded') === 'true') {
    own.click();
    own.focus();
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  const rows = rowsOf(event.currentTarget);
  const at = rows.indexOf(target);
  if (at === -1) {
    return;
  }
  const isOpen = target.getAttribute('aria-expanded') === 'true';
  const wantsOpen = { ArrowRight: true, ArrowLeft: false }[event.key];
  if (wantsOpen !== undefined) {
    if (wantsOpen !== isOpen) {
      target.click();
    }
    event.preventDefault();
    return;
  }
  const to = {
    ArrowDown: at + 1,
    ArrowUp: Math.max(at - 1, 0),
    Home: 0,
    End: rows.length - 1
  }[event.key];
  if (to !== undefined) {
    rows.at(Math.min(to, rows.length - 1))?.focus();
    event.preventDefault();
  }
}

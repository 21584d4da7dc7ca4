import * as React from 'react';

import { ProblemNote } from '../ui/controls/problemnote';
import { MoreButton } from '../ui/controls/morebutton';
import { usePanel } from '../ui/services';
import { useTimelineModel, useTimeline } from './timelinecontext';
import { isAbout } from './timelinemodel';
import { OperationRow } from './operationrow';
import { failureOf } from './failuretexts';

/**
 * What was done, newest first.
 */
export function OperationList(): JSX.Element {
  const { trans } = usePanel();
  const all = useTimelineModel(({ operations }) => operations);
  const open = useTimelineModel(({ open }) => open);
  const { only, place } = useTimelineModel(({ filter }) => filter);
  const notebook = only === 'notebook' ? place.path : undefined;
  const rows = React.useMemo(
    () =>
      notebook === undefined
        ? all
        : all.filter(operation => isAbout(operation, notebook)),
    [all, notebook]
  );
  return (
    <div className="jp-hdspAgent-timeline-scroll">
      {rows.length === 0 && <Nothing isFiltered={only !== 'all'} />}
      {rows.length > 0 && (
        <ol
          className="jp-hdspAgent-timeline-list"
          aria-label={trans.__('What was done, newest first')}
          onKeyDown={onKeyDown}
        >
          {rows.map(operation => (
            <OperationRow
              key={operation.id}
              operation={operation}
              isOpen={operation.id === open}
            />
          ))}
        </ol>
      )}
      <Older />
    </div>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  const { trans } = usePanel();
  const { model } = useTimeline();
  const { place } = model.filter;
  return (
    <div className="jp-hdspAgent-timeline-note">
      <p>
        {isFiltered
          ? trans.__('Nothing that is loaded here belongs to it.')
          : trans.__(
              'There are no checkpoints yet. One is saved before the agent changes something, and whenever you save one.'
            )}
      </p>
      {isFiltered && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => void model.show({ place, only: 'all' })}
        >
          {trans.__('Show all')}
        </button>
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
 * The buttons that open rows, in their order on screen.
 */
function rowsOf(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('.jp-hdspAgent-timeline-open')];
}

/**
 * Arrows go from one row to the next, and open and close it; Escape closes it
 * from anywhere within.
 */
function onKeyDown(event: React.KeyboardEvent<HTMLElement>): void {
  const target = event.target as HTMLElement;
  const item = target.closest('.jp-hdspAgent-timeline-item');
  const own = item?.querySelector<HTMLElement>('.jp-hdspAgent-timeline-open');
  const isOpen = own?.getAttribute('aria-expanded') === 'true';
  if (event.key === 'Escape' && isOpen) {
    own?.click();
    own?.focus();
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  const rows = rowsOf(event.currentTarget);
  const at = rows.indexOf(target);
  if (at === -1) {
    return;
  }
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

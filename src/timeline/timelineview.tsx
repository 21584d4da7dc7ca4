import * as React from 'react';

import { ErrorBoundary } from '../ui/errorboundary';
import { Announcements } from '../ui/announcements';
import type { IRenderContext } from '../ui/rendercontext';
import { RenderContext } from '../ui/rendercontext';
import { RenderedBlocks } from '../ui/markdown/renderedblocks';
import { safeRegistry } from '../ui/markdown/sanitizer';
import { ProblemNote } from '../ui/controls/problemnote';
import { useAction } from '../ui/useaction';
import { usePanel } from '../ui/services';
import { useTimelineModel, useTimeline } from './timelinecontext';
import { TimelineFilters } from './timelinefilters';
import { CurrentPosition } from './currentposition';
import { OperationList } from './operationlist';
import { StorageUsage } from './storageusage';
import { failureOf } from './failuretexts';

/**
 * The whole time line.
 */
export function TimelineView(): JSX.Element {
  const { trans } = usePanel();
  const view = useTimelineModel(({ view }) => view);
  const error = useTimelineModel(({ error }) => error);
  const folds = useFolds();
  return (
    <RenderContext.Provider value={folds}>
      <CurrentPosition />
      <TimelineFilters />
      {view?.interrupted && <Interrupted />}
      {view !== null && !view.store.enabled && <TurnedOff />}
      {error !== null && <Failed />}
      <ErrorBoundary says={trans.__('The timeline could not be shown.')}>
        {view === null && error === null && (
          <p className="jp-hdspAgent-timeline-note" role="status">
            {trans.__('Loading…')}
          </p>
        )}
        {view !== null && <OperationList />}
      </ErrorBoundary>
      {view !== null && <StorageUsage store={view.store} />}
      <Announced />
    </RenderContext.Provider>
  );
}

/**
 * What unfolds remembers where; differences of the conversation are shown here, too.
 */
function useFolds(): IRenderContext {
  const { rendermime, documents } = usePanel();
  const [chat] = React.useState<IRenderContext>(() => {
    const safe = safeRegistry(rendermime, documents);
    return {
      rendermime: safe,
      blocks: new RenderedBlocks(safe),
      folds: new Map(),
      announcements: new Announcements()
    };
  });
  React.useEffect(() => () => chat.blocks.dispose(), [chat]);
  return chat;
}

/**
 * Why the time line is not known, or not anew.
 */
function Failed(): JSX.Element {
  const { trans } = usePanel();
  const { model } = useTimeline();
  const error = useTimelineModel(({ error }) => error);
  return (
    <div className="jp-hdspAgent-timeline-note">
      <ProblemNote error={error && failureOf(error, trans)} />
      <button
        type="button"
        className="jp-hdspAgent-button"
        onClick={() => void model.refresh()}
      >
        {trans.__('Try again')}
      </button>
    </div>
  );
}

/**
 * A restore that a crash cut short, and what may become of it.
 */
function Interrupted(): JSX.Element {
  const { trans } = usePanel();
  const { model, restoreActions } = useTimeline();
  const { isBusy, run } = useAction();
  const settle = (action: 'roll_back' | 'keep') => () =>
    void run(() => restoreActions.act(model.filter.place, action));
  return (
    <div
      className="jp-hdspAgent-timeline-banner"
      role="group"
      aria-label={trans.__('A restore was interrupted')}
    >
      <p role="alert">
        {trans.__(
          'A restore was interrupted, so the workspace is between two states. Roll it back, or keep the current state.'
        )}
      </p>
      <div className="jp-hdspAgent-actions">
        <button
          type="button"
          className="jp-hdspAgent-button jp-mod-accept"
          aria-disabled={isBusy}
          onClick={settle('roll_back')}
        >
          {trans.__('Roll back')}
        </button>
        <button
          type="button"
          className="jp-hdspAgent-button"
          aria-disabled={isBusy}
          onClick={settle('keep')}
        >
          {trans.__('Keep current state')}
        </button>
      </div>
    </div>
  );
}

/**
 * That the agent keeps nothing.
 */
function TurnedOff(): JSX.Element {
  const { openSettings, trans } = usePanel();
  return (
    <div className="jp-hdspAgent-timeline-banner">
      <p>
        {trans.__(
          'Checkpoints are turned off: what the agent changes cannot be restored from here. You can still save some yourself.'
        )}
      </p>
      <button
        type="button"
        className="jp-hdspAgent-link"
        onClick={() => openSettings('checkpoints')}
      >
        {trans.__('Checkpoint settings')}
      </button>
    </div>
  );
}

/**
 * Reads aloud where one is when that changes.
 */
function Announced(): JSX.Element {
  const { trans } = usePanel();
  const count = useTimelineModel(({ operations }) => operations.length);
  const isLoading = useTimelineModel(({ isLoading }) => isLoading);
  return (
    <div className="jp-hdspAgent-announcement" role="status">
      {isLoading ? '' : trans._n('%1 entry', '%1 entries', count)}
    </div>
  );
}

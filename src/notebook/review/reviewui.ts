import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import type { ChannelClient } from '../../comm/client';
import { showWarning } from '../../ui/notifications';
import { CellFinder } from '../cells/cellplace';
import { CellMarks } from '../cellmarks';
import type { IAgentChange, AgentNotebooks } from '../agentnotebooks';
import { addReviewCommands, REVIEW_COMMANDS } from './reviewcommands';
import { OpenReviews } from './openreviews';
import { ReviewView } from './reviewview';

export { REVIEW_COMMANDS };

/**
 * What a review works with.
 */
export interface IReviewEnvironment {
  readonly client: Pick<ChannelClient, 'request'>;
  readonly commands: CommandRegistry;
  readonly agentNotebooks: AgentNotebooks;
  readonly tracker: INotebookTracker;
  readonly trans: TranslationBundle;

  /**
   * What the agent changed before anybody listened.
   */
  readonly early: readonly IAgentChange[];

  /**
   * The node of the cell the context menu was opened at.
   */
  readonly pointed: () => HTMLElement | undefined;
}

/**
 * Show in all notebooks what the agent runs and changed, to keep or take back.
 *
 * @returns A disposable that takes it all away.
 */
export function createReview({
  client,
  commands,
  agentNotebooks,
  tracker,
  trans,
  early,
  pointed
}: IReviewEnvironment): IDisposable {
  const { notebooks } = agentNotebooks;
  const reviews = new OpenReviews(agentNotebooks);
  const views = new Map<NotebookPanel, ReviewView>();
  reviews.reviewed.connect((_, verdict) => {
    const { context, taskId, isLast = false, ...decided } = verdict;
    const path = notebooks.pathOf({ context });
    if (path === null) {
      return;
    }
    const said = { type: 'cellReview', path, isLast, ...decided } as const;
    client
      .request({ ...said, ...(taskId !== null && { taskId }) })
      // Its task is gone, or another person's: that it is decided counts.
      .catch(() => client.request(said))
      .catch(() => {
        // It is for the record: what was decided is done in any case.
      });
  });
  reviews.refused.connect(() => {
    showWarning(
      trans.__(
        "You have edited the same lines since, so the agent's change was not undone there. Edit them by hand."
      )
    );
  });
  const notify = () =>
    REVIEW_COMMANDS.forEach(id => commands.notifyCommandChanged(id));
  const open = (panel: NotebookPanel): IDisposable => {
    const review = reviews.of(panel);
    const view = new ReviewView({
      panel,
      review,
      trans,
      loadDiffs: () => import('./celldiff')
    });
    const marks = new CellMarks({ agentNotebooks, panel, review, trans });
    views.set(panel, view);
    return new DisposableDelegate(() => {
      views.delete(panel);
      view.dispose();
      marks.dispose();
    });
  };
  const added = addReviewCommands(commands, {
    cells: new CellFinder({ notebooks, tracker, pointed }),
    reviews,
    views,
    trans
  });
  reviews.changed.connect(notify);
  tracker.activeCellChanged.connect(notify);
  early.forEach(change => reviews.take(change));
  return DisposableSet.from([
    notebooks.each(open),
    new DisposableDelegate(() => tracker.activeCellChanged.disconnect(notify)),
    reviews,
    added
  ]);
}

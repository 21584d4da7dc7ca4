import * as React from 'react';

import type { StoreView } from '../generated/rest';
import { Fold } from '../ui/texts/fold';
import { fullCount, sizeText, whole } from '../ui/texts/formats';
import { useAction } from '../ui/useaction';
import { usePanel } from '../ui/services';
import { useTimeline } from './timelinecontext';
import { scopeText, whenText } from './timelinetexts';

/**
 * What the checkpoints take, what they may take, and which files are kept.
 */
export function StorageUsage({ store }: { store: StoreView }): JSX.Element {
  const { openSettings, trans } = usePanel();
  const { model, restoreActions } = useTimeline();
  const { isBusy, run } = useAction();
  const size = (bytes: number) => whole(sizeText(bytes, trans));
  return (
    <section
      className="jp-hdspAgent-timeline-store"
      aria-label={trans.__('Space')}
    >
      <Fold
        id="store"
        summary={trans._n(
          '%1 checkpoint, %2',
          '%1 checkpoints, %2',
          store.checkpoints,
          size(store.bytes)
        )}
      >
        <dl className="jp-hdspAgent-facts">
          <dt>{trans.__('Space')}</dt>
          <dd>
            {trans.__('%1 of %2', size(store.bytes), size(store.quotaBytes))}
            <meter
              min={0}
              max={store.quotaBytes}
              value={Math.min(store.bytes, store.quotaBytes)}
              aria-label={trans.__('Space used')}
            />
          </dd>
          {store.variablesBytes > 0 && (
            <>
              <dt>{trans.__('Variables')}</dt>
              <dd>{size(store.variablesBytes)}</dd>
            </>
          )}
          <dt>{trans.__('Checkpoints')}</dt>
          <dd>
            {trans.__(
              '%1 of %2',
              fullCount(store.checkpoints),
              fullCount(store.quotaCheckpoints)
            )}
          </dd>
          {store.oldestTs !== undefined && (
            <>
              <dt>{trans.__('Oldest')}</dt>
              <dd>{whenText(store.oldestTs)}</dd>
            </>
          )}
          <dt>{trans.__('Files')}</dt>
          <dd>{scopeText(store, trans)}</dd>
        </dl>
        <p className="jp-hdspAgent-timeline-quiet">
          {trans.__(
            'The oldest checkpoints are deleted automatically when there are too many or they use too much space. The newest ones and those that an undo needs stay.'
          )}
        </p>
        <div className="jp-hdspAgent-actions">
          <button
            type="button"
            className="jp-hdspAgent-button"
            aria-disabled={isBusy}
            onClick={() =>
              void run(() => restoreActions.act(model.filter.place, 'tidy'))
            }
          >
            {trans.__('Clean up now')}
          </button>
          <button
            type="button"
            className="jp-hdspAgent-link"
            onClick={() => openSettings('checkpoints')}
          >
            {trans.__('Checkpoint settings')}
          </button>
        </div>
      </Fold>
    </section>
  );
}

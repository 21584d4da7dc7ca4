import * as React from 'react';

import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { newestCondense, undoCondense } from './undocondense';

/**
 * A button that lets the model see again what it was not shown any more;
 * nothing where that would change nothing.
 */
export function UndoCondenseButton({
  ts,
  markId,
  tokens
}: {
  /**
   * The message that tells of it.
   */
  ts: number;
  markId: string | undefined;
  tokens: number;
}): JSX.Element | null {
  const services = usePanel();
  const { store, trans } = services;
  const taskId = useStore(store, ({ state }) => state?.currentTaskId);
  const isNewest = useStore(store, known => newestCondense(known) === ts);
  const { isBusy, error, run } = useAction();
  if (markId === undefined || taskId === undefined || !isNewest) {
    return null;
  }
  return (
    <div className="jp-hdspAgent-account-undo">
      <button
        type="button"
        className="jp-hdspAgent-button"
        aria-disabled={isBusy}
        title={trans.__('Let the model see the original messages again')}
        onClick={() =>
          void run(() => undoCondense(services, taskId, markId, tokens))
        }
      >
        {trans.__('Undo')}
      </button>
      <ProblemNote error={error} />
    </div>
  );
}

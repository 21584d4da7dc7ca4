import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { CommandIDs } from '../../ui/commandids';
import type { RestoreResult } from '../../generated/rest';
import type { AgentStore } from '../../state/store';
import { partText } from '../../timeline/timelinetexts';
import { Notice } from '../../ui/controls/notice';
import { fullCount } from '../../ui/texts/formats';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { usePanelState, useStore } from '../../ui/hooks';
import type { IRestored } from '../../state/panel/panelstate';
import { usePanel } from '../../ui/services';
import { listText } from '../../ui/texts/listtext';
import { undoRestore } from './restorecheckpoint';

/**
 * What was brought back from a checkpoint of the conversation on screen, as long
 * as the person has not gone on since; `null` if nothing was.
 */
export function useRestored(): IRestored | null {
  const { state, store } = usePanel();
  const restored = usePanelState(state, ({ restored }) => restored);
  const isOver = useStore(
    store,
    store => restored !== null && hasContinued(store, restored)
  );
  return isOver ? null : restored;
}

/**
 * Says what was brought back, and offers to take that back.
 */
export function RestoredBar({
  restored: { taskId, result }
}: {
  restored: IRestored;
}): JSX.Element {
  const services = usePanel();
  const { commands, state, trans } = services;
  const { isBusy, error, run } = useAction();
  const { operation } = result;
  const action = (
    label: string,
    work: () => Promise<unknown>
  ): Notice.IAction => ({ label, isBusy, onClick: () => void run(work) });
  return (
    <Notice
      role="group"
      aria-label={trans.__('The last restore')}
      text={restoredText(result, trans)}
      textRole="status"
      actions={[
        ...(operation.undoable
          ? [
              action(
                operation.kind === 'undo' ? trans.__('Redo') : trans.__('Undo'),
                () => undoRestore(services, taskId, operation.id)
              )
            ]
          : []),
        action(trans.__('Details'), () =>
          commands.execute(CommandIDs.openTimeline, { taskId, only: 'task' })
        )
      ]}
      onDismiss={() => {
        state.restored = { taskId, result, isPutAway: true };
      }}
    >
      <ProblemNote error={error} />
    </Notice>
  );
}

function restoredText(
  { operation, variables }: RestoreResult,
  trans: TranslationBundle
): string {
  const { kind, parts, kept, cellId } = operation;
  const lost = variables
    .flatMap(({ variables }) => variables)
    .filter(({ action }) => action === 'lost').length;
  return [
    kind === 'undo'
      ? trans.__('The restore was undone.')
      : cellId !== undefined
        ? trans.__('The cell was restored.')
        : trans.__(
            'Restored: %1.',
            listText(
              parts.map(part => partText(part, trans)),
              trans
            )
          ),
    kept > 0 &&
      trans._n(
        '%1 file stays as you changed it since.',
        '%1 files stay as you changed them since.',
        kept,
        fullCount(kept)
      ),
    lost > 0 &&
      trans._n(
        '%1 variable is lost. To get it back, its cell has to run again.',
        '%1 variables are lost. To get them back, their cells have to run again.',
        lost,
        fullCount(lost)
      )
  ]
    .filter(Boolean)
    .join(' ');
}

function hasContinued(
  store: AgentStore,
  { taskId, result, isPutAway }: IRestored
): boolean {
  if (isPutAway || store.state?.currentTaskId !== taskId) {
    return true;
  }
  for (let index = store.order.length - 1; index >= 0; index--) {
    const ts = store.order[index];
    if (ts < result.operation.ts) {
      return false;
    }
    if (store.message(ts)?.say === 'user_feedback') {
      return true;
    }
  }
  return false;
}

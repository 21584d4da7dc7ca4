import * as React from 'react';

import type { ConversationMark } from '../../generated/wire';
import type { AgentStore } from '../../state/store';
import { Notice } from '../../ui/controls/notice';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { useDismissed } from '../../ui/usedismissed';
import { undoOrRedo } from './conversationchanges';
import { previewChange } from './previewchange';
import { RestoredBar, useRestored } from './restoredbar';

/**
 * Offers to undo the last thing the person took back or brought back, for as
 * long as they have not gone on; nothing when there is none.
 */
export function UndoBar(): JSX.Element | null {
  const restored = useRestored();
  // A restore may have taken messages back too; undone it brings all back at once.
  return restored ? <RestoredBar restored={restored} /> : <ChangeBar />;
}

/**
 * Offers to undo the last change the person made to the conversation, or to
 * redo it.
 */
function ChangeBar(): JSX.Element | null {
  const services = usePanel();
  const { store, trans } = services;
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const undoable = useStore(store, freshUndoable);
  const redoable = useStore(store, freshRedoable);
  const { isBusy, error, run } = useAction();
  const newest = newer(undoable, redoable);
  const count = useCount(taskId, undoable, newest);
  const [isPutAway, putAway] = useDismissed('change', newest?.id);
  if (taskId === null || newest === null || isPutAway) {
    return null;
  }
  const offer = (
    operation: 'undo' | 'redo',
    { id }: ConversationMark
  ): Notice.IAction => ({
    label: operation === 'undo' ? trans.__('Undo') : trans.__('Redo'),
    isBusy,
    onClick: () => void run(() => undoOrRedo(services, taskId, operation, id))
  });
  return (
    <Notice
      role="group"
      aria-label={trans.__('The last change to the conversation')}
      text={
        newest === redoable
          ? trans.__('The change was undone.')
          : !count
            ? trans.__('Messages were removed.')
            : trans._n(
                '%1 message was removed.',
                '%1 messages were removed.',
                count
              )
      }
      textRole="status"
      actions={[
        ...(undoable ? [offer('undo', undoable)] : []),
        ...(redoable ? [offer('redo', redoable)] : [])
      ]}
      onDismiss={putAway}
    >
      <ProblemNote error={error} />
    </Notice>
  );
}

/**
 * How many messages an undo would bring back; `null` while that is not known.
 */
function useCount(
  taskId: string | null,
  undoable: ConversationMark | null,
  newest: ConversationMark | null
): number | null {
  const services = usePanel();
  const [known, setKnown] = React.useState<{
    id: string;
    count: number;
  } | null>(null);
  const id = undoable !== null && undoable === newest ? undoable.id : null;
  React.useEffect(() => {
    let isWanted = true;
    if (taskId !== null && id !== null) {
      previewChange(services, taskId, { operation: 'undo', markId: id }).then(
        ({ restored }) => {
          if (isWanted) {
            setKnown({ id, count: restored });
          }
        },
        (reason: unknown) => {
          if (isWanted) {
            // The bar says less then; pressing its button says why.
            console.warn('The server did not say what an undo does', reason);
          }
        }
      );
    }
    return () => {
      isWanted = false;
    };
  }, [services, taskId, id]);
  return known !== null && known.id === id ? known.count : null;
}

function freshUndoable(store: AgentStore): ConversationMark | null {
  return fresh(store, store.state?.currentTaskMarks?.undoable);
}

function freshRedoable(store: AgentStore): ConversationMark | null {
  return fresh(store, store.state?.currentTaskMarks?.redoable);
}

/**
 * A change of the person, if they have said at most once something since: what
 * an edit says in place of a message is said after the change.
 */
function fresh(
  store: AgentStore,
  mark: ConversationMark | undefined
): ConversationMark | null {
  if (mark?.kind !== 'rewind') {
    return null;
  }
  let said = 0;
  for (let index = store.order.length - 1; index >= 0; index--) {
    const ts = store.order[index];
    if (ts === undefined || ts < mark.ts) {
      break;
    }
    said += store.message(ts)?.say === 'user_feedback' ? 1 : 0;
  }
  return said <= 1 ? mark : null;
}

function newer(
  one: ConversationMark | null,
  other: ConversationMark | null
): ConversationMark | null {
  if (one === null || other === null) {
    return one ?? other;
  }
  return one.ts > other.ts ? one : other;
}

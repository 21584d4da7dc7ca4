import * as React from 'react';

import { keyProblem } from '../state/modelsetup';
import { AskBar } from './asks/askbar';
import { ErrorBoundary } from '../ui/errorboundary';
import { UndoBar } from './changes/undobar';
import { ChatView } from './chat/chatview';
import { Composer } from './composer/composer';
import { FirstRun } from './firstrun/firstrun';
import { FolderTrustQuestion } from './foldertrust';
import { focusNext } from '../ui/nextfocus';
import { TabStrip } from './header/tabstrip';
import { TaskHeader } from './header/taskheader';
import { HistoryView } from './history/historyview';
import { usePanelState, useStore } from '../ui/hooks';
import { LocalModelLabel } from './localmodel/localmodellabel';
import { ServerNotices } from './servernotices';
import { usePanel } from '../ui/services';

/**
 * What follows from the server's state; nothing before it is known.
 */
export function PanelBody(): JSX.Element | null {
  const { store, state: panel, openSettings, node, trans } = usePanel();
  const isKnown = useStore(store, ({ state }) => state !== null);
  const trouble = useStore(store, ({ state }) => state && keyProblem(state));
  const notices = useStore(store, ({ notices }) => notices);
  const isEmpty = useStore(store, ({ order }) => order.length === 0);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const page = usePanelState(panel, ({ page }) => page);
  const dismiss = React.useCallback(
    (id: string) => void store.dismissNotice(id),
    [store]
  );
  React.useEffect(() => {
    // It was activated when there was nothing else yet.
    if (isKnown && document.activeElement === node) {
      focusNext(node);
    }
  }, [isKnown, node]);
  if (!isKnown) {
    return null;
  }
  return (
    <>
      <ErrorBoundary says={trans.__('The notices could not be shown.')}>
        <ServerNotices
          notices={notices}
          trouble={trouble}
          onDismiss={dismiss}
          onChooseStorage={() => openSettings('keys')}
          trans={trans}
        />
      </ErrorBoundary>
      <ErrorBoundary
        says={trans.__('Trust in this folder could not be shown.')}
      >
        <FolderTrustQuestion taskId={taskId} />
      </ErrorBoundary>
      <ErrorBoundary
        says={trans.__('The open conversations could not be listed.')}
      >
        <TabStrip />
      </ErrorBoundary>
      {page === 'history' ? (
        <ErrorBoundary
          says={trans.__('The past conversations could not be shown.')}
        >
          <HistoryView />
        </ErrorBoundary>
      ) : (
        <>
          <ErrorBoundary
            says={trans.__('The facts of the conversation could not be shown.')}
            version={taskId}
          >
            <TaskHeader />
          </ErrorBoundary>
          <ErrorBoundary
            says={
              isEmpty
                ? trans.__('How to begin could not be shown.')
                : trans.__('The conversation could not be shown.')
            }
            version={taskId}
          >
            {isEmpty ? <FirstRun /> : <ChatView />}
          </ErrorBoundary>
          <ErrorBoundary
            says={trans.__('What can be undone could not be shown.')}
            version={taskId}
          >
            <UndoBar />
          </ErrorBoundary>
          <ErrorBoundary
            says={trans.__('What the agent waits for could not be shown.')}
            version={taskId}
          >
            <AskBar />
          </ErrorBoundary>
          <ErrorBoundary
            says={trans.__('What the embedded model is could not be shown.')}
            version={taskId}
          >
            <LocalModelLabel />
          </ErrorBoundary>
          <ErrorBoundary
            says={trans.__('The field to write in could not be shown.')}
            version={taskId}
          >
            <Composer />
          </ErrorBoundary>
        </>
      )}
    </>
  );
}

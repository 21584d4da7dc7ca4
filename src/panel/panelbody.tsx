import * as React from 'react';

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
  const { store, state: panel, node, trans } = usePanel();
  const isKnown = useStore(store, ({ state }) => state !== null);
  const isEmpty = useStore(store, ({ order }) => order.length === 0);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const page = usePanelState(panel, ({ page }) => page);
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
      <ErrorBoundary says={trans.__('Notices could not be displayed.')}>
        <ServerNotices />
      </ErrorBoundary>
      <ErrorBoundary says={trans.__('Folder trust could not be displayed.')}>
        <FolderTrustQuestion taskId={taskId} />
      </ErrorBoundary>
      <ErrorBoundary
        says={trans.__('Open conversations could not be displayed.')}
      >
        <TabStrip />
      </ErrorBoundary>
      {page === 'history' ? (
        <ErrorBoundary
          says={trans.__('Past conversations could not be displayed.')}
        >
          <HistoryView />
        </ErrorBoundary>
      ) : (
        <>
          <ErrorBoundary
            says={trans.__('The conversation header could not be displayed.')}
            version={taskId}
          >
            <TaskHeader />
          </ErrorBoundary>
          <ErrorBoundary
            says={
              isEmpty
                ? trans.__('The start screen could not be displayed.')
                : trans.__('The conversation could not be displayed.')
            }
            version={taskId}
          >
            {isEmpty ? <FirstRun /> : <ChatView />}
          </ErrorBoundary>
          <ErrorBoundary
            says={trans.__('The undo bar could not be displayed.')}
            version={taskId}
          >
            <UndoBar />
          </ErrorBoundary>
          <ErrorBoundary
            says={trans.__('The request could not be displayed.')}
            version={taskId}
          >
            <AskBar />
          </ErrorBoundary>
          <ErrorBoundary
            says={trans.__('The model information could not be displayed.')}
            version={taskId}
          >
            <LocalModelLabel />
          </ErrorBoundary>
          <ErrorBoundary
            says={trans.__('The message box could not be displayed.')}
            version={taskId}
          >
            <Composer />
          </ErrorBoundary>
        </>
      )}
    </>
  );
}

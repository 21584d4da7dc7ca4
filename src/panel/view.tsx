import * as React from 'react';

import { keyTrouble } from '../state/setup';
import { AskBar } from './asks/askbar';
import { UndoBar } from './changes/undobar';
import { ChatView } from './chat/chatview';
import { Composer } from './composer/composer';
import { ConnectionBanner, ConnectionState, announcement } from './connection';
import { FirstRun } from './firstrun/firstrun';
import { TabStrip } from './header/tabstrip';
import { TaskHeader } from './header/taskheader';
import { HistoryView } from './history/historyview';
import { usePanelState, useStore } from './hooks';
import { Notices } from './notices';
import { usePanel } from './services';

/**
 * The whole panel.
 */
export function PanelView({
  actions
}: {
  actions: ConnectionBanner.IActions;
}): JSX.Element {
  const { store, client, trans } = usePanel();
  const connection = useStore(store, ({ connection }) => connection);
  return (
    <>
      <div className="jp-hdspAgent-header">
        <h2 className="jp-hdspAgent-title">{trans.__('HDSP Agent')}</h2>
        <ConnectionState phase={connection.phase} trans={trans} />
      </div>
      <div className="jp-hdspAgent-announcement" role="status">
        {announcement(connection, trans)}
      </div>
      <ConnectionBanner
        status={connection}
        client={client}
        actions={actions}
        trans={trans}
      />
      <StateView />
    </>
  );
}

/**
 * What follows from the server's state; nothing before it is known.
 */
function StateView(): JSX.Element | null {
  const { store, state: panel, openSettings, trans } = usePanel();
  const state = useStore(store, ({ state }) => state);
  const notices = useStore(store, ({ notices }) => notices);
  const isEmpty = useStore(store, ({ order }) => order.length === 0);
  const page = usePanelState(panel, ({ page }) => page);
  const dismiss = React.useCallback(
    (id: string) => void store.dismissNotice(id),
    [store]
  );
  if (state === null) {
    return null;
  }
  return (
    <>
      <Notices
        notices={notices}
        trouble={keyTrouble(state)}
        onDismiss={dismiss}
        onChooseStorage={() => openSettings('keys')}
        trans={trans}
      />
      <TabStrip />
      {page === 'history' ? (
        <HistoryView />
      ) : (
        <>
          <TaskHeader />
          {isEmpty ? <FirstRun /> : <ChatView />}
          <UndoBar />
          <AskBar />
          <Composer />
        </>
      )}
    </>
  );
}

import * as React from 'react';

import { ErrorBoundary } from '../ui/errorboundary';
import { ConnectionState } from '../ui/controls/connectionstate';
import { ConnectionBanner, announcement } from './connection';
import { useStore } from '../ui/hooks';
import { usePanel } from '../ui/services';

/**
 * The whole panel.
 */
export function PanelView({
  actions,
  Body
}: {
  readonly actions: ConnectionBanner.IActions;

  /**
   * What is below the connection.
   */
  readonly Body: React.ComponentType;
}): JSX.Element {
  const { store, client, trans } = usePanel();
  const connection = useStore(store, ({ connection }) => connection);
  const isKnown = useStore(store, ({ state }) => state !== null);
  return (
    <>
      <div className={`jp-hdspAgent-header${isKnown ? ' jp-mod-hidden' : ''}`}>
        <h2 className="jp-hdspAgent-title">{trans.__('HDSP Agent')}</h2>
        {!isKnown && <ConnectionState phase={connection.phase} trans={trans} />}
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
      <ErrorBoundary says={trans.__('The panel could not be displayed.')}>
        <Body />
      </ErrorBoundary>
    </>
  );
}

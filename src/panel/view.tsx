import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { keyTrouble, modelSetup } from '../state/setup';
import type { AgentStore } from '../state/store';
import type { IAgentChannel } from '../tokens';
import { ConnectionBanner, ConnectionState, announcement } from './connection';
import { useStore } from './hooks';
import { MessageList } from './messages';
import { Notices } from './notices';
import { SetupCard } from './setup';

/**
 * The whole panel.
 */
export function PanelView(props: PanelView.IProps): JSX.Element {
  const { store, client } = props.channel;
  const { actions, trans } = props;
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
      <StateView store={store} actions={actions} trans={trans} />
      <MessageList store={store} trans={trans} />
    </>
  );
}

/**
 * The namespace for `PanelView` statics.
 */
export namespace PanelView {
  /**
   * What the panel's buttons do beyond the panel.
   */
  export interface IActions extends ConnectionBanner.IActions {
    /**
     * Open a section of the agent's settings.
     */
    readonly openSettings: (section: 'models' | 'keys') => void;
  }

  /**
   * The properties of the panel.
   */
  export interface IProps {
    readonly channel: IAgentChannel;
    readonly actions: IActions;
    readonly trans: TranslationBundle;
  }
}

/**
 * What follows from the server's state; nothing before it is known.
 */
function StateView({
  store,
  actions,
  trans
}: {
  store: AgentStore;
  actions: PanelView.IActions;
  trans: TranslationBundle;
}): JSX.Element | null {
  const state = useStore(store, ({ state }) => state);
  const notices = useStore(store, ({ notices }) => notices);
  const conversations = useStore(store, ({ conversations }) => conversations);
  const isEmpty = useStore(store, ({ order }) => order.length === 0);
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
        onChooseStorage={() => actions.openSettings('keys')}
        trans={trans}
      />
      {isEmpty && (
        <SetupCard
          setup={modelSetup(state)}
          conversations={conversations}
          onChooseModel={() => actions.openSettings('models')}
          trans={trans}
        />
      )}
    </>
  );
}

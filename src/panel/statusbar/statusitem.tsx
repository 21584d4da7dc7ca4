import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';

import { isWorking } from '../../state/panel/senddraft';
import { CommandIDs } from '../../ui/commandids';
import { openTasks } from '../../ui/conversations/opentasks';
import { usePendingAsk, useStore } from '../../ui/hooks';
import { agentIcon } from '../../ui/icons/agenticon';
import type { IPanelServices } from '../../ui/services';
import { PanelContext, usePanel } from '../../ui/services';
import { fullCount, shortCount } from '../../ui/texts/formats';
import { waitingTasks } from '../notify/asknotifications';

/**
 * How the agent is, over all open conversations.
 */
type AgentPhase = 'offline' | 'waiting' | 'working' | 'idle';

/**
 * Tells in the status bar how the agent is, and leads to it.
 */
export class AgentStatusItem extends ReactWidget {
  constructor(services: IPanelServices) {
    super();
    this._services = services;
    this.addClass('jp-hdspAgent-status');
  }

  protected render(): JSX.Element {
    return (
      <PanelContext.Provider value={this._services}>
        <StatusButton />
      </PanelContext.Provider>
    );
  }

  private readonly _services: IPanelServices;
}

function StatusButton(): JSX.Element {
  const services = usePanel();
  const { commands, store, trans } = services;
  // Whether something waits may change by one message alone.
  usePendingAsk(store);
  const phase = useStore(store, () => phaseOf(services));
  const tokens = useStore(
    store,
    ({ state }) => state?.tokenUsage?.contextTokens ?? 0
  );
  const label = phaseLabel(phase, trans);
  const title =
    tokens > 0
      ? trans.__(
          'Agent: %1. This conversation uses %2 tokens.',
          label,
          fullCount(tokens)
        )
      : trans.__('Agent: %1', label);
  return (
    <button
      type="button"
      className="jp-hdspAgent-status-button"
      data-phase={phase}
      title={title}
      aria-label={title}
      onClick={() =>
        void commands.execute(
          phase === 'waiting' ? CommandIDs.goToQuestion : CommandIDs.open
        )
      }
    >
      <agentIcon.react tag="span" aria-hidden="true" height="14px" />
      <span>{label}</span>
      {tokens > 0 && (
        <span className="jp-hdspAgent-status-tokens">
          {trans.__('%1 tokens', shortCount(tokens))}
        </span>
      )}
    </button>
  );
}

function phaseOf(services: IPanelServices): AgentPhase {
  const { store } = services;
  if (store.connection.phase !== 'open') {
    return 'offline';
  }
  if (waitingTasks(services).length > 0) {
    return 'waiting';
  }
  return isWorking(store) ||
    openTasks(store).some(({ status }) => status === 'running')
    ? 'working'
    : 'idle';
}

function phaseLabel(phase: AgentPhase, trans: TranslationBundle): string {
  switch (phase) {
    case 'offline':
      return trans.__('Not connected');
    case 'waiting':
      return trans.__('Waiting for you');
    case 'working':
      return trans.__('Working');
    case 'idle':
      return trans.__('Idle');
  }
}

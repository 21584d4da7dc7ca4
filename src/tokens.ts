import { Token } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

import type { ChannelClient } from './comm/client';
import type { AgentNotebooks } from './notebook/agentnotebooks';
import type { IPanelServices } from './ui/services';
import type { AgentStore } from './state/store';

/**
 * The channel to the server, and what has come through it.
 */
export interface IAgentChannel {
  /**
   * Sends requests, and says how the connection is.
   */
  readonly client: ChannelClient;

  /**
   * What the server has told this page.
   */
  readonly store: AgentStore;
}

/**
 * The channel to the server.
 */
export const IAgentChannel = new Token<IAgentChannel>(
  'hdsp-agent:IAgentChannel',
  'The channel to the server part of HDSP Agent, and the state it keeps up to date.'
);

/**
 * The agent's panel in the side bar.
 */
export interface IAgentPanel {
  /**
   * The panel itself.
   */
  readonly widget: Widget;

  /**
   * What the panel works with, and other views of the agent with it.
   */
  readonly services: IPanelServices;

  /**
   * Show the panel and put the focus into it.
   */
  open(): void;
}

/**
 * The agent's panel in the side bar.
 */
export const IAgentPanel = new Token<IAgentPanel>(
  'hdsp-agent:IAgentPanel',
  'The side panel of HDSP Agent.'
);

/**
 * The open notebooks, as the agent works with them.
 */
export interface IAgentNotebooks {
  /**
   * Does in this page what the agent asks for, and tells what it did.
   */
  readonly agentNotebooks: AgentNotebooks;
}

/**
 * The open notebooks, as the agent works with them.
 */
export const IAgentNotebooks = new Token<IAgentNotebooks>(
  'hdsp-agent:IAgentNotebooks',
  'The notebooks that are open, as HDSP Agent reads and changes them.'
);

import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Widget } from '@lumino/widgets';
import * as React from 'react';

import type { ChannelClient } from '../comm/client';
import type { AgentStore } from '../state/store';
import type { AskAnswers } from '../state/panel/askanswers';
import type { PanelState } from '../state/panel/panelstate';

/**
 * What the parts of the panel work with. None of it changes while the panel
 * lives, so that reading it from the context renders nothing again.
 */
export interface IPanelServices {
  /**
   * Sends requests to the server.
   */
  readonly client: ChannelClient;

  /**
   * What the server has told.
   */
  readonly store: AgentStore;

  /**
   * What only the panel itself knows: the view that is open, unsent texts.
   */
  readonly state: PanelState;

  /**
   * Gives the person's answers to what the agent asks.
   */
  readonly answers: AskAnswers;

  readonly commands: CommandRegistry;
  readonly rendermime: IRenderMimeRegistry;

  /**
   * The open notebooks; `null` where Lab has none.
   */
  readonly notebooks: INotebookTracker | null;

  /**
   * Opens files; `null` where Lab has no documents.
   */
  readonly documents: IDocumentManager | null;

  /**
   * The tabs of the main area.
   */
  readonly tabs: () => readonly Widget[];

  readonly serverSettings: ServerConnection.ISettings;
  readonly trans: TranslationBundle;

  /**
   * Open a section of the agent's settings.
   */
  readonly openSettings: (section: string) => void;

  /**
   * The panel's node, whose focus and size it is about.
   */
  readonly node: HTMLElement;
}

/**
 * The services of the panel a component is in.
 */
export const PanelContext = React.createContext<IPanelServices | null>(null);

/**
 * The services of the panel this component is in.
 */
export function usePanel(): IPanelServices {
  const services = React.useContext(PanelContext);
  if (services === null) {
    throw new Error('This component is used outside of the panel.');
  }
  return services;
}

import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ServerConnection } from '@jupyterlab/services';
import type { ITranslator } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { CommandIDs } from '../ui/commandids';
import type { IAgentChannel } from '../tokens';
import { AskAnswers } from '../state/panel/askanswers';
import type { DismissedNotices } from '../state/panel/dismissednotices';
import type { DraftStorage } from '../state/panel/draftstorage';
import type { ConnectionBanner } from './connection';
import { focusNext } from '../ui/nextfocus';
import { agentIcon } from '../ui/icons/agenticon';
import { PanelState } from '../state/panel/panelstate';
import type { IPanelServices } from '../ui/services';
import { PanelContext } from '../ui/services';
import { loadTexts } from '../ui/texts/loadtexts';
import { PanelView } from './panelview';

/**
 * The agent's panel as a widget of the side bar.
 *
 * #### Notes
 * It is empty until it is first seen, or until `drawDialogBody` is called.
 */
export class AgentPanel extends ReactWidget {
  constructor(options: AgentPanel.IOptions) {
    super();
    const {
      channel,
      commands,
      drafts,
      dismissed,
      translator,
      loginUrl,
      Body,
      ...others
    } = options;
    this._body = Body;
    const trans = loadTexts(translator);
    const state = new PanelState(drafts, dismissed);
    this.services = {
      ...channel,
      ...others,
      commands,
      trans,
      state,
      answers: new AskAnswers({ ...channel, state }),
      openSettings: section =>
        void commands.execute(CommandIDs.openSettings, { section }),
      node: this.node
    };
    this._actions = {
      reload: () => window.location.reload(),
      logIn: () => void window.open(loginUrl, '_blank', 'noopener')
    };
    this.addClass('jp-hdspAgent-Panel');
    this.title.icon = agentIcon;
    this.title.caption = trans.__('HDSP Agent');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('HDSP Agent'));
    // Focus goes here when the panel holds nothing that takes it.
    this.node.tabIndex = -1;
  }

  /**
   * What the panel works with.
   */
  readonly services: IPanelServices;

  /**
   * Forget what was typed.
   */
  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    super.dispose();
    this.services.answers.dispose();
    this.services.state.dispose();
  }

  /**
   * Draw what is in the panel, also while it is out of sight.
   */
  draw(): void {
    if (!this._isDrawn) {
      this._isDrawn = true;
      if (this.isAttached) {
        MessageLoop.sendMessage(this, Widget.Msg.UpdateRequest);
      }
    }
  }

  protected render(): JSX.Element | null {
    return this._isDrawn ? (
      <PanelContext.Provider value={this.services}>
        <PanelView actions={this._actions} Body={this._body} />
      </PanelContext.Provider>
    ) : null;
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    if (this.isVisible) {
      this.draw();
    }
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this.draw();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    focusNext(this.node);
  }

  private readonly _actions: ConnectionBanner.IActions;
  private readonly _body: React.ComponentType;
  private _isDrawn = false;
}

/**
 * The namespace for `AgentPanel` statics.
 */
export namespace AgentPanel {
  /**
   * The options of the panel.
   */
  export interface IOptions {
    readonly channel: IAgentChannel;
    readonly commands: CommandRegistry;
    readonly translator: ITranslator;
    readonly rendermime: IRenderMimeRegistry;
    readonly notebooks: INotebookTracker | null;
    readonly documents: IDocumentManager | null;
    readonly tabs: IPanelServices['tabs'];
    readonly serverSettings: ServerConnection.ISettings;

    /**
     * Where unsent texts outlive a reload; without it they do not.
     */
    readonly drafts?: DraftStorage | null;

    /**
     * What the person has put away; without it that ends with the page.
     */
    readonly dismissed?: DismissedNotices;

    /**
     * What is in the panel below the connection.
     */
    readonly Body: React.ComponentType;

    /**
     * Where one logs in to the server.
     */
    readonly loginUrl: string;
  }
}

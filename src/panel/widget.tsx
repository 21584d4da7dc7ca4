import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import { CommandIDs } from '../commands/ids';
import type { IAgentChannel } from '../tokens';
import { agentIcon } from './icons';
import { PanelView } from './view';

/**
 * The agent's panel as a widget of the side bar.
 */
export class AgentPanel extends ReactWidget {
  constructor(options: AgentPanel.IOptions) {
    super();
    const { channel, commands, translator, loginUrl } = options;
    this._channel = channel;
    this._trans = translator.load('hdsp_agent');
    this._actions = {
      reload: () => window.location.reload(),
      logIn: () => void window.open(loginUrl, '_blank', 'noopener'),
      openSettings: section =>
        void commands.execute(CommandIDs.openSettings, { section })
    };
    this.addClass('jp-hdspAgent-Panel');
    this.title.icon = agentIcon;
    this.title.caption = this._trans.__('HDSP Agent');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this._trans.__('HDSP Agent'));
    // Focus goes here when the panel holds nothing that takes it.
    this.node.tabIndex = -1;
  }

  protected render(): JSX.Element {
    return (
      <PanelView
        channel={this._channel}
        actions={this._actions}
        trans={this._trans}
      />
    );
  }

  /**
   * Put the focus where one goes on: into the field, on what is to be done
   * next, or else on the panel, from where Tab leads to everything in it.
   */
  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    const next = this.node.querySelector<HTMLElement>(
      'textarea, .jp-mod-accept'
    );
    (next ?? this.node).focus();
  }

  private readonly _channel: IAgentChannel;
  private readonly _trans: TranslationBundle;
  private readonly _actions: PanelView.IActions;
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

    /**
     * Where one logs in to the server.
     */
    readonly loginUrl: string;
  }
}

import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import { ErrorBoundary } from '../../ui/errorboundary';
import { agentIcon } from '../../ui/icons/agenticon';
import type { IPanelServices } from '../../ui/services';
import { PanelContext } from '../../ui/services';

/**
 * What the model sees of one conversation, as a widget of the main area.
 */
export class ContextWidget extends ReactWidget {
  constructor({ services, Body, taskId, name }: ContextWidget.IOptions) {
    super();
    const { trans } = services;
    this.taskId = taskId;
    this.name = name;
    this._services = { ...services, node: this.node };
    this._body = Body;
    this.addClass('jp-hdspAgent-Context');
    this.title.icon = agentIcon;
    this.title.closable = true;
    this.title.label = trans.__('What the Model Sees');
    this.title.caption = name;
    // Focus goes here when it holds nothing that takes it.
    this.node.tabIndex = -1;
  }

  readonly taskId: string;

  /**
   * What the conversation was called when it was opened.
   */
  readonly name: string;

  protected render(): JSX.Element {
    const { trans } = this._services;
    const Body = this._body;
    return (
      <PanelContext.Provider value={this._services}>
        <ErrorBoundary says={trans.__('The request could not be shown.')}>
          <Body taskId={this.taskId} name={this.name} />
        </ErrorBoundary>
      </PanelContext.Provider>
    );
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this.node.focus();
  }

  private readonly _services: IPanelServices;
  private readonly _body: React.ComponentType<ContextWidget.IShown>;
}

/**
 * The namespace for `ContextWidget` statics.
 */
export namespace ContextWidget {
  /**
   * Which conversation is shown.
   */
  export interface IShown {
    readonly taskId: string;
    readonly name: string;
  }

  /**
   * The options of the widget.
   */
  export interface IOptions extends IShown {
    readonly services: IPanelServices;

    /**
     * What is in it.
     */
    readonly Body: React.ComponentType<IShown>;
  }
}

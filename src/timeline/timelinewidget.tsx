import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { ErrorBoundary } from '../ui/errorboundary';
import { timelineIcon } from '../ui/icons/timelineicons';
import type { IPanelServices } from '../ui/services';
import { PanelContext } from '../ui/services';

/**
 * The time line as a widget of a side bar; it is empty until it is first seen.
 */
export class TimelineWidget extends ReactWidget {
  constructor({ services, Body }: TimelineWidget.IOptions) {
    super();
    const { trans } = services;
    this._services = { ...services, node: this.node };
    this._body = Body;
    this.id = 'hdsp-agent-time-line';
    this.addClass('jp-hdspAgent-TimeLine');
    this.title.icon = timelineIcon;
    this.title.caption = trans.__('HDSP Agent Timeline');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Timeline'));
    // Focus goes here when it holds nothing that takes it.
    this.node.tabIndex = -1;
  }

  /**
   * Emitted each time it comes into sight.
   */
  get shown(): ISignal<this, void> {
    return this._shown;
  }

  protected render(): JSX.Element | null {
    const { trans } = this._services;
    const Body = this._body;
    return this._isDrawn ? (
      <PanelContext.Provider value={this._services}>
        <ErrorBoundary says={trans.__('The timeline could not be shown.')}>
          <Body />
        </ErrorBoundary>
      </PanelContext.Provider>
    ) : null;
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    if (this.isVisible) {
      this._draw();
    }
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    this._draw();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    const row = this.node.querySelector<HTMLElement>(
      '.jp-hdspAgent-timeline-open'
    );
    (row ?? this.node).focus();
  }

  private _draw(): void {
    if (this._isDrawn) {
      this._shown.emit();
      return;
    }
    this._isDrawn = true;
    MessageLoop.sendMessage(this, Widget.Msg.UpdateRequest);
  }

  private readonly _services: IPanelServices;
  private readonly _body: React.ComponentType;
  private readonly _shown = new Signal<this, void>(this);
  private _isDrawn = false;
}

/**
 * The namespace for `TimelineWidget` statics.
 */
export namespace TimelineWidget {
  /**
   * The options of the widget.
   */
  export interface IOptions {
    readonly services: IPanelServices;

    /**
     * What is in it.
     */
    readonly Body: React.ComponentType;
  }
}

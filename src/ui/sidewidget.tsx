import type { LabIcon } from '@jupyterlab/ui-components';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { ErrorBoundary } from './errorboundary';
import type { IPanelServices } from './services';
import { PanelContext } from './services';

/**
 * A widget of a side bar; it is empty until it is first seen.
 */
export class SideWidget extends ReactWidget {
  constructor(options: SideWidget.IOptions) {
    super();
    const { services, id, className, icon, caption, label } = options;
    this._options = options;
    this._services = { ...services, node: this.node };
    this.id = id;
    this.addClass(className);
    this.title.icon = icon;
    this.title.caption = caption;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', label);
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
    const { Body, broken } = this._options;
    return this._isDrawn ? (
      <PanelContext.Provider value={this._services}>
        <ErrorBoundary says={broken}>
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
    const first = this.node.querySelector<HTMLElement>(this._options.first);
    (first ?? this.node).focus();
  }

  private _draw(): void {
    if (this._isDrawn) {
      this._shown.emit();
      return;
    }
    this._isDrawn = true;
    MessageLoop.sendMessage(this, Widget.Msg.UpdateRequest);
  }

  private readonly _options: SideWidget.IOptions;
  private readonly _services: IPanelServices;
  private readonly _shown = new Signal<this, void>(this);
  private _isDrawn = false;
}

/**
 * The namespace for `SideWidget` statics.
 */
export namespace SideWidget {
  /**
   * The options of the widget.
   */
  export interface IOptions {
    readonly services: IPanelServices;
    readonly id: string;
    readonly className: string;
    readonly icon: LabIcon;

    /**
     * What its tab in the side bar says.
     */
    readonly caption: string;

    /**
     * Its name as a region.
     */
    readonly label: string;

    /**
     * What it says if it cannot be drawn.
     */
    readonly broken: string;

    /**
     * The selector of what in it takes the focus.
     */
    readonly first: string;

    /**
     * What is in it.
     */
    readonly Body: React.ComponentType;
  }
}

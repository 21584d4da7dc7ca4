import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import * as React from 'react';

import type { IDialogs } from '../ui/dialogs';
import type { SettingsModel } from './data/settingsmodel';
import { SettingsPanel } from './settingspanel';

/**
 * The settings as a widget; it owns its model.
 */
export class SettingsWidget extends ReactWidget {
  constructor(options: SettingsWidget.IOptions) {
    super();
    this.addClass('jp-hdspSettings-widget');
    this.model = options.model;
    this._trans = options.trans;
    this._dialogs = options.dialogs;
  }

  readonly model: SettingsModel;

  /**
   * Emitted when another section is opened.
   */
  get sectionChanged(): ISignal<this, string> {
    return this._sectionChanged;
  }

  /**
   * The section that is open.
   */
  get section(): string {
    return this._section;
  }
  set section(section: string) {
    if (section === this._section) {
      return;
    }
    this._section = section;
    this._sectionChanged.emit(section);
    this.update();
  }

  /**
   * Show a section, whatever is being searched for.
   */
  openSection(section: string): void {
    this._visit++;
    this.section = section;
    this.update();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this.model.dispose();
    super.dispose();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    const { activeElement } = document;
    // JupyterLab has put the focus on the node as a whole by now.
    if (activeElement === this.node || !this.node.contains(activeElement)) {
      this._focusSearch();
    }
  }

  protected render(): JSX.Element {
    return (
      <SettingsPanel
        model={this.model}
        trans={this._trans}
        dialogs={this._dialogs}
        section={this._section}
        visit={this._visit}
        onSection={section => {
          this.section = section;
        }}
        onReady={() => {
          // It was activated before there was anything to search.
          if (document.activeElement === this.node) {
            this._focusSearch();
          }
        }}
      />
    );
  }

  private _focusSearch(): void {
    this.node.querySelector<HTMLElement>('input[type="search"]')?.focus();
  }

  private readonly _trans: TranslationBundle;
  private readonly _dialogs: IDialogs;
  private readonly _sectionChanged = new Signal<this, string>(this);
  private _section = 'models';
  private _visit = 0;
}

/**
 * The namespace for `SettingsWidget` statics.
 */
export namespace SettingsWidget {
  /**
   * The options of the widget.
   */
  export interface IOptions {
    model: SettingsModel;
    trans: TranslationBundle;
    dialogs: IDialogs;
  }
}

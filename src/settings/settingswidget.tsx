import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import * as React from 'react';

import type { IDialogs } from '../ui/dialogs';
import type { SettingsModel } from './data/settingsmodel';
import { MEMORY_GROUP } from './memory/memorytexts';
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
    this._openConversation = options.openConversation ?? null;
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
    if (this._section === MEMORY_GROUP && this.model.memory?.value) {
      // A conversation may have changed it since it was on the screen.
      void this.model.memory.refresh();
    }
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
        openConversation={this._openConversation}
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
  private readonly _openConversation: ((taskId: string) => void) | null;
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

    /**
     * Show a conversation; without it none is offered.
     */
    openConversation?: ((taskId: string) => void) | null;
  }
}

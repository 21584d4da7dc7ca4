import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { act } from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';

import { SettingsApi } from '../../rest/settingsapi';
import type { IDialogs } from '../../ui/dialogs';
import { SettingsModel } from '../data/settingsmodel';
import { SettingsPanel } from '../settingspanel';
import { FakeServer } from './fakeserver';

(globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;

/**
 * The panel in a page, at a server of its own.
 */
export class OpenedSettings {
  readonly server = new FakeServer();
  readonly node = document.body.appendChild(document.createElement('div'));
  readonly model: SettingsModel;
  readonly asked: string[] = [];
  answer: string | null = 'yes';
  section = 'approvals';
  visit = 0;

  constructor(
    more: (server: FakeServer) => Partial<SettingsModel.IOptions> = () => ({})
  ) {
    this.model = new SettingsModel({
      api: new SettingsApi(this.server.serverSettings),
      ...more(this.server)
    });
  }

  async open(section = 'approvals'): Promise<void> {
    this.section = section;
    this._root = createRoot(this.node);
    await this.draw();
    await this.do(() => this.model.refresh());
  }

  close(): void {
    act(() => this._root?.unmount());
    this.model.dispose();
    this.node.remove();
  }

  async draw(): Promise<void> {
    const dialogs: IDialogs = {
      confirm: ({ title }) => {
        this.asked.push(title);
        return Promise.resolve(this.answer !== null);
      },
      askName: ({ title }) => {
        this.asked.push(title);
        return Promise.resolve(this.answer);
      }
    };
    await this.do(() =>
      this._root?.render(
        <SettingsPanel
          model={this.model}
          trans={nullTranslator.load('hdsp_agent')}
          dialogs={dialogs}
          section={this.section}
          visit={this.visit}
          onSection={section => {
            this.section = section;
            void this.draw();
          }}
        />
      )
    );
  }

  /**
   * Do something and let everything that follows from it happen.
   */
  async do(action: () => unknown): Promise<void> {
    await act(async () => {
      await action();
      // In small steps: what follows from a timer begins one of its own.
      for (let step = 0; step < 10; step++) {
        await new Promise(resolve => setTimeout(resolve, 3));
      }
    });
  }

  get<T extends HTMLElement>(selector: string): T {
    const found = this.node.querySelector<T>(selector);
    if (!found) {
      throw new Error(`${selector} is not in ${this.node.innerHTML}`);
    }
    return found;
  }

  all(selector: string): HTMLElement[] {
    return [...this.node.querySelectorAll<HTMLElement>(selector)];
  }

  button(label: string): HTMLElement {
    const found = this.all('button').find(
      button =>
        (button.getAttribute('aria-label') ?? button.textContent) === label
    );
    if (!found) {
      throw new Error(`no button ${label} in ${this.node.innerHTML}`);
    }
    return found;
  }

  field(key: string): HTMLElement {
    return this.get(`[data-key="${key}"]`);
  }

  async press(label: string): Promise<void> {
    await this.do(() => this.button(label).click());
  }

  async type(selector: string, text: string, blur = true): Promise<void> {
    const input = this.get<HTMLInputElement>(selector);
    const type = Object.getPrototypeOf(input) as object;
    const set = Object.getOwnPropertyDescriptor(type, 'value')?.set;
    await this.do(() => {
      input.focus();
      set?.call(input, text);
      const event = input.tagName === 'SELECT' ? 'change' : 'input';
      input.dispatchEvent(new Event(event, { bubbles: true }));
    });
    if (blur) {
      await this.do(() => input.blur());
    }
  }

  private _root: Root | null = null;
}

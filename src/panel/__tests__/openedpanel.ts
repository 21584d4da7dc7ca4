import {
  RenderMimeRegistry,
  standardRendererFactories
} from '@jupyterlab/rendermime';
import { ServerConnection } from '@jupyterlab/services';
import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { ChannelClient } from '../../comm/client';
import type { ISentFrame } from '../../comm/__tests__/scriptedserver';
import { ScriptedServer } from '../../comm/__tests__/scriptedserver';
import type { ExtensionMessage, ExtensionState } from '../../generated/wire';
import { AgentStore } from '../../state/store';
import { AskAnswers } from '../../state/panel/askanswers';
import { PanelBody } from '../panelbody';
import { AgentPanel } from '../panelwidget';
import { PageLayout } from './pagelayout';

declare const globalThis: { IS_REACT_ACT_ENVIRONMENT?: boolean };

/**
 * The panel on a page, with a server that does what each test tells it. Uses
 * jest's fake timers from its making until it is disposed.
 *
 * #### Notes
 * What promises bring between the steps of a test is drawn when React gets to
 * it, as in a browser; a step that has to be on the page waits with `settle`.
 */
export class OpenedPanel {
  constructor({
    layout = new PageLayout(),
    isHidden = false,
    ...services
  }: OpenedPanel.IOptions = {}) {
    jest.useFakeTimers();
    this._layout = layout;
    this.client = new ChannelClient({
      openSocket: this.server.open,
      clientId: 'tab',
      version: '0.1.0',
      protocol: 1,
      probe: () => Promise.resolve(503),
      random: () => 1
    });
    this.store = new AgentStore({ client: this.client });
    this.commands.addCommand('hdsp-agent:open-settings', {
      execute: ({ section }) => this.openedSettings.push(section)
    });
    this.panel = new AgentPanel({
      channel: { client: this.client, store: this.store },
      commands: this.commands,
      translator: nullTranslator,
      rendermime: new RenderMimeRegistry({
        initialFactories: standardRendererFactories
      }),
      notebooks: null,
      documents: null,
      tabs: () => [],
      serverSettings: ServerConnection.makeSettings({
        // What a test does not answer itself is not there.
        fetch: () => Promise.resolve(new Response('', { status: 404 }))
      }),
      Body: PanelBody,
      loginUrl: 'http://localhost/login',
      ...services
    });
    this.panel.setHidden(isHidden);
    this.act(() => {
      Widget.attach(this.panel, document.body);
      this.client.connect();
    });
  }

  readonly server = new ScriptedServer();
  readonly client: ChannelClient;
  readonly store: AgentStore;
  readonly commands = new CommandRegistry();
  readonly panel: AgentPanel;

  /** The sections of the settings that were opened. */
  readonly openedSettings: unknown[] = [];

  get node(): HTMLElement {
    return this.panel.node;
  }

  dispose(): void {
    this.act(() => this.panel.dispose());
    this.client.dispose();
    this._layout.restore();
    jest.useRealTimers();
  }

  /** Do something, and let the page follow. */
  act(work: () => void): void {
    this._act(() => {
      work();
      jest.advanceTimersByTime(20);
    });
  }

  /** The same with what takes a while. */
  async during(work: () => Promise<void>): Promise<void> {
    const before = globalThis.IS_REACT_ACT_ENVIRONMENT;
    globalThis.IS_REACT_ACT_ENVIRONMENT = true;
    try {
      await React.act(work);
    } finally {
      globalThis.IS_REACT_ACT_ENVIRONMENT = before;
    }
  }

  /** The same with what promises do. */
  settle(work: () => void = () => undefined): Promise<void> {
    return this.during(async () => {
      work();
      await jest.advanceTimersByTimeAsync(20);
    });
  }

  wait(milliseconds: number): void {
    this._act(() => {
      jest.advanceTimersByTime(milliseconds);
    });
  }

  /** Connect and be told this state. */
  begin(
    state: ExtensionState = {},
    hello: Partial<Record<string, unknown>> = {}
  ): void {
    this._seq = 1;
    this.act(() => {
      this.server.accept({ maxFrameBytes: 1_000_000, ...hello }, 1);
      this.server.socket.say({
        op: 'msg',
        seq: 1,
        data: { type: 'state', state }
      });
    });
    // Whoever answers a question here has had the time to read it.
    this.wait(AskAnswers.PAUSE);
  }

  /** The server says something to all tabs. */
  publish(...messages: ExtensionMessage[]): void {
    this.act(() => {
      for (const data of messages) {
        this._seq += 1;
        this.server.socket.say({ op: 'msg', seq: this._seq, data });
      }
    });
  }

  /** The requests of this type that the page sent, oldest first. */
  sent(type: string): Record<string, unknown>[] {
    return this.server.socket
      .sentWith('msg')
      .map(({ data }: ISentFrame) => data)
      .filter(data => data.type === type);
  }

  /** Answer the newest request of this type. */
  answer(
    type: string,
    error: object | null = null,
    result: unknown = null
  ): void {
    const requestId = this.sent(type).at(-1)?.requestId;
    this.server.socket.say({
      op: 'ack',
      data: error
        ? { requestId, ok: false, error }
        : { requestId, ok: true, result }
    });
  }

  find(selector: string): HTMLElement | null {
    return this.node.querySelector<HTMLElement>(selector);
  }

  findAll(selector: string): HTMLElement[] {
    return [...this.node.querySelectorAll<HTMLElement>(selector)];
  }

  /** The button with this name, as a screen reader reads it. */
  button(label: string): HTMLButtonElement {
    const found = [...this.node.querySelectorAll('button')].find(
      button =>
        (button.getAttribute('aria-label') ?? button.textContent) === label
    );
    if (!found) {
      throw new Error(`No button “${label}” in ${this.node.innerHTML}`);
    }
    return found;
  }

  /** What puts away the only notice. */
  dismissal(): HTMLElement {
    const [found, ...others] = this.findAll('[aria-label^="Dismiss: "]');
    if (!found || others.length > 0) {
      throw new Error(`Not one notice in ${this.node.innerHTML}`);
    }
    return found;
  }

  private _act(work: () => void): void {
    const before = globalThis.IS_REACT_ACT_ENVIRONMENT;
    globalThis.IS_REACT_ACT_ENVIRONMENT = true;
    try {
      React.act(work);
    } finally {
      globalThis.IS_REACT_ACT_ENVIRONMENT = before;
    }
  }

  private readonly _layout: PageLayout;
  private _seq = 1;
}

/**
 * The namespace for `OpenedPanel` statics.
 */
export namespace OpenedPanel {
  /**
   * What a test has otherwise than usual.
   */
  export interface IOptions extends Partial<
    Pick<
      AgentPanel.IOptions,
      'rendermime' | 'notebooks' | 'documents' | 'serverSettings'
    >
  > {
    readonly layout?: PageLayout;

    /** As in a side bar that shows something else. */
    readonly isHidden?: boolean;
  }
}

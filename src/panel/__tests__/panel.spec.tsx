import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import * as React from 'react';

import { ChannelClient } from '../../comm/client';
import type { ISentFrame } from '../../comm/__tests__/scripted';
import { ScriptedServer } from '../../comm/__tests__/scripted';
import type {
  ClineMessage,
  ExtensionMessage,
  ExtensionState
} from '../../generated/wire';
import { AgentStore } from '../../state/store';
import { AgentPanel } from '../widget';

declare const globalThis: { IS_REACT_ACT_ENVIRONMENT: boolean };

describe('AgentPanel', () => {
  let server: ScriptedServer;
  let client: ChannelClient;
  let panel: AgentPanel;
  let commands: CommandRegistry;
  let opened: unknown[];

  beforeEach(() => {
    jest.useFakeTimers();
    globalThis.IS_REACT_ACT_ENVIRONMENT = true;
    server = new ScriptedServer();
    client = new ChannelClient({
      openSocket: server.open,
      clientId: 'tab',
      version: '0.1.0',
      protocol: 1,
      probe: () => Promise.resolve(503),
      random: () => 1
    });
    commands = new CommandRegistry();
    opened = [];
    commands.addCommand('hdsp-agent:open-settings', {
      execute: ({ section }) => opened.push(section)
    });
    panel = new AgentPanel({
      channel: { client, store: new AgentStore({ client }) },
      commands,
      translator: nullTranslator,
      loginUrl: 'http://localhost/login'
    });
    act(() => {
      Widget.attach(panel, document.body);
      client.connect();
    });
  });

  afterEach(() => {
    act(() => panel.dispose());
    client.dispose();
    jest.useRealTimers();
  });

  function act(work: () => void): void {
    React.act(() => {
      work();
      jest.advanceTimersByTime(20);
    });
  }

  function wait(milliseconds: number): void {
    React.act(() => {
      jest.advanceTimersByTime(milliseconds);
    });
  }

  /** Connect and be told this state. */
  function begin(state: ExtensionState = {}): void {
    act(() => {
      server.accept({}, 1);
      server.socket.say({ op: 'msg', seq: 1, data: { type: 'state', state } });
    });
  }

  let seq = 1;
  function publish(...messages: ExtensionMessage[]): void {
    act(() => {
      for (const data of messages) {
        seq += 1;
        server.socket.say({ op: 'msg', seq, data });
      }
    });
  }

  beforeEach(() => {
    seq = 1;
  });

  function answer(type: string, error: object | null): void {
    const request = server.socket
      .sentWith('msg')
      .find(({ data }: ISentFrame) => data.type === type);
    const requestId = request?.data.requestId;
    server.socket.say({
      op: 'ack',
      data: error
        ? { requestId, ok: false, error }
        : { requestId, ok: true, result: null }
    });
  }

  function find(selector: string): HTMLElement | null {
    return panel.node.querySelector<HTMLElement>(selector);
  }

  function button(label: string): HTMLButtonElement {
    const found = [...panel.node.querySelectorAll('button')].find(
      ({ textContent }) => textContent === label
    );
    if (!found) {
      throw new Error(`No button “${label}” in ${panel.node.innerHTML}`);
    }
    return found;
  }

  function banner(): string | null {
    return find('.jp-hdspAgent-banner-text')?.textContent ?? null;
  }

  describe('the connection', () => {
    it('should be told in words, to eyes and to screen readers', () => {
      expect(find('.jp-hdspAgent-header')?.textContent).toContain(
        'Connecting…'
      );
      begin();
      expect(find('.jp-hdspAgent-header')?.textContent).toContain('Connected');
      expect(find('[role="status"]')?.textContent).toContain('Connected');
      expect(banner()).toBeNull();
    });

    it('should have a banner when it is lost, which counts down', () => {
      begin();
      act(() => server.socket.drop());
      wait(600);
      act(() => server.socket.drop());
      wait(1000);
      act(() => server.socket.drop());
      wait(1000);
      expect(banner()).toBe(
        'Connection lost. Your work on the server goes on. Trying again in 1 s.'
      );
    });

    it('should have no banner when it is back at once', () => {
      begin();
      act(() => server.socket.drop());
      wait(510);
      act(() => server.accept({ resumed: true }, 1));
      wait(1000);
      expect(banner()).toBeNull();
    });

    it('should not read the countdown aloud', () => {
      begin();
      act(() => server.socket.drop());
      const told = find('[role="status"]')?.textContent;
      wait(400);
      expect(find('[role="status"]')?.textContent).toBe(told);
      expect(find('.jp-hdspAgent-banner[aria-live]')).toBeNull();
    });

    it('should be tried at once when one wants it', () => {
      begin();
      act(() => server.socket.drop());
      for (let attempt = 0; attempt < 4; attempt++) {
        wait((client.status.retryAt ?? 0) - Date.now());
        act(() => server.socket.drop());
      }
      const before = server.sockets.length;
      act(() => button('Try now').click());
      expect(server.sockets).toHaveLength(before + 1);
    });

    it('should ask for a reload when the versions differ, once and plainly', () => {
      act(() => {
        server.socket.connect();
        server.socket.say({
          op: 'close',
          data: {
            code: 'version_mismatch',
            message: 'Reload.',
            params: { page: '0.1.0', server: '0.2.0' }
          }
        });
      });
      expect(banner()).toBe(
        'HDSP Agent was updated: this page is 0.1.0, the server 0.2.0. Save your work, then reload the page. '
      );
      expect(find('[role="status"]')?.textContent).toContain('was updated');
      expect(button('Reload')).toBeTruthy();
      expect(panel.node.querySelectorAll('button')).toHaveLength(1);
    });
  });

  describe('what is set up', () => {
    it('should say nothing before the server has', () => {
      expect(find('.jp-hdspAgent-card')).toBeNull();
    });

    it('should offer to set up a model when there is none', () => {
      begin();
      expect(find('.jp-hdspAgent-card')?.textContent).toContain(
        'No model is set up yet'
      );
      act(() => button('Set up a model').click());
      expect(opened).toEqual(['models']);
    });

    it('should name the model and show the end of its key', () => {
      begin({
        currentApiConfigName: 'work',
        listApiConfigMeta: [
          {
            id: 'p1',
            name: 'work',
            apiProvider: 'anthropic',
            modelId: 'm',
            pinned: false,
            current: true,
            allowed: true
          }
        ],
        secretStatus: {
          storage: { available: true, code: 'ok', message: '' },
          secrets: [
            { profileId: 'p1', key: 'apiKey', present: true, last4: 'wxyz' },
            { profileId: 'p2', key: 'apiKey', present: true, last4: 'abcd' }
          ]
        }
      });
      const text = find('.jp-hdspAgent-card')?.textContent ?? '';
      expect(text).toContain('Anthropic');
      expect(text).toContain('ends in wxyz');
      expect(text).not.toContain('abcd');
      expect(button('Change the model')).toBeTruthy();
    });

    it('should ask for the key when the provider needs one and there is none', () => {
      const profile = {
        id: 'p1',
        name: 'work',
        pinned: false,
        current: true,
        allowed: true
      };
      const storage = { available: true, code: 'ok', message: '' };
      const beginWith = (apiProvider: string, code = 'ok') =>
        begin({
          currentApiConfigName: 'work',
          listApiConfigMeta: [{ ...profile, apiProvider }],
          secretStatus: { storage: { ...storage, code }, secrets: [] }
        });
      const title = () => find('.jp-hdspAgent-card-title')?.textContent;
      beginWith('anthropic');
      expect(title()).toBe('The key for the model is missing');
      act(() => button('Add a key').click());
      expect(opened).toEqual(['models']);
      beginWith('ollama');
      expect(title()).toBe('Model');
      // Nobody knows yet.
      beginWith('anthropic', 'checking');
      expect(title()).toBe('Model');
    });

    it('should announce conversations while none can be begun', () => {
      begin({ canStartTasks: false });
      const hint = () => find('.jp-hdspAgent-card .jp-hdspAgent-hint');
      expect(hint()?.textContent).toContain('later version');
      expect(find('textarea, input')).toBeNull();
    });

    it('should say where one can be begun, and nothing while nobody knows', () => {
      begin();
      expect(find('.jp-hdspAgent-hint')).toBeNull();
      publish({ type: 'state', state: { canStartTasks: true } });
      expect(find('.jp-hdspAgent-hint')?.textContent).toContain(
        'hdsp-agent run'
      );
    });
  });

  describe('notices', () => {
    const notice = {
      id: 'n1',
      level: 'error',
      code: 'some_code_without_translation',
      message: 'config.json was set aside.',
      params: {}
    } as const;

    it('should be shown with their level in words, and go when dismissed', () => {
      begin({ notices: [notice] });
      expect(find('.jp-hdspAgent-notice')?.textContent).toContain(
        'Error: config.json was set aside.'
      );
      act(() => button('Dismiss').click());
      expect(find('.jp-hdspAgent-notice')).toBeNull();
      expect(
        server.socket.sentWith('msg').map(({ data }) => data.type)
      ).toContain('dismissNotice');
      answer('dismissNotice', null);
    });

    it('should say that keys cannot be kept, and lead to where that is changed', () => {
      begin({
        secretStatus: {
          storage: {
            available: false,
            code: 'another_code_without_translation',
            message: 'The keyring is locked.',
            params: {}
          },
          secrets: []
        }
      });
      expect(find('.jp-hdspAgent-notice')?.textContent).toContain(
        'Warning: The keyring is locked.'
      );
      act(() => button('Choose where keys are kept').click());
      expect(opened).toEqual(['keys']);
    });

    it('should not say the same thing twice', () => {
      begin({
        notices: [{ ...notice, code: 'keyring_locked' }],
        secretStatus: {
          storage: { available: false, code: 'keyring_locked', message: '' },
          secrets: []
        }
      });
      expect(panel.node.querySelectorAll('.jp-hdspAgent-notice')).toHaveLength(
        1
      );
    });

    it('should not cry while the keyring is still being looked at', () => {
      begin({
        secretStatus: {
          storage: { available: false, code: 'checking', message: '…' },
          secrets: []
        }
      });
      expect(find('.jp-hdspAgent-notice')).toBeNull();
    });
  });

  describe('messages', () => {
    function created(ts: number, text: string): ExtensionMessage {
      const message: ClineMessage = {
        ts,
        type: 'say',
        say: 'text',
        text,
        partial: true
      };
      return { type: 'messageCreated', taskId: 't', message };
    }

    function delta(
      ts: number,
      offset: number,
      append: string
    ): ExtensionMessage {
      return {
        type: 'messageDelta',
        taskId: 't',
        ts,
        field: 'text',
        offset,
        append
      };
    }

    it('should appear with their text, and take the place of the setup card', () => {
      begin();
      publish(created(7, 'Hello'));
      const row = find('[data-ts="7"]');
      expect(row?.textContent).toBe('AgentHello');
      expect(row?.getAttribute('aria-busy')).toBe('true');
      expect(find('.jp-hdspAgent-card')).toBeNull();
    });

    it('should grow in place: no other row is touched', async () => {
      begin();
      publish(created(1, 'one'), created(2, 'two'));
      const rows = [find('[data-ts="1"]'), find('[data-ts="2"]')];
      const touched = new Set<Element | null>();
      const observer = new MutationObserver(records => {
        for (const { target } of records) {
          const element =
            target instanceof Element ? target : target.parentElement;
          touched.add(element?.closest('[data-ts]') ?? null);
        }
      });
      observer.observe(panel.node, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true
      });
      publish(delta(2, 3, '!'), delta(2, 4, '?'));
      await Promise.resolve();
      observer.disconnect();
      expect(find('[data-ts="2"]')).toBe(rows[1]);
      expect(rows[1]?.textContent).toBe('Agenttwo!?');
      expect([...touched]).toEqual([rows[1]]);
    });

    it('should go with the state that does not have them', () => {
      begin();
      publish(created(1, 'one'));
      publish({ type: 'state', state: {} });
      expect(find('[data-ts]')).toBeNull();
    });
  });

  describe('the focus', () => {
    it('should go to what is to be done next when the panel is activated', () => {
      begin();
      panel.activate();
      MessageLoop.flush();
      expect(document.activeElement).toBe(button('Set up a model'));
    });

    it('should go to the panel when there is nothing to be done', () => {
      panel.activate();
      MessageLoop.flush();
      expect(document.activeElement).toBe(panel.node);
    });
  });
});

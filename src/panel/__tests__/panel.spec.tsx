import { MessageLoop } from '@lumino/messaging';

import type { ClineMessage, ExtensionMessage } from '../../generated/wire';
import { READY } from '../composer/__tests__/openedcomposer';
import { RestServer } from '../history/__tests__/restserver';
import { OpenedPanel } from './openedpanel';

describe('AgentPanel', () => {
  let page: OpenedPanel;
  let rest: RestServer;

  beforeEach(() => {
    rest = new RestServer();
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
  });

  function banner(): string | null {
    return (
      page.find('[aria-label="Connection"] > .jp-hdspAgent-notice-text')
        ?.textContent ?? null
    );
  }

  describe('the connection', () => {
    it('should be told in words, to eyes and to screen readers', () => {
      expect(page.find('.jp-hdspAgent-header')?.textContent).toContain(
        'Connecting…'
      );
      page.begin();
      expect(page.findAll('.jp-hdspAgent-connection')).toEqual([]);
      expect(page.find('[role="status"]')?.textContent).toBe(
        'HDSP Agent: Connected'
      );
      expect(banner()).toBeNull();
      page.act(() => page.server.socket.drop());
      expect(page.find('.jp-hdspAgent-strip')?.textContent).toContain(
        'Reconnecting…'
      );
      expect(page.find('[role="status"]')?.textContent).toContain(
        'Reconnecting…'
      );
      page.wait(510);
      page.act(() => page.server.accept({ resumed: true }, 1));
      expect(page.findAll('.jp-hdspAgent-connection')).toEqual([]);
    });

    it('should have a banner when it is lost, which counts down', () => {
      page.begin();
      page.act(() => page.server.socket.drop());
      page.wait(600);
      page.act(() => page.server.socket.drop());
      page.wait(1000);
      page.act(() => page.server.socket.drop());
      page.wait(1000);
      expect(banner()).toBe(
        'Connection lost. Your work on the server continues. Retrying in 1\u00a0s.'
      );
    });

    it('should have no banner when it is back at once', () => {
      page.begin();
      page.act(() => page.server.socket.drop());
      page.wait(510);
      page.act(() => page.server.accept({ resumed: true }, 1));
      page.wait(1000);
      expect(banner()).toBeNull();
    });

    it('should not read the countdown aloud', () => {
      page.begin();
      page.act(() => page.server.socket.drop());
      const told = page.find('[role="status"]')?.textContent;
      page.wait(400);
      expect(page.find('[role="status"]')?.textContent).toBe(told);
      const live = '[aria-label="Connection"] :is([role], [aria-live])';
      expect(page.findAll(live)).toEqual([]);
    });

    it('should be tried at once when one wants it', () => {
      page.begin();
      page.act(() => page.server.socket.drop());
      for (let attempt = 0; attempt < 4; attempt++) {
        page.wait((page.client.status.retryAt ?? 0) - Date.now());
        page.act(() => page.server.socket.drop());
      }
      const before = page.server.sockets.length;
      page.act(() => page.button('Try now').click());
      expect(page.server.sockets).toHaveLength(before + 1);
    });

    it('should ask for a reload when the versions differ, once and plainly', () => {
      page.act(() => {
        page.server.socket.connect();
        page.server.socket.say({
          op: 'close',
          data: {
            code: 'version_mismatch',
            message: 'Reload.',
            params: { page: '0.1.0', server: '0.2.0' }
          }
        });
      });
      expect(banner()).toBe(
        'HDSP Agent was updated: this page is 0.1.0, the server 0.2.0. Save your work, then reload the page.'
      );
      expect(page.find('[role="status"]')?.textContent).toContain(
        'was updated'
      );
      expect(page.button('Reload')).toBeTruthy();
      // It cannot be put away: nothing works until then.
      expect(page.node.querySelectorAll('button')).toHaveLength(1);
    });
  });

  describe('what is set up', () => {
    it('should say nothing before the server has', () => {
      expect(page.find('.jp-hdspAgent-card')).toBeNull();
    });

    it('should lead to a model when there is none', async () => {
      page.begin();
      for (let turn = 0; turn < 5; turn++) {
        await page.settle();
      }
      expect(page.find('.jp-hdspAgent-card')?.textContent).toContain(
        'No model is set up yet'
      );
      page.act(() => page.button('All model and key settings').click());
      expect(page.openedSettings).toEqual(['models']);
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
      page.begin({ notices: [notice] });
      expect(page.find('.jp-hdspAgent-notice')?.textContent).toContain(
        'Error: config.json was set aside.'
      );
      page.act(() => page.dismissal().click());
      expect(page.find('.jp-hdspAgent-notice')).toBeNull();
      expect(
        page.server.socket.sentWith('msg').map(({ data }) => data.type)
      ).toContain('dismissNotice');
      page.answer('dismissNotice');
    });

    it('should be put away one after the other, each by its name', () => {
      page.begin({
        notices: ['One.', 'Two.', 'Three.'].map((message, index) => ({
          ...notice,
          id: `n${index}`,
          message
        }))
      });
      const dismiss = (label: string) => {
        page.act(() => page.button(label).focus());
        page.act(() => page.button(label).click());
        page.answer('dismissNotice');
      };
      dismiss('Dismiss: Two.');
      expect(document.activeElement).toBe(page.button('Dismiss: Three.'));
      dismiss('Dismiss: Three.');
      expect(document.activeElement).toBe(page.button('Dismiss: One.'));
      dismiss('Dismiss: One.');
      expect(page.findAll('.jp-hdspAgent-notice')).toEqual([]);
      expect(page.node.contains(document.activeElement)).toBe(true);
    });

    it('should say that keys cannot be kept, and lead to where that is changed', () => {
      page.begin({
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
      expect(page.find('.jp-hdspAgent-notice')?.textContent).toContain(
        'Warning: The keyring is locked.'
      );
      page.act(() => page.button('Key storage').click());
      expect(page.openedSettings).toEqual(['keys']);
    });

    it('should not say the same thing twice', () => {
      page.begin({
        notices: [{ ...notice, code: 'keyring_locked' }],
        secretStatus: {
          storage: { available: false, code: 'keyring_locked', message: '' },
          secrets: []
        }
      });
      expect(page.node.querySelectorAll('.jp-hdspAgent-notice')).toHaveLength(
        1
      );
    });

    const locked = (code: string) =>
      page.begin({
        secretStatus: {
          storage: { available: false, code, message: 'Locked.' },
          secrets: []
        }
      });
    const notices = () => page.findAll('.jp-hdspAgent-notice');

    it('should let it be said no more that keys cannot be kept, until it is for another reason', () => {
      locked('keyring_locked');
      page.act(() => page.dismissal().click());
      expect(notices()).toEqual([]);
      locked('keyring_locked');
      expect(notices()).toEqual([]);
      locked('keyring_failed');
      expect(notices()).toHaveLength(1);
    });

    it('should say it again when keys could be kept in the meantime', () => {
      locked('keyring_locked');
      page.act(() => page.dismissal().click());
      page.begin({
        secretStatus: {
          storage: { available: true, code: 'ok', message: '' },
          secrets: []
        }
      });
      locked('keyring_locked');
      expect(notices()).toHaveLength(1);
    });

    it('should not let it be put away while the model has no key', () => {
      page.begin({
        currentApiConfigName: 'work',
        listApiConfigMeta: [
          {
            id: 'p1',
            name: 'work',
            apiProvider: 'openai-native',
            pinned: false,
            current: true,
            allowed: true
          }
        ],
        secretStatus: {
          storage: { available: false, code: 'keyring_locked', message: '' },
          secrets: []
        }
      });
      expect(notices()[0]?.querySelector('[aria-label^="Dismiss"]')).toBeNull();
      expect(page.button('Key storage')).toBeTruthy();
    });

    it('should not cry while the keyring is still being looked at', () => {
      page.begin({
        secretStatus: {
          storage: { available: false, code: 'checking', message: '…' },
          secrets: []
        }
      });
      expect(page.find('.jp-hdspAgent-notice')).toBeNull();
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

    it('should appear with their text, and take the place of the setup card', async () => {
      page.begin();
      page.publish(created(7, 'Hello'));
      await page.settle();
      const row = page.find('[data-ts="7"]');
      expect(row?.textContent).toBe('YouHello');
      expect(row?.getAttribute('aria-busy')).toBe('true');
      expect(page.find('.jp-hdspAgent-card')).toBeNull();
    });

    it('should grow in place: no other row is touched', async () => {
      page.begin();
      page.publish(created(1, 'one'), created(2, 'two'));
      await page.settle();
      const rows = [page.find('[data-ts="1"]'), page.find('[data-ts="2"]')];
      const touched = new Set<Element | null>();
      const observer = new MutationObserver(records => {
        for (const { target } of records) {
          const element =
            target instanceof Element ? target : target.parentElement;
          touched.add(element?.closest('[data-ts]') ?? null);
        }
      });
      observer.observe(page.node, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true
      });
      page.publish(delta(2, 3, '!'), delta(2, 4, '?'));
      await page.settle(() => jest.advanceTimersByTime(200));
      observer.disconnect();
      expect(page.find('[data-ts="2"]')).toBe(rows[1]);
      expect(rows[1]?.textContent).toBe('two!?');
      expect([...touched]).toEqual([rows[1]]);
    });

    it('should go with the state that does not have them', () => {
      page.begin();
      page.publish(created(1, 'one'));
      page.publish({ type: 'state', state: {} });
      expect(page.find('[data-ts]')).toBeNull();
    });
  });

  describe('the focus', () => {
    it('should go to what is to be done next when the panel is activated', async () => {
      const candidate = { id: 'l', kind: 'local', provider: 'ollama' };
      rest.answers.set('GET setup/candidates', () => ({
        candidates: [{ ...candidate, name: 'Ollama', models: ['m'] }],
        refused: []
      }));
      page.begin();
      for (let turn = 0; turn < 5; turn++) {
        await page.settle();
      }
      page.panel.activate();
      MessageLoop.flush();
      expect(document.activeElement).toBe(page.button('Use Ollama'));
    });

    it('should go to the panel when there is nothing to be done', () => {
      page.panel.activate();
      MessageLoop.flush();
      expect(document.activeElement).toBe(page.node);
    });

    it('should go on from the panel to the field when that comes', () => {
      page.panel.activate();
      MessageLoop.flush();
      page.begin(READY);
      expect(document.activeElement).toBe(
        page.find('.jp-hdspAgent-composer-field')
      );
    });

    it('should stay elsewhere when the field comes', () => {
      const elsewhere = document.body.appendChild(
        document.createElement('input')
      );
      elsewhere.focus();
      page.begin(READY);
      expect(document.activeElement).toBe(elsewhere);
      elsewhere.remove();
    });
  });

  describe('out of sight', () => {
    beforeEach(() => {
      page.dispose();
      page = new OpenedPanel({ isHidden: true });
      page.begin();
    });

    it('should be empty until it is seen', () => {
      expect(page.node.textContent).toBe('');
      page.act(() => page.panel.show());
      expect(page.node.textContent).toContain('Connected');
    });

    it('should be drawn when there is time for it', () => {
      page.act(() => page.panel.draw());
      expect(page.node.textContent).toContain('Connected');
    });
  });
});

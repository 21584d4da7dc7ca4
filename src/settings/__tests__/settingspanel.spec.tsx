import { Signal } from '@lumino/signaling';

import { followChannel } from '../data/followchannel';
import { OpenedSettings } from './openedsettings';

describe('SettingsPanel', () => {
  let page: OpenedSettings;

  beforeEach(() => {
    page = new OpenedSettings();
  });

  afterEach(() => {
    page.close();
  });

  it('shows the fields of one section with their names and meanings', async () => {
    await page.open();
    expect(page.all('h2').map(one => one.textContent)).toEqual(['Approvals']);
    const input = page.get<HTMLInputElement>('input[role="switch"]');
    expect(input.labels?.[0].textContent).toBe('Approve automatically');
    const described = input.getAttribute('aria-describedby') ?? '';
    const texts = described
      .split(' ')
      .map(id => page.get(`#${id}`).textContent);
    expect(texts).toEqual(['The main switch.']);
  });

  it('saves a switch at once', async () => {
    await page.open();
    await page.do(() => page.get('input[role="switch"]').click());
    expect(page.server.settings.autoApprovalEnabled).toBe(true);
    expect(page.field('autoApprovalEnabled').textContent).toContain('Saved');
  });

  it('shows what the server refuses at the field and keeps the text', async () => {
    await page.open();
    const selector = '#jp-hdspSettings-all-checkpointTimeout';
    await page.type(selector, '70');
    const input = page.get<HTMLInputElement>(selector);
    expect(input.value).toBe('70');
    expect(input.getAttribute('aria-invalid')).toBe('true');
    const id = input.getAttribute('aria-describedby')?.split(' ')[0];
    expect(page.get(`#${id}`).textContent).toBe(
      'This value cannot be used: it must be at most 60. The setting was not changed.'
    );
    expect(page.server.settings.checkpointTimeout).toBe(15);
    await page.press('Undo this edit');
    expect(input.value).toBe('15');
    expect(input.getAttribute('aria-invalid')).toBeNull();
  });

  it('does not fold the advanced settings away under a person’s hands', async () => {
    await page.open();
    const details = page.get<HTMLDetailsElement>('details');
    const selector = '#jp-hdspSettings-all-checkpointTimeout';
    await page.type(selector, '70');
    expect(details.open).toBe(true);
    await page.do(() => details.dispatchEvent(new Event('toggle')));
    await page.type(selector, '50');
    expect(page.server.settings.checkpointTimeout).toBe(50);
    expect(details.open).toBe(true);
  });

  it('offers the default only where the value is another', async () => {
    page.server.settings.checkpointTimeout = 20;
    await page.open();
    const label = 'Reset to default: Longest wait';
    await page.press(label);
    expect(page.server.bodies[page.server.bodies.length - 1]).toBe(
      '{"checkpointTimeout":null}'
    );
    expect(page.all(`[aria-label="${label}"]`)).toEqual([]);
  });

  it('does not let anybody change what the operator fixed', async () => {
    page.server.fixed = ['autoApprovalEnabled'];
    await page.open();
    const input = page.get<HTMLInputElement>('input[role="switch"]');
    expect(input.disabled).toBe(true);
    const { textContent } = page.field('autoApprovalEnabled');
    expect(textContent).toContain('Set by your administrator');
  });

  it('searches all sections and says how much it found', async () => {
    await page.open('ui');
    await page.type('input[type="search"]', 'cost', false);
    expect(page.all('h2').map(one => one.textContent)).toEqual(['Approvals']);
    expect(page.all('.jp-hdspSettings-content [data-key]')).toHaveLength(1);
    expect(page.get('.jp-hdspSettings-search').textContent).toBe('1 result');
    await page.type('input[type="search"]', 'zzz', false);
    expect(page.get('.jp-hdspSettings-content').textContent).toContain(
      'No setting contains all of these words.'
    );
  });

  it('ends a search when a section is asked for from outside', async () => {
    await page.open('approvals');
    await page.type('input[type="search"]', 'zzz', false);
    page.visit++;
    await page.draw();
    expect(page.get<HTMLInputElement>('input[type="search"]').value).toBe('');
    expect(page.all('h2').map(one => one.textContent)).toEqual(['Approvals']);
  });

  it('takes over a change made elsewhere without touching what is typed', async () => {
    await page.open();
    const messages = new Signal<object, { type: string }>({});
    followChannel(messages, page.model);
    const selector = '#jp-hdspSettings-all-checkpointTimeout';
    await page.type(selector, '3', false);
    page.server.settings = { autoApprovalEnabled: true, checkpointTimeout: 40 };
    await page.do(() => messages.emit({ type: 'settingsUpdated' }));
    expect(page.get<HTMLInputElement>('[role="switch"]').checked).toBe(true);
    expect(page.get<HTMLInputElement>(selector).value).toBe('3');
    expect(document.activeElement).toBe(page.get(selector));

    const asked = () =>
      page.server.requests.filter(one => one === 'GET settings').length;
    const before = asked();
    await page.do(() => page.model.dispose());
    await page.do(() => messages.emit({ type: 'settingsUpdated' }));
    expect(asked()).toBe(before);
  });

  it('says what to do when the server cannot be reached, and recovers', async () => {
    page.server.isDown = true;
    await page.open();
    expect(page.get('[role="alert"]').textContent).toContain(
      'The server cannot be reached.'
    );
    page.server.isDown = false;
    await page.press('Try again');
    expect(page.all('[role="alert"]')).toEqual([]);
    expect(page.all('[role="switch"]')).toHaveLength(1);
  });

  describe('profiles', () => {
    it('lists pinned ones first and marks the current one', async () => {
      await page.open('models');
      const names = page.all('.jp-hdspSettings-profileName > span:first-child');
      expect(names.map(one => one.textContent)).toEqual([
        'a/b 한글',
        'default'
      ]);
      expect(page.get('[data-current="true"]').textContent).toContain(
        'default'
      );
    });

    it('shows the fields of the profile’s provider only, and offered ones', async () => {
      await page.open('models');
      const keys = () =>
        page
          .all('.jp-hdspSettings-form [data-key]')
          .map(one => one.dataset.key);
      expect(keys()).toEqual([
        'apiProvider',
        'apiModelId',
        'apiKey',
        'thinking'
      ]);
      const options = page.all('[data-key="apiProvider"] option');
      expect(options.map(one => one.textContent)).toEqual([
        'Not set',
        'Anthropic',
        'Ollama'
      ]);
      await page.type('#jp-hdspSettings-p1-apiProvider', 'ollama', false);
      expect(keys()).toEqual(['apiProvider', 'ollamaBaseUrl', 'thinking']);
      expect(page.server.profiles[0].settings.apiProvider).toBe('ollama');
    });

    it('suggests models and takes any other', async () => {
      await page.open('models');
      const input = page.get<HTMLInputElement>(
        '#jp-hdspSettings-p1-apiModelId'
      );
      const list = page.get(`#${input.getAttribute('list')}`);
      expect(list.querySelector('option')?.value).toBe('claude');
      await page.type('#jp-hdspSettings-p1-apiModelId', 'my-own');
      expect(page.server.profiles[0].settings.apiModelId).toBe('my-own');
    });

    it('uses, pins, renames and deletes a profile whose name needs escaping', async () => {
      await page.open('models');
      await page.press('Use “a/b 한글”');
      expect(page.server.current).toBe('a/b 한글');
      await page.press('Unpin “a/b 한글”');
      expect(page.server.profiles[1].pinned).toBe(false);
      page.answer = 'work';
      await page.press('Rename “a/b 한글”…');
      expect(page.server.profiles[1].name).toBe('work');
      await page.press('Delete “work”…');
      expect(page.asked).toContain('Delete the profile “work”?');
      expect(page.server.profiles.map(({ name }) => name)).toEqual(['default']);
    });

    it('keeps a profile when the question is answered with no', async () => {
      await page.open('models');
      page.answer = null;
      await page.press('Delete “default”…');
      expect(page.server.profiles).toHaveLength(2);
    });

    it('says why a profile could not be created', async () => {
      await page.open('models');
      page.answer = 'default';
      await page.press('New profile…');
      expect(page.get('[role="alert"]').textContent).toBe(
        'A profile named “default” already exists. Choose another name.'
      );
    });

    it('gives a mode a profile of its own and takes it away again', async () => {
      await page.open('models');
      await page.type('#jp-hdspSettings-mode-ask', 'p2', false);
      expect(page.server.modes).toEqual({ ask: 'p2' });
      await page.type('#jp-hdspSettings-mode-ask', '', false);
      expect(page.server.modes).toEqual({});
    });
  });

  describe('keys', () => {
    const input = '#jp-hdspSettings-key-p1-apiKey';

    it('saves a key and shows no more of it than its end', async () => {
      await page.open('models');
      await page.type(input, 'sk-secret-abcd', false);
      await page.press('Save key');
      expect(page.server.keys).toEqual({ 'p1/apiKey': 'sk-secret-abcd' });
      expect(page.get<HTMLInputElement>(input).value).toBe('');
      expect(page.get<HTMLInputElement>(input).type).toBe('password');
      expect(page.node.innerHTML).not.toContain('secret');
      expect(page.field('apiKey').textContent).toContain(
        'Saved, ends in …abcd, kept in the system keyring'
      );
      await page.press('Remove Anthropic API key');
      expect(page.server.keys).toEqual({});
    });

    it('shows a key from the environment without a place to type', async () => {
      await page.open('models');
      jest.spyOn(page.model.keys, 'statusOf').mockReturnValue({
        profileId: 'p1',
        key: 'apiKey',
        present: true,
        last4: 'wxyz',
        source: 'environment',
        variable: 'ANTHROPIC_API_KEY'
      });
      await page.draw();
      expect(page.field('apiKey').textContent).toContain(
        'From the variable ANTHROPIC_API_KEY, ends in …wxyz'
      );
      expect(page.all(input)).toEqual([]);
    });

    it('explains a missing keyring and asks before keys are kept in the clear', async () => {
      page.server.storage = {
        available: false,
        code: 'keyring_missing',
        message: 'English'
      };
      await page.open('keys');
      expect(page.get('.jp-hdspSettings-warning').textContent).toContain(
        'No system keyring found.'
      );
      page.answer = null;
      const choose = () =>
        page.do(() =>
          page.get('[aria-describedby="jp-hdspSettings-storage-file"]').click()
        );
      await choose();
      expect(page.asked).toEqual(['Keep keys unencrypted?']);
      expect(page.server.storage.available).toBe(false);
      page.answer = 'yes';
      await choose();
      expect(page.server.storage).toMatchObject({ kind: 'file' });
      expect(page.node.textContent).toContain('Keys are kept unencrypted');
    });

    it('asks before keys are kept only until the server stops', async () => {
      await page.open('keys');
      const choose = () =>
        page.do(() =>
          page
            .get('[aria-describedby="jp-hdspSettings-storage-memory"]')
            .click()
        );
      page.answer = null;
      await choose();
      expect(page.asked).toEqual(['Keep keys in memory only?']);
      expect(page.server.storage).not.toMatchObject({ kind: 'memory' });
      page.answer = 'yes';
      await choose();
      expect(page.server.storage).toMatchObject({ kind: 'memory' });
      expect(page.node.textContent).toContain('until Jupyter stops.');
    });
  });

  describe('searching the past', () => {
    const shown = () =>
      page
        .all('.jp-hdspSettings-content [data-key]')
        .map(({ dataset }) => dataset.key);

    it('asks for an endpoint only where one is chosen', async () => {
      page.server.settings.searchByMeaning = 'bundled';
      await page.open('search');
      expect(shown()).toEqual(['searchByMeaning']);
      expect(page.node.textContent).toContain('All passages are ready.');
      page.server.settings.searchByMeaning = 'endpoint';
      await page.do(() => page.model.settings.refresh());
      expect(shown()).toEqual([
        'searchByMeaning',
        'searchEndpointUrl',
        'searchEndpointApiKey'
      ]);
      expect(page.field('searchEndpointUrl').textContent).toContain(
        'Passages are sent there.'
      );
    });

    it('keeps the key of the endpoint with the keys', async () => {
      page.server.settings.searchByMeaning = 'endpoint';
      await page.open('search');
      const input = '#jp-hdspSettings-key-settings-searchEndpointApiKey';
      await page.type(input, 'planted-abcd', false);
      await page.press('Save key');
      expect(page.server.requests).toContain(
        'PUT secrets/settings/searchEndpointApiKey'
      );
      expect(page.node.innerHTML).not.toContain('planted');
      expect(page.field('searchEndpointApiKey').textContent).toContain('…abcd');
      await page.press('Remove Key for the embeddings endpoint');
      expect(page.server.keys).toEqual({});
    });

    it('says why the endpoint does not work, until it does', async () => {
      page.server.settings.searchByMeaning = 'endpoint';
      page.server.meaning = {
        by: 'endpoint',
        installed: false,
        unread: 3,
        failure: {
          code: 'embeddings_unavailable',
          message: '',
          params: { url: 'http://here/v1/embeddings', reason: 'HTTP 401' }
        }
      };
      await page.open('search');
      expect(page.get('[role="alert"]').textContent).toContain(
        'http://here/v1/embeddings gave no usable answer (HTTP 401)'
      );
      page.server.meaning = { by: 'endpoint', installed: false, unread: 3 };
      await page.press('Test the endpoint');
      expect(page.server.requests).toContain('POST recall/meaning');
      expect(page.all('[role="alert"]')).toEqual([]);
      expect(page.node.textContent).toContain('Passages still to process: 3');
      const live = page.all('[role="status"]').map(node => node.textContent);
      expect(live.join()).not.toContain('3');
      expect(page.node.textContent).toContain('The endpoint works.');
    });

    it('says how to install what is missing, and follows other tabs', async () => {
      page.server.meaning = { by: 'bundled', installed: false, unread: 0 };
      await page.open('search');
      expect(page.node.textContent).toContain(
        "To search by meaning, install: pip install 'hdsp-agent[semantic]'"
      );
      const messages = new Signal<object, { type: string }>({});
      followChannel(messages, page.model);
      page.server.meaning = { by: 'off', installed: false, unread: 0 };
      await page.do(() => messages.emit({ type: 'settingsUpdated' }));
      expect(page.node.textContent).not.toContain('To search by meaning');
    });
  });

  describe('transfer', () => {
    it('imports a file and lists what was left out', async () => {
      await page.open('transfer');
      const picker = page.get<HTMLInputElement>('input[type="file"]');
      const file = new File(['{"globalSettings":{}}'], 'a.json');
      Object.assign(file, {
        text: () => Promise.resolve('{"globalSettings":{}}')
      });
      Object.defineProperty(picker, 'files', { value: [file] });
      await page.do(() =>
        picker.dispatchEvent(new Event('change', { bubbles: true }))
      );
      expect(page.server.requests).toContain('POST settings/import');
      expect(page.get('.jp-hdspSettings-report').textContent).toContain(
        'globalSettings.x This setting does not exist here.'
      );
    });

    it('changes nothing when the file is not a settings file', async () => {
      await page.open('transfer');
      const picker = page.get<HTMLInputElement>('input[type="file"]');
      const file = new File(['[]'], 'list.json');
      Object.assign(file, { text: () => Promise.resolve('[]') });
      Object.defineProperty(picker, 'files', { value: [file] });
      await page.do(() =>
        picker.dispatchEvent(new Event('change', { bubbles: true }))
      );
      expect(page.get('[role="alert"]').textContent).toContain('“list.json”');
      expect(page.server.requests).not.toContain('POST settings/import');
    });

    it('resets everything, but only when asked twice', async () => {
      await page.open('transfer');
      page.answer = null;
      await page.press('Reset everything…');
      expect(page.server.requests).not.toContain('DELETE settings');
      page.answer = 'yes';
      await page.press('Reset everything…');
      expect(page.server.requests).toContain('DELETE settings');
    });
  });
});

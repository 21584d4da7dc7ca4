import { OpenedPanel } from '../../__tests__/openedpanel';
import type { ExtensionState, ProfileEntry } from '../../../generated/wire';
import type { KeyCheckView } from '../../../generated/rest';
import { anItem } from '../../header/__tests__/conversations';
import { RestServer, refusal } from '../../history/__tests__/restserver';
import { embedded } from '../../localmodel/__tests__/embedded';

const STORAGE = { available: true, code: 'ok', message: '' };

function aProfile(change: Partial<ProfileEntry> = {}): ProfileEntry {
  return {
    id: 'p1',
    name: 'work',
    pinned: false,
    current: true,
    allowed: true,
    ...change
  };
}

function using(
  profile: ProfileEntry,
  change: ExtensionState = {}
): ExtensionState {
  return {
    canStartTasks: true,
    currentApiConfigName: profile.name,
    listApiConfigMeta: [profile],
    openTasks: [],
    ...change
  };
}

const OLLAMA = {
  id: 'local:ollama',
  kind: 'local',
  provider: 'ollama',
  name: 'Ollama',
  baseUrl: 'http://127.0.0.1:11434',
  models: ['qwen3', 'llama3'],
  inUse: false
};

const CLAUDE = {
  id: 'environment:anthropic',
  kind: 'environment',
  provider: 'anthropic',
  name: 'Anthropic',
  variable: 'ANTHROPIC_API_KEY',
  models: [],
  suggestedModel: 'claude-x',
  inUse: false
};

const PROVIDERS = [
  {
    id: 'anthropic',
    name: 'Anthropic',
    protocol: 'anthropic',
    keyRequired: true,
    modelField: 'apiModelId',
    keyField: 'apiKey',
    hidden: false
  },
  {
    id: 'openai',
    name: 'OpenAI compatible',
    protocol: 'openai-chat',
    keyRequired: false,
    modelField: 'openAiModelId',
    keyField: 'openAiApiKey',
    baseUrlField: 'openAiBaseUrl',
    hidden: false
  },
  { id: 'bedrock', name: 'Amazon Bedrock', protocol: 'bedrock', hidden: false }
];

describe('FirstRun', () => {
  let page: OpenedPanel;
  let rest: RestServer;

  beforeEach(() => {
    rest = new RestServer();
    page = new OpenedPanel();
    found([]);
    rest.answers.set('GET settings/schema', () => ({ providers: PROVIDERS }));
    rest.answers.set('GET settings', () => ({ settings: {}, fixed: [] }));
    rest.answers.set('GET models', () => ({
      models: [
        { id: 'claude-x', provider: 'anthropic', deprecated: false },
        { id: 'claude-1', provider: 'anthropic', deprecated: true }
      ]
    }));
    rest.answers.set('GET history', () => ({ taskHistory: [], total: 0 }));
    rest.answers.set('GET local-models', () => embedded());
    tried({ verdict: 'accepted' });
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
  });

  function tried(check: KeyCheckView): void {
    rest.answers.set('POST setup/check', () => check);
  }

  function found(candidates: object[], refused: string[] = []): void {
    rest.answers.set('GET setup/candidates', () => ({
      ready: false,
      candidates,
      refused
    }));
  }

  async function settle(work: () => void = () => undefined): Promise<void> {
    await page.settle(work);
    for (let turn = 0; turn < 6; turn++) {
      await page.settle();
    }
  }

  function fill(selector: string, value: string): void {
    page.act(() => {
      const field = page.find(selector) as HTMLInputElement;
      const own = Object.getPrototypeOf(field) as object;
      Object.getOwnPropertyDescriptor(own, 'value')?.set?.call(field, value);
      const type = field.tagName === 'SELECT' ? 'change' : 'input';
      field.dispatchEvent(new Event(type, { bubbles: true }));
    });
  }

  const text = () => page.find('.jp-hdspAgent-firstRun')?.textContent ?? '';

  describe('without a model', () => {
    it('should offer what was found, and say what is not allowed', async () => {
      found([CLAUDE, OLLAMA], ['gemini']);
      page.begin(using(aProfile()));
      await settle();
      expect(text()).toContain('No model is set up yet');
      expect(text()).toContain(
        'with the key in the environment variable ANTHROPIC_API_KEY'
      );
      expect(text()).toContain('on this machine, with 2 models');
      expect(text()).toContain('not allowed on this server: Google Gemini.');
    });

    it('should need two presses where a model is suggested', async () => {
      found([CLAUDE]);
      rest.answers.set('POST setup/use', () => ({ id: 'p1', name: 'work' }));
      page.begin(using(aProfile()));
      await settle();
      await settle(() => page.button('Use Anthropic').click());
      expect(text()).toContain('2 of 2: Choose a model');
      const options = page.findAll('select option');
      expect(options.map(({ textContent }) => textContent)).toEqual([
        'claude-x (suggested)',
        'Other model…'
      ]);
      await settle(() => page.button('Start').click());
      expect(rest.of('POST setup/use')[0].body).toEqual({
        id: 'environment:anthropic',
        model: 'claude-x'
      });
      page.publish({
        type: 'profilesUpdated',
        currentApiConfigName: 'work',
        listApiConfig: [aProfile({ apiProvider: 'anthropic' })]
      });
      expect(text()).toContain('What are we working on?');
    });

    it('should let one choose among the models of a server, or name another', async () => {
      found([OLLAMA]);
      rest.answers.set('POST setup/use', () => ({}));
      page.begin(using(aProfile()));
      await settle();
      await settle(() => page.button('Use Ollama').click());
      expect(rest.of('GET models')).toHaveLength(0);
      const chosen = page.find('.jp-hdspAgent-setup-form select');
      expect((chosen as HTMLSelectElement).value).toBe('qwen3');
      expect(page.button('Start').disabled).toBe(false);
      fill('.jp-hdspAgent-setup-form select', '');
      expect(page.button('Start').disabled).toBe(true);
      fill('.jp-hdspAgent-setup-form input', 'mine');
      await settle(() => page.button('Start').click());
      expect(rest.of('POST setup/use')[0].body).toEqual({
        id: 'local:ollama',
        model: 'mine'
      });
    });

    it('should say that a key which was found does not work', async () => {
      found([CLAUDE]);
      tried({ verdict: 'refused', kind: 'authentication' });
      page.begin(using(aProfile()));
      await settle();
      await settle(() => page.button('Use Anthropic').click());
      expect(rest.of('POST setup/check')[0].body).toEqual({
        provider: 'anthropic'
      });
      expect(page.find('[role="alert"]')?.textContent).toContain(
        'does not accept the key in the environment variable ANTHROPIC_API_KEY.'
      );
    });

    it('should say why a candidate cannot be used', async () => {
      found([CLAUDE]);
      rest.answers.set('POST setup/use', () =>
        refusal('some_code_without_translation', 'The key is gone.')
      );
      page.begin(using(aProfile()));
      await settle();
      await settle(() => page.button('Use Anthropic').click());
      await settle(() => page.button('Start').click());
      expect(page.find('[role="alert"]')?.textContent).toBe('The key is gone.');
      expect(page.button('Start').disabled).toBe(false);
    });
  });

  describe('with a provider of one’s own', () => {
    let profiles: ProfileEntry[];

    beforeEach(() => {
      profiles = [aProfile()];
      rest.answers.set('GET profiles', () => ({
        current: 'work',
        profiles,
        modes: {}
      }));
      for (const name of ['work', 'Anthropic']) {
        rest.answers.set(`PATCH profiles/${name}`, () => ({}));
        rest.answers.set(`POST profiles/${name}/activate`, () => ({}));
      }
      rest.answers.set('POST profiles', ({ body }) => body);
    });

    function changes(): string[] {
      return rest.asked
        .filter(
          ({ method, path }) => method !== 'GET' && path !== 'setup/check'
        )
        .map(
          ({ method, path, body }) =>
            `${method} ${path} ${JSON.stringify(body)}`
        );
    }

    it('should keep its key in the empty profile, then take its model', async () => {
      page.begin(using(aProfile()));
      await settle();
      const offered = page.findAll('.jp-hdspAgent-setup-form option');
      expect(offered.map(({ textContent }) => textContent)).toEqual([
        'Choose a provider',
        'Anthropic',
        'OpenAI compatible'
      ]);
      fill('.jp-hdspAgent-setup-form select', 'anthropic');
      fill('input[type="password"]', ' sk-1 ');
      await settle(() => page.button('Next').click());
      // The profile could be used by now, and one is in the middle of it.
      page.publish({
        type: 'profilesUpdated',
        currentApiConfigName: 'work',
        listApiConfig: [aProfile({ apiProvider: 'anthropic' })]
      });
      await settle();
      expect(text()).toContain('2 of 2: Choose a model');
      await settle(() => page.button('Start').click());
      expect(changes()).toEqual([
        'PATCH profiles/work {"settings":{"apiProvider":"anthropic","apiKey":"sk-1"}}',
        'PATCH profiles/work {"settings":{"apiModelId":"claude-x"}}',
        'POST profiles/work/activate null'
      ]);
      expect(text()).toContain('What are we working on?');
    });

    it('should leave a profile alone that has another provider', async () => {
      const other = aProfile({ apiProvider: 'gemini' });
      profiles = [other];
      const secretStatus = { storage: STORAGE, secrets: [] };
      page.begin(using(other, { secretStatus }));
      await settle();
      expect(text()).toContain('The key for the model is missing');
      fill('.jp-hdspAgent-setup-form select', 'anthropic');
      fill('input[type="password"]', 'sk-1');
      await settle(() => page.button('Next').click());
      expect(changes()).toEqual([
        'POST profiles {"name":"Anthropic"}',
        'PATCH profiles/Anthropic {"settings":{"apiProvider":"anthropic","apiKey":"sk-1"}}'
      ]);
    });

    it('should begin with the provider of which only the key is missing', async () => {
      const mine = aProfile({ apiProvider: 'anthropic' });
      profiles = [mine];
      const secretStatus = { storage: STORAGE, secrets: [] };
      page.begin(using(mine, { secretStatus }));
      await settle();
      expect(text()).toContain('The key for the model is missing');
      const chosen = page.find('.jp-hdspAgent-setup-form select');
      expect((chosen as HTMLSelectElement).value).toBe('anthropic');
      fill('input[type="password"]', 'sk-1');
      await settle(() => page.button('Next').click());
      expect(text()).not.toContain('The key for the model is missing');
      expect(document.activeElement?.textContent).toBe(
        '2 of 2: Choose a model from Anthropic'
      );
      expect(changes()).toEqual([
        'PATCH profiles/work {"settings":{"apiProvider":"anthropic","apiKey":"sk-1"}}'
      ]);
    });

    const writeKey = async (key: string) => {
      page.begin(using(aProfile()));
      await settle();
      fill('.jp-hdspAgent-setup-form select', 'anthropic');
      fill('input[type="password"]', key);
      await settle(() => page.button('Next').click());
    };
    const said = () => page.find('[role="alert"]')?.textContent ?? null;

    it('should try a key before it is kept, and say what to do with a wrong one', async () => {
      tried({ verdict: 'refused', kind: 'authentication' });
      await writeKey(' sk-wrong ');
      expect(rest.of('POST setup/check')[0].body).toEqual({
        provider: 'anthropic',
        key: 'sk-wrong'
      });
      expect(said()).toContain('Anthropic does not accept this key. Check');
      expect(() => page.button('Save anyway')).toThrow();
      expect(changes()).toEqual([]);
      // Another one is another matter.
      fill('input[type="password"]', 'sk-right');
      expect(said()).toBeNull();
      tried({ verdict: 'accepted' });
      await settle(() => page.button('Next').click());
      expect(text()).toContain('2 of 2: Choose a model');
      expect(changes()[0]).toBe(
        'PATCH profiles/work {"settings":{"apiProvider":"anthropic","apiKey":"sk-right"}}'
      );
    });

    it('should keep a key that cannot be tried, if one wants that', async () => {
      tried({ verdict: 'unreachable', kind: 'network' });
      await writeKey('sk-1');
      expect(said()).toContain('Anthropic could not be reached.');
      expect(changes()).toEqual([]);
      await settle(() => page.button('Try again').click());
      expect(rest.of('POST setup/check')).toHaveLength(2);
      await settle(() => page.button('Save anyway').click());
      expect(rest.of('POST setup/check')).toHaveLength(2);
      expect(text()).toContain('2 of 2: Choose a model');
      expect(changes()).toHaveLength(1);
    });

    it('should go on where the provider says nothing of the key', async () => {
      tried({ verdict: 'untold' });
      await writeKey('sk-1');
      expect(text()).toContain('2 of 2: Choose a model');
    });

    it('should change nothing when the key cannot be kept', async () => {
      rest.answers.set('PATCH profiles/work', () =>
        refusal('some_code_without_translation', 'The keyring is locked.')
      );
      page.begin(using(aProfile()));
      await settle();
      fill('.jp-hdspAgent-setup-form select', 'anthropic');
      fill('input[type="password"]', 'sk-1');
      await settle(() => page.button('Next').click());
      expect(page.find('[role="alert"]')?.textContent).toBe(
        'The keyring is locked.'
      );
      expect(changes()).toHaveLength(1);
    });

    describe('where there is no keyring', () => {
      const noKeyring = {
        storage: { available: false, code: 'keyring_missing', message: '' },
        secrets: []
      };
      const places = () =>
        page.findAll('fieldset input[type="radio"]') as HTMLInputElement[];

      beforeEach(() => {
        rest.answers.set('PUT secrets/storage', () => noKeyring);
      });

      async function write(): Promise<void> {
        page.begin(using(aProfile(), { secretStatus: noKeyring }));
        await settle();
        expect(places()).toEqual([]);
        fill('.jp-hdspAgent-setup-form select', 'anthropic');
        fill('input[type="password"]', 'sk-1');
      }

      it('should ask where the key is kept, and go on without another press', async () => {
        await write();
        expect(page.find('fieldset legend')?.textContent).toBe(
          'This computer has no keyring. Where should the key be kept?'
        );
        expect(places().map(({ checked }) => checked)).toEqual([true, false]);
        await settle(() => page.button('Next').click());
        expect(text()).toContain('2 of 2: Choose a model');
        expect(changes()).toEqual([
          'PUT secrets/storage {"kind":"memory"}',
          'PATCH profiles/work {"settings":{"apiProvider":"anthropic","apiKey":"sk-1"}}'
        ]);
      });

      it('should keep it in a file if one wants that', async () => {
        await write();
        page.act(() => places()[1].click());
        await settle(() => page.button('Next').click());
        expect(changes()[0]).toBe('PUT secrets/storage {"kind":"file"}');
      });

      it('should try a keyring again that was locked', async () => {
        noKeyring.storage.code = 'keyring_locked';
        rest.answers.set('PUT secrets/storage', () =>
          refusal('keyring_locked', 'Locked.')
        );
        await write();
        expect(page.find('fieldset')?.textContent).toContain(
          'The system keyring is locked.'
        );
        page.act(() => places()[2].click());
        await settle(() => page.button('Next').click());
        expect(changes()).toEqual(['PUT secrets/storage {"kind":"auto"}']);
        expect(said()).toContain('The system keyring is locked.');
      });

      it('should keep a key nowhere that is wrong', async () => {
        tried({ verdict: 'refused', kind: 'authentication' });
        await write();
        await settle(() => page.button('Next').click());
        expect(changes()).toEqual([]);
      });
    });

    const keyInput = () =>
      page.find('input[type="password"]') as HTMLInputElement;

    it('should forget a key when another provider is chosen', async () => {
      page.begin(using(aProfile()));
      await settle();
      fill('.jp-hdspAgent-setup-form select', 'anthropic');
      fill('input[type="password"]', 'sk-ant-1');
      fill('.jp-hdspAgent-setup-form select', 'openai');
      expect(keyInput().value).toBe('');
      fill('input[type="url"]', 'http://elsewhere.test/v1');
      await settle(() => page.button('Next').click());
      expect(JSON.stringify(rest.asked)).not.toContain('sk-ant-1');
      expect(rest.of('POST setup/check')[0].body).toEqual({
        provider: 'openai',
        baseUrl: 'http://elsewhere.test/v1'
      });
    });

    it('should forget a key and a check when the address changes', async () => {
      tried({ verdict: 'unreachable', kind: 'network' });
      page.begin(using(aProfile()));
      await settle();
      fill('.jp-hdspAgent-setup-form select', 'openai');
      fill('input[type="url"]', 'http://one.test/v1');
      fill('input[type="password"]', 'sk-one-1');
      await settle(() => page.button('Next').click());
      expect(said()).toContain('could not be reached');
      fill('input[type="url"]', 'http://two.test/v1');
      expect(keyInput().value).toBe('');
      expect(said()).toBeNull();
      expect(() => page.button('Save anyway')).toThrow();
      await settle(() => page.button('Next').click());
      await settle(() => page.button('Save anyway').click());
      for (const { body } of rest.asked) {
        const sent = JSON.stringify(body ?? null);
        expect(sent.includes('two.test') && sent.includes('sk-one-1')).toBe(
          false
        );
      }
      expect(changes()).toEqual([
        'PATCH profiles/work {"settings":{"apiProvider":"openai","openAiBaseUrl":"http://two.test/v1"}}'
      ]);
    });

    it('should keep a key together with its address, in one request', async () => {
      page.begin(using(aProfile()));
      await settle();
      fill('.jp-hdspAgent-setup-form select', 'openai');
      fill('input[type="url"]', 'http://one.test/v1');
      fill('input[type="password"]', 'sk-one-1');
      await settle(() => page.button('Next').click());
      expect(changes()).toEqual([
        'PATCH profiles/work {"settings":{"apiProvider":"openai","openAiBaseUrl":"http://one.test/v1","openAiApiKey":"sk-one-1"}}'
      ]);
    });

    const addressable = () =>
      rest.answers.set('GET settings/schema', () => ({
        providers: PROVIDERS.map(provider =>
          provider.id === 'anthropic'
            ? { ...provider, baseUrlField: 'anthropicBaseUrl' }
            : provider
        )
      }));

    it('should put a provider that is asked for no address where it usually is', async () => {
      addressable();
      page.begin(using(aProfile()));
      await settle();
      fill('.jp-hdspAgent-setup-form select', 'anthropic');
      fill('input[type="password"]', 'sk-ant-1');
      await settle(() => page.button('Next').click());
      expect(rest.of('POST setup/check')[0].body).toEqual({
        provider: 'anthropic',
        key: 'sk-ant-1',
        baseUrl: ''
      });
      expect(changes()).toEqual([
        'PATCH profiles/work {"settings":{"apiProvider":"anthropic","anthropicBaseUrl":null,"apiKey":"sk-ant-1"}}'
      ]);
    });

    it('should leave the address to the operator who decided it', async () => {
      addressable();
      rest.answers.set('GET settings', () => ({
        settings: {},
        fixed: ['anthropicBaseUrl']
      }));
      await writeKey('sk-ant-1');
      expect(rest.of('POST setup/check')[0].body).toEqual({
        provider: 'anthropic',
        key: 'sk-ant-1'
      });
      expect(changes()).toEqual([
        'PATCH profiles/work {"settings":{"apiProvider":"anthropic","apiKey":"sk-ant-1"}}'
      ]);
    });

    it('should not ask for an address that the operator decided', async () => {
      rest.answers.set('GET settings', () => ({
        settings: {},
        fixed: ['openAiBaseUrl']
      }));
      page.begin(using(aProfile()));
      await settle();
      fill('.jp-hdspAgent-setup-form select', 'openai');
      expect(page.find('input[type="url"]')).toBeNull();
      expect(keyInput()).not.toBeNull();
    });

    it('should ask where a server is that may be anywhere', async () => {
      page.begin(using(aProfile()));
      await settle();
      fill('.jp-hdspAgent-setup-form select', 'openai');
      fill('input[type="url"]', 'http://127.0.0.1:8000/v1');
      await settle(() => page.button('Next').click());
      expect(changes()).toEqual([
        'PATCH profiles/work {"settings":{"apiProvider":"openai","openAiBaseUrl":"http://127.0.0.1:8000/v1"}}'
      ]);
    });
  });

  describe('with a model', () => {
    const ready = aProfile({ apiProvider: 'ollama', modelId: 'qwen3' });

    it('should greet, name the model, and lead to another', async () => {
      page.begin(using(ready));
      await settle();
      expect(text()).toContain('Model: qwen3 (Ollama)');
      expect(rest.of('GET setup/candidates')).toHaveLength(0);
      page.act(() => page.button('Change the model').click());
      expect(page.openedSettings).toEqual(['models']);
    });

    it('should not ask for a key while nobody knows whether there is one', async () => {
      page.begin(
        using(aProfile({ apiProvider: 'anthropic' }), {
          secretStatus: {
            storage: { ...STORAGE, code: 'checking' },
            secrets: []
          }
        })
      );
      await settle();
      expect(text()).toContain('What are we working on?');
    });

    it('should offer to go on with the last conversations, not with their subtasks', async () => {
      rest.answers.set('GET history', () => ({
        taskHistory: [
          anItem({ id: 's', task: 'Read the rows', parentTaskId: 'a' }),
          anItem({ id: 'a', task: 'Plot the sales' })
        ],
        total: 2
      }));
      page.begin(using(ready));
      await settle();
      const recent = page.findAll('.jp-hdspAgent-recent-open');
      expect(recent).toHaveLength(1);
      expect(recent[0].textContent).toContain('Plot the sales');
      page.act(() => {
        recent[0].focus();
        recent[0].click();
      });
      expect(document.activeElement).toBe(
        page.find('.jp-hdspAgent-composer-field')
      );
      expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'a' }]);
      await page.settle(() => page.answer('showTaskWithId'));
      await settle(() => page.button('Show all conversations').click());
      expect(page.panel.services.state.page).toBe('history');
    });

    it('should say when no conversation can be begun here', async () => {
      page.begin(using(ready, { canStartTasks: false }));
      await settle();
      expect(text()).toContain('This server cannot start conversations.');
    });
  });
});

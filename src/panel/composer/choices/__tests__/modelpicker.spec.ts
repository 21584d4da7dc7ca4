import { RestServer, refusal } from '../../../history/__tests__/restserver';
import type { ExtensionState } from '../../../../generated/wire';
import { READY, WORKING, WrittenPanel } from '../../__tests__/openedcomposer';

const profile = (name: string, change = {}) => ({
  id: `id-${name}`,
  name,
  apiProvider: 'anthropic',
  pinned: false,
  current: false,
  allowed: true,
  ...change
});

const PROFILES: ExtensionState = {
  ...READY,
  listApiConfigMeta: [
    profile('plain', { apiProvider: 'ollama' }),
    profile('work', { modelId: 'claude-x' }),
    profile('forbidden', { allowed: false }),
    profile('pinned', { apiProvider: 'ollama', modelId: 'q', pinned: true })
  ]
};

const MODELS = [
  {
    id: 'claude-x',
    name: 'Claude Ten',
    provider: 'anthropic',
    contextWindow: 200_000,
    inputPrice: 3,
    outputPrice: 15,
    deprecated: false
  },
  {
    id: 'claude-y',
    provider: 'anthropic',
    contextWindow: 1_000_000,
    deprecated: false
  },
  {
    id: 'claude-free',
    provider: 'anthropic',
    inputPrice: 0,
    outputPrice: 0,
    deprecated: false
  }
];

const BUTTON = 'Model: claude-x (work)';

describe('the model picker', () => {
  let page: WrittenPanel;
  let rest: RestServer;

  beforeEach(() => {
    rest = new RestServer();
    rest.answers.set('GET models', () => ({ models: MODELS }));
    rest.answers.set('PATCH profiles/work', () => ({}));
    page = new WrittenPanel();
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
    localStorage.clear();
  });

  const settle = async (work: () => void = () => undefined) => {
    await page.settle(work);
    for (let turn = 0; turn < 4; turn++) {
      await page.settle();
    }
  };
  const open = async (state = PROFILES, name = BUTTON) => {
    page.begin(state);
    await settle(() => page.button(name).click());
  };
  const reopen = (name = BUTTON) => settle(() => page.button(name).click());
  /** The server says that the profile has another model. */
  const tellOfAnother = () =>
    page.publish({
      type: 'profilesUpdated',
      currentApiConfigName: 'work',
      listApiConfig: PROFILES.listApiConfigMeta!.map(one =>
        one.name === 'work' ? { ...one, modelId: 'claude-y' } : one
      )
    });
  const options = () => page.findAll('[role="option"]');
  const labels = () =>
    page
      .findAll('.jp-hdspAgent-choice-label')
      .map(({ textContent }) => textContent);
  const option = (label: string) => {
    const found = options().find(
      node =>
        node.querySelector('.jp-hdspAgent-choice-label')?.textContent === label
    );
    if (!found) {
      throw new Error(`No “${label}” among ${labels().join(', ')}`);
    }
    return found;
  };
  const search = () => page.find('[role="combobox"]') as HTMLInputElement;
  const write = (text: string) =>
    settle(() => {
      const field = search();
      Object.getOwnPropertyDescriptor(
        HTMLInputElement.prototype,
        'value'
      )?.set?.call(field, text);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
  const press = (key: string) =>
    settle(() =>
      search().dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true })
      )
    );
  const checkbox = (label: string) => {
    const found = page
      .findAll('label')
      .find(({ textContent }) => textContent === label);
    return found?.querySelector('input') as HTMLInputElement;
  };

  it('should show the name of the model, of a profile without one its name', () => {
    page.begin(PROFILES);
    const shown = () =>
      page.find('.jp-hdspAgent-modelPicker .jp-hdspAgent-picker-label')
        ?.textContent;
    expect(shown()).toBe('claude-x');
    const change = (listApiConfig: ReturnType<typeof profile>[]) =>
      page.publish({
        type: 'profilesUpdated',
        currentApiConfigName: 'work',
        listApiConfig
      });
    change([profile('work', { modelId: 'maker/claude-x' })]);
    expect(shown()).toBe('claude-x');
    expect(page.button('Model: maker/claude-x (work)')).toBeTruthy();
    const same = { modelId: 'claude-x' };
    change([profile('work', same), profile('play', same)]);
    expect(shown()).toBe('claude-x (work)');
    change([profile('work')]);
    expect(shown()).toBe('work');
  });

  it('should list the models of the provider with window and price', async () => {
    await open();
    expect(rest.of('GET models').at(-1)?.query).toEqual({
      provider: 'anthropic',
      profile: 'id-work'
    });
    expect(
      page
        .findAll('[role="group"]')
        .map(node => node.getAttribute('aria-label'))
    ).toEqual(
      expect.arrayContaining(['Anthropic (profile work)', 'Other profiles'])
    );
    expect(labels()).toEqual([
      'claude-x',
      'claude-y',
      'claude-free',
      'pinned',
      'plain',
      'forbidden'
    ]);
    const details = page
      .findAll('.jp-hdspAgent-choice-detail')
      .map(({ textContent }) => textContent);
    expect(details.slice(0, 3)).toEqual([
      '200K · $3 in, $15 out',
      '1M · price unknown',
      'free'
    ]);
    expect(option('claude-x').title).toBe(
      'Claude Ten. Context window: 200,000 tokens. Price per million tokens: $3 in, $15 out.'
    );
    expect(option('claude-x').getAttribute('aria-selected')).toBe('true');
    expect(option('forbidden').getAttribute('aria-disabled')).toBe('true');
  });

  it('should go by what a person says of the model', async () => {
    await open({
      ...PROFILES,
      apiConfiguration: { modelInputPrice: 1.5, modelContextWindow: 64_000 }
    });
    expect(option('claude-x').textContent).toContain('64K · $1.50 in, $15 out');
    expect(option('claude-y').textContent).toContain('1M · price unknown');
  });

  it('should use another model of the provider, and list the last ones first', async () => {
    await open();
    await settle(() => option('claude-y').click());
    expect(rest.of('PATCH profiles/work')[0].body).toEqual({
      settings: { apiModelId: 'claude-y' }
    });
    expect(page.sent('loadApiConfiguration')).toEqual([]);
    expect(page.find('[role="dialog"]')).toBeNull();
    expect(document.activeElement).toBe(page.button(BUTTON));
    tellOfAnother();
    await reopen('Model: claude-y (work)');
    expect(labels()[0]).toBe('claude-x');
    expect(options()[0].textContent).toContain('200K');
    await settle(() => options()[0].click());
    expect(rest.of('PATCH profiles/work')[1].body).toEqual({
      settings: { apiModelId: 'claude-x' }
    });
  });

  it('should list the last one before the server has answered', async () => {
    rest.answers.set('PATCH profiles/work', () => new Promise(() => undefined));
    await open();
    await settle(() => option('claude-y').click());
    tellOfAnother();
    await reopen('Model: claude-y (work)');
    expect(labels()[0]).toBe('claude-x');
    expect(page.find('[role="group"]')?.getAttribute('aria-label')).toBe(
      'Recent'
    );
  });

  it('should use another profile, with the model it had last', async () => {
    localStorage.setItem(
      `hdsp-agent:recent-models:${page.panel.services.serverSettings.baseUrl}`,
      JSON.stringify([
        { profile: 'id-pinned', provider: 'ollama', model: 'r' },
        { profile: 'id-plain', provider: 'anthropic', model: 'other' },
        { profile: 'id-forbidden', provider: 'anthropic', model: 'f' },
        { profile: 'id-gone', provider: 'ollama', model: 'g' },
        'broken'
      ])
    );
    rest.answers.set('PATCH profiles/pinned', () => ({}));
    await open();
    expect(labels().slice(0, 2)).toEqual(['r', 'claude-x']);
    await settle(() => option('pinned').click());
    expect(page.sent('loadApiConfiguration')).toMatchObject([
      { text: 'pinned' }
    ]);
    expect(rest.asked.filter(({ method }) => method !== 'GET')).toEqual([]);
    await settle(() => page.answer('loadApiConfiguration'));
    await reopen();
    await settle(() => option('r').click());
    expect(rest.of('PATCH profiles/pinned')[0].body).toEqual({
      settings: { ollamaModelId: 'r' }
    });
    expect(page.sent('loadApiConfiguration')).toHaveLength(2);
  });

  it('should find models by what is typed, and be worked by keys', async () => {
    await open();
    expect(document.activeElement).toBe(search());
    await write('ten');
    expect(labels()).toEqual(['claude-x', 'Use “ten”']);
    await write('claude');
    await press('ArrowDown');
    const id = search().getAttribute('aria-activedescendant') ?? '';
    expect(document.getElementById(id)?.textContent).toContain('claude-y');
    await press('Enter');
    expect(rest.of('PATCH profiles/work')).toHaveLength(1);
    await reopen();
    await press('Escape');
    expect(page.find('[role="dialog"]')).toBeNull();
  });

  it('should use a model that nobody lists', async () => {
    await open();
    await write('claude-of-tomorrow');
    expect(labels()).toEqual(['Use “claude-of-tomorrow”']);
    await press('Enter');
    expect(rest.of('PATCH profiles/work')[0].body).toEqual({
      settings: { apiModelId: 'claude-of-tomorrow' }
    });
  });

  it('should let a file of one’s own go when an embedded model is chosen', async () => {
    rest.answers.set('GET models', () => ({
      models: [{ ...MODELS[2], id: 'small', provider: 'local' }]
    }));
    await open(
      {
        ...PROFILES,
        listApiConfigMeta: [profile('work', { apiProvider: 'local' })]
      },
      'Model: work'
    );
    await settle(() => option('small').click());
    expect(rest.of('PATCH profiles/work')[0].body).toEqual({
      settings: { apiModelId: 'small', localModelPath: null }
    });
  });

  it('should say what went wrong', async () => {
    rest.answers.set('PATCH profiles/work', () =>
      refusal('nothing_known', 'Not here.')
    );
    await open();
    await settle(() => option('claude-y').click());
    expect(page.trouble).toBe('Not here.');
  });

  it('should show no more of a long list than one can read', async () => {
    const many = Array.from({ length: 130 }, (_, index) => ({
      ...MODELS[0],
      id: `m-${index}`
    }));
    rest.answers.set('GET models', () => ({ models: many }));
    await open();
    expect(page.find('[role="dialog"]')?.textContent).toContain(
      '31 more models. Type to find them.'
    );
    await write('m-129');
    expect(labels()).toEqual(['m-129']);
  });

  it('should keep one model for all modes, and let each have its own', async () => {
    await open();
    const lock = () =>
      settle(() => checkbox('Use this model in every mode').click());
    await lock();
    page.publish({
      type: 'profilesUpdated',
      listApiConfig: PROFILES.listApiConfigMeta!,
      currentApiConfigName: 'work',
      lockApiConfigAcrossModes: true
    });
    expect(checkbox('Use this model in every mode').checked).toBe(true);
    await lock();
    expect(page.sent('lockApiConfigAcrossModes')).toMatchObject([
      { bool: true },
      { bool: false }
    ]);
    await settle(() =>
      page.answer('lockApiConfigAcrossModes', {
        code: 'nothing_known',
        message: 'Not here.'
      })
    );
    expect(page.trouble).toBe('Not here.');
  });

  it('should pin a profile, and take a pin back', async () => {
    await open();
    expect(
      ['plain', 'work', 'forbidden', 'pinned'].map(
        name => checkbox(name).checked
      )
    ).toEqual([false, false, false, true]);
    await settle(() => checkbox('work').click());
    await settle(() => checkbox('pinned').click());
    expect(page.sent('toggleApiConfigPin')).toMatchObject([
      { text: 'id-work' },
      { text: 'id-pinned' }
    ]);
  });

  it('should lead to the settings', async () => {
    await open();
    await settle(() => page.button('Set up models…').click());
    expect(page.openedSettings).toEqual(['models']);
    expect(page.find('[role="dialog"]')).toBeNull();
  });

  it('should show the model of the conversation on screen', () => {
    page.begin({
      ...PROFILES,
      ...WORKING,
      listApiConfigMeta: PROFILES.listApiConfigMeta,
      currentTaskItem: {
        id: 't',
        number: 1,
        ts: 1,
        task: 'first',
        tokensIn: 0,
        tokensOut: 0,
        totalCost: 0,
        apiConfigName: 'pinned'
      }
    });
    expect(page.button('Model: q (pinned)')).toBeTruthy();
  });
});

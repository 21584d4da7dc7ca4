import type { LocalModelList } from '../../../generated/rest';
import type { ProfileEntry } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { RestServer } from '../../history/__tests__/restserver';
import { whole } from '../../../ui/texts/formats';
import { aModel, embedded } from '../../localmodel/__tests__/embedded';

const PROFILE: ProfileEntry = {
  id: 'p1',
  name: 'default',
  pinned: false,
  current: true,
  allowed: true
};

const GET = 'POST local-models/coder';

/** An answer that something cannot be done, with what its sentence needs. */
function refused(
  code: string,
  params: Record<string, string | number> = {}
): Response {
  return new Response(JSON.stringify({ code, message: 'no', params }), {
    status: 503
  });
}

describe('EmbeddedStep', () => {
  let page: OpenedPanel;
  let rest: RestServer;
  let list: LocalModelList;

  beforeEach(() => {
    rest = new RestServer();
    page = new OpenedPanel();
    list = embedded();
    rest.answers.set('GET setup/candidates', () => ({
      ready: false,
      candidates: [],
      refused: []
    }));
    rest.answers.set('GET settings/schema', () => ({ providers: [] }));
    rest.answers.set('GET history', () => ({ taskHistory: [], total: 0 }));
    rest.answers.set('GET local-models', () => list);
    rest.answers.set(GET, () => {
      list = embedded({ state: 'getting', source: 'hub' });
      return list.models[0];
    });
    rest.answers.set('POST local-models/coder/cancel', () => {
      list = embedded({ state: 'partial', done: 100_000_000 });
      return list.models[0];
    });
    rest.answers.set('POST local-runtime', () => list.runtime);
    rest.answers.set('POST setup/embedded', () => ({ id: 'p1' }));
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
  });

  async function settle(work: () => void = () => undefined): Promise<void> {
    await page.settle(work);
    for (let turn = 0; turn < 6; turn++) {
      await page.settle();
    }
  }

  async function pass(milliseconds: number): Promise<void> {
    await page.during(async () => {
      await jest.advanceTimersByTimeAsync(milliseconds);
    });
  }

  const text = () =>
    page.find('.jp-hdspAgent-setup')?.textContent?.replace(/\u00a0/g, ' ') ??
    '';
  const said = () => page.find('[role="alert"]')?.textContent ?? null;
  const press = (label: string) =>
    settle(() => page.button(whole(label)).click());

  async function begin(): Promise<void> {
    page.begin({
      canStartTasks: true,
      currentApiConfigName: 'default',
      listApiConfigMeta: [PROFILE],
      openTasks: []
    });
    await settle();
  }

  async function choose(): Promise<void> {
    await begin();
    await press('Use the embedded model');
  }

  it('should be offered after what was found, with its size', async () => {
    await begin();
    expect(text()).toContain('491 MB to download once');
    await press('Use the embedded model');
    expect(document.activeElement?.textContent).toBe(
      '2 of 2: The embedded model'
    );
    expect(text()).not.toContain('No model is set up yet');
  });

  it('should not be offered where the operator forbids it', async () => {
    list = embedded({}, { allowed: false });
    await begin();
    expect(text()).toContain('1 of 2: Choose a provider');
    expect(text()).not.toContain('embedded model');
  });

  it('should say how to install what it needs', async () => {
    list = embedded({}, { installed: false });
    await begin();
    expect(text()).toContain("pip install 'hdsp-agent[local]'");
    expect(() => page.button('Use the embedded model')).toThrow();
  });

  it('should say before it is agreed to what it is, takes, can and cannot do', async () => {
    await choose();
    for (const words of [
      'Coder 0.5B',
      'Apache-2.0',
      '491 MB to download once; 60 GB free',
      'about 850 MB while it works; 4 GB free',
      "Runs only on this Jupyter server's machine:",
      'add a cell and run it',
      'Often wrong',
      'ada/coder-GGUF on the hub, commit 0123456789',
      'packages on the package index that hold its weights (coder-part1…6)',
      '1d96'
    ]) {
      expect(text()).toContain(words);
    }
    expect(page.find('a')?.getAttribute('href')).toBe(
      'https://example.org/licence'
    );
    expect(text()).not.toContain('tasks it had never seen');
    rest.answers.set('GET local-models/coder/license', () => ({
      licence: 'TERMS AND CONDITIONS'
    }));
    await press('Show its text');
    expect(text()).toContain('TERMS AND CONDITIONS');
    expect(rest.of(GET)).toHaveLength(0);
    await press('Back');
    expect(document.activeElement?.textContent).toContain(
      '1 of 2: Choose a provider'
    );
  });

  it('should say how much a model was seen to do, once that is measured', async () => {
    list = embedded({ heldOut: { done: 58, of: 48 } });
    await choose();
    expect(text()).toContain(
      'Of 48 tasks it had never seen, it did 58% right.'
    );
  });

  it('should begin with the model that is offered, and keep the one that is chosen', async () => {
    const larger = aModel({
      id: 'larger',
      name: 'Coder 1.5B',
      ability: 'larger',
      size: 1_117_320_768,
      heldOut: { done: 58, of: 48 }
    });
    const smaller = aModel({ isOffered: false });
    list = { ...embedded(), models: [larger, smaller] };
    rest.answers.set('POST local-models/larger', () => larger);
    await choose();
    expect(text()).toContain('right more often');
    expect(text()).toContain('Coder 1.5B: 58% of new tasks right; 1.1 GB on');
    expect(text()).toContain('Coder 0.5B: 491 MB on disk');
    // What is offered changes with the memory that is free.
    list = {
      ...list,
      models: [
        { ...smaller, isOffered: true },
        { ...larger, isOffered: false }
      ]
    };
    await press('Accept and download (1.1 GB)');
    expect(rest.of('POST local-models/larger')).toHaveLength(1);
    expect(text()).toContain('right more often');
    await settle(() => {
      const box = page.find('select') as HTMLSelectElement;
      box.value = 'coder';
      box.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await press('Accept and download (491 MB)');
    expect(rest.of(GET)).toHaveLength(1);
  });

  it('should warn where there is too little memory before anything is fetched', async () => {
    list = embedded({}, { freeMemory: 200_000_000 });
    await choose();
    expect(said()).toContain('too little memory');
  });

  it('should fetch with one consent, show how it comes, try it and use it', async () => {
    await choose();
    await press('Accept and download (491 MB)');
    expect(rest.of(GET)[0].body).toEqual({
      consent: { licence: 'Apache-2.0', size: 491_400_064 }
    });
    list = embedded({ state: 'getting', source: 'hub', done: 100_000_000 });
    await pass(600);
    list = embedded({ state: 'getting', source: 'hub', done: 200_000_000 });
    await pass(1_100);
    const bar = page.find('progress');
    expect(bar?.getAttribute('value')).toBe('200000000');
    expect(text()).toMatch(
      /200.MB of 491.MB · \d+.MB a second · \d(\.\d)?.s left/
    );
    list = embedded({ state: 'getting', source: 'check', done: 9 });
    await pass(600);
    expect(text()).toContain('Verifying the download…');
    list = embedded({ state: 'ready', done: 491_400_064 });
    await pass(600);
    await settle();
    expect(rest.of('POST local-runtime')[0].body).toEqual({ model: 'coder' });
    expect(rest.of('POST setup/embedded')[0].body).toEqual({ model: 'coder' });
    page.publish({
      type: 'profilesUpdated',
      currentApiConfigName: 'default',
      listApiConfig: [{ ...PROFILE, apiProvider: 'local', modelId: 'coder' }]
    });
    await settle();
    expect(page.find('.jp-hdspAgent-greeting')?.textContent).toContain(
      'What are we working on?'
    );
  });

  it('should keep what has come when it is cancelled, and go on from there', async () => {
    await choose();
    await press('Accept and download (491 MB)');
    await press('Cancel');
    expect(text()).toContain('100 MB of 491 MB are already here.');
    await press('Continue download');
    expect(rest.of(GET)).toHaveLength(2);
    expect(page.find('progress')).not.toBeNull();
  });

  it('should start a model that is there without fetching anything', async () => {
    list = embedded({ state: 'ready', done: 491_400_064 });
    await choose();
    await press('Start');
    expect(rest.of(GET)).toHaveLength(0);
    expect(rest.of('POST setup/embedded')).toHaveLength(1);
  });

  it('should show a model that is being fetched already', async () => {
    list = embedded({ state: 'getting', source: 'packages', done: 5_000_000 });
    await choose();
    expect(text()).toContain('5 MB of 491 MB');
    expect(text()).toContain('(coder-part1…6). They are not installed.');
  });

  it.each([
    [
      'no space',
      'local_no_space',
      { path: '/models', needed: 747, free: 12 },
      'There is not enough space in /models: it needs 747 MB, and 12 MB are free.'
    ],
    [
      'a wrong checksum',
      'local_wrong_checksum',
      { fetched: 'the hub' },
      'The downloaded file is not the model: its checksum is wrong. It was deleted'
    ],
    [
      'half a download',
      'local_weights_unreachable',
      { reason: 'the connection to hub.example broke off' },
      'the download continues where it stopped. Or use a file that you already have. (the connection to hub.example broke off)'
    ]
  ])(
    'should say of %s what happened and what to do',
    async (_, code, params, words) => {
      await choose();
      await press('Accept and download (491 MB)');
      list = embedded({ failure: { code, message: 'no', params } });
      await pass(600);
      expect(said()).toContain(words);
      await press('Accept and download (491 MB)');
      expect(said()).toBeNull();
      expect(rest.of(GET)).toHaveLength(2);
    }
  );

  it.each([
    [
      'no AVX',
      'local_cpu_too_old',
      {},
      'processor lacks instructions that the embedded model needs'
    ],
    [
      'too little memory',
      'local_too_little_memory',
      { model: 'Coder 0.5B', needed: 850, free: 200 },
      'it needs about 850 MB, and 200 MB are free'
    ],
    [
      'a process that was killed',
      'local_too_little_memory',
      { model: 'Coder 0.5B', reason: 'killed' },
      'The process that runs Coder 0.5B was killed, most likely because memory ran out. It starts again'
    ]
  ])(
    'should say of %s that it does not run here, and make no profile',
    async (_, code, params, words) => {
      list = embedded({ state: 'ready', done: 491_400_064 });
      rest.answers.set('POST local-runtime', () => refused(code, params));
      rest.answers.set('DELETE local-models/coder', () => {
        list = embedded();
        return { freed: 491_400_064 };
      });
      await choose();
      await press('Start');
      expect(said()).toContain(words);
      expect(rest.of('POST setup/embedded')).toHaveLength(0);
      await press('Delete it (frees 491 MB)');
      expect(rest.of('DELETE local-models/coder')).toHaveLength(1);
      expect(text()).toContain('Accept and download (491 MB)');
    }
  );
});

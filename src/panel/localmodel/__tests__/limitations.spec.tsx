import type { LocalModelList } from '../../../generated/rest';
import type { ExtensionState, ProfileEntry } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { RestServer } from '../../history/__tests__/restserver';
import { embedded } from './embedded';

const LOCAL: ProfileEntry = {
  id: 'p1',
  name: 'Coder',
  apiProvider: 'local',
  modelId: 'coder',
  pinned: false,
  current: true,
  allowed: true
};

const THERE = { state: 'ready', done: 491_400_064 } as const;

describe('LocalModelLabel', () => {
  let page: OpenedPanel;
  let rest: RestServer;
  let list: LocalModelList;

  beforeEach(() => {
    rest = new RestServer();
    page = new OpenedPanel();
    list = embedded(THERE);
    rest.answers.set('GET local-models', () => list);
    rest.answers.set('GET history', () => ({ taskHistory: [], total: 0 }));
    rest.answers.set('GET setup/candidates', () => ({
      ready: true,
      candidates: [
        {
          id: 'local:ollama',
          kind: 'local',
          provider: 'ollama',
          name: 'Ollama',
          models: ['qwen3', 'llama3'],
          suggestedModel: 'qwen3',
          inUse: false
        }
      ],
      refused: []
    }));
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

  async function begin(
    profile: ProfileEntry = LOCAL,
    change: ExtensionState = {}
  ): Promise<void> {
    page.begin({
      canStartTasks: true,
      currentApiConfigName: profile.name,
      listApiConfigMeta: [profile],
      openTasks: [],
      ...change
    });
    await settle();
  }

  const label = () => page.find('.jp-hdspAgent-honesty');
  const details = () =>
    page.find('[role="dialog"]')?.textContent?.replace(/\u00a0/g, ' ') ?? '';
  const open = () =>
    settle(() => page.find('.jp-hdspAgent-honesty-button')?.click());

  it('should not be there while another model answers', async () => {
    await begin({ ...LOCAL, apiProvider: 'anthropic' });
    expect(label()).toBeNull();
    expect(rest.of('GET local-models')).toHaveLength(0);
  });

  it('should say which model answers, and tell all on a click', async () => {
    list = embedded(
      THERE,
      {},
      {
        state: 'ready',
        model: 'coder',
        memory: 790_000_000,
        readingSpeed: 151.4,
        writingSpeed: 55.2
      }
    );
    await begin();
    expect(label()?.textContent).toBe('Coder 0.5B small, often wrong');
    await open();
    for (const words of [
      'It uses 790 MB of memory now.',
      'reads 151 and writes 55 tokens a second',
      'add a cell and run it',
      'Often wrong',
      'Better models'
    ]) {
      expect(details()).toContain(words);
    }
  });

  it('should lead to what answers better', async () => {
    rest.answers.set('POST setup/use', () => ({ id: 'p2' }));
    await begin();
    await open();
    await settle(() => page.button('Use Ollama').click());
    expect(rest.of('POST setup/use')[0].body).toEqual({
      id: 'local:ollama',
      model: 'qwen3'
    });
    expect(page.find('[role="dialog"]')).toBeNull();
    await open();
    page.act(() => page.button('Set up a model').click());
    expect(page.openedSettings).toEqual(['models']);
  });

  it('should give its memory back when asked', async () => {
    list = embedded(THERE, {}, { state: 'ready', memory: 790_000_000 });
    rest.answers.set('DELETE local-runtime', () => {
      list = embedded(THERE);
      return list.runtime;
    });
    await begin();
    await open();
    await settle(() => page.button('Free its memory').click());
    expect(details()).toContain('Not loaded, so it uses no memory.');
  });

  it('should say that the model is not there, and where to get it', async () => {
    list = embedded();
    await begin();
    expect(label()?.textContent).toContain('not on this machine yet');
    await open();
    page.act(() => page.button('Download it in the settings').click());
    expect(page.openedSettings).toEqual(['embedded']);
  });

  it.each([
    ['starting', { state: 'starting' }, 'starting…'],
    [
      'failed',
      {
        failure: {
          code: 'local_cpu_too_old',
          message: '',
          params: {}
        }
      },
      'did not run the last time'
    ]
  ] as const)('should tell when it is %s', async (_, runtime, words) => {
    list = embedded(THERE, {}, runtime);
    await begin();
    expect(label()?.querySelector('[role="status"]')?.textContent).toBe(
      `Coder 0.5B: ${words}`
    );
  });

  it('should tell that it was started again, why, and not for ever', async () => {
    list = embedded(
      THERE,
      {},
      {
        state: 'ready',
        restartedAt: new Date(Date.now() - 1_000).toISOString(),
        restartedAfter: {
          code: 'local_runtime_failed',
          message: '',
          params: { model: 'Coder 0.5B', reason: 'its process ended with -11' }
        }
      }
    );
    await begin();
    expect(label()?.textContent).toContain('had to be restarted');
    await open();
    expect(details()).toContain(
      'It was restarted after this: Coder 0.5B cannot run: its process ended with -11.'
    );
    await page.during(async () => {
      await jest.advanceTimersByTimeAsync(130_000);
    });
    expect(label()?.textContent).not.toContain('had to be restarted');
  });

  it('should say that others are before it, and how many', async () => {
    await begin(LOCAL, { openTasks: [] });
    list = embedded(THERE, {}, { state: 'busy', waiting: 2 });
    await open();
    expect(details()).toContain('Working. 2 other requests are waiting.');
  });

  it('should name a file of the person’s', async () => {
    await begin(
      { ...LOCAL, modelId: undefined },
      { apiConfiguration: { localModelPath: '/home/ada/mine.gguf' } }
    );
    expect(label()?.textContent).toContain('A file of yours');
  });
});

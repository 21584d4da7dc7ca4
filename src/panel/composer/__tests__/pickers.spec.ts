import { CommandIDs } from '../../../ui/commandids';
import type { ExtensionState } from '../../../generated/wire';
import { addComposerCommands } from '../composercommands';
import { READY, WrittenPanel } from './openedcomposer';

const MODES = [
  { slug: 'code', name: 'Code' },
  { slug: 'architect', name: 'Architect' }
];

const profile = (name: string, change = {}) => ({
  id: name,
  name,
  apiProvider: 'ollama',
  pinned: false,
  current: false,
  allowed: true,
  ...change
});

const DOWN = 40;
const ENTER = 13;

const PROFILES: ExtensionState = {
  ...READY,
  mode: 'code',
  listApiConfigMeta: [
    profile('plain'),
    profile('work', { modelId: 'm' }),
    profile('forbidden', { allowed: false }),
    profile('pinned', { pinned: true })
  ]
};

describe('the pickers', () => {
  let page: WrittenPanel;

  beforeEach(() => {
    page = new WrittenPanel();
  });

  afterEach(() => {
    document.querySelectorAll('.lm-Menu').forEach(node => node.remove());
    page.dispose();
  });

  const entries = () => [
    ...document.querySelectorAll<HTMLElement>('.lm-Menu-item')
  ];
  const labels = () =>
    entries().map(
      node => node.querySelector('.lm-Menu-itemLabel')?.textContent ?? ''
    );
  /** Go down to an entry by keys, and choose it. */
  const choose = async (label: string) => {
    const press = (keyCode: number) =>
      page.settle(() =>
        document
          .querySelector('.lm-Menu')
          ?.dispatchEvent(new KeyboardEvent('keydown', { keyCode }))
      );
    const active = () =>
      document.querySelector('.lm-Menu-item.lm-mod-active')?.textContent;
    for (let tries = 0; active() !== label && tries < 10; tries++) {
      await press(DOWN);
    }
    await press(ENTER);
  };
  const tellModes = () =>
    page.settle(() => {
      page.publish({ type: 'modes', modes: MODES });
      page.answer('requestModes');
    });

  it('should offer only what there is to attach', async () => {
    page.begin(PROFILES);
    await page.settle(() =>
      page.button('Attach a cell, its output or files').click()
    );
    await page.settle();
    expect(
      labels().filter(
        (_, index) => entries()[index].getAttribute('aria-disabled') !== 'true'
      )
    ).toEqual(['', 'Images and Text Files…']);
    const chooser = page.find('input[type="file"]') as HTMLInputElement;
    let openings = 0;
    chooser.click = () => openings++;
    await choose('Images and Text Files…');
    expect(openings).toBe(1);
  });

  it('should have commands that go round', async () => {
    page.begin(PROFILES);
    const added = addComposerCommands(page.panel.services);
    await page.settle();
    await tellModes();
    const run = async (id: string) => {
      const before = page.sent('requestModes').length;
      await page.settle(() => void page.commands.execute(id));
      if (page.sent('requestModes').length > before) {
        await tellModes();
      }
    };
    await run(CommandIDs.nextMode);
    await run(CommandIDs.previousMode);
    expect(page.sent('mode').map(({ text }) => text)).toEqual([
      'architect',
      'architect'
    ]);
    await run(CommandIDs.nextProfile);
    expect(page.sent('loadApiConfiguration')).toMatchObject([
      { text: 'pinned' }
    ]);
    added.dispose();
  });
});

describe('wording more clearly', () => {
  let page: WrittenPanel;

  beforeEach(() => {
    page = new WrittenPanel();
    page.begin(READY);
    page.type('plot');
    page.act(() => page.button(BEGIN).click());
  });

  afterEach(() => {
    page.dispose();
  });

  const BEGIN = 'Improve prompt';
  const BACK = 'Undo improvement';
  const finish = () =>
    page.settle(() => {
      page.publish({ type: 'enhancedPrompt', text: 'Plot the data.' });
      page.answer('enhancePrompt');
    });

  it('should replace what is typed, and take it back', async () => {
    expect(page.sent('enhancePrompt')).toMatchObject([{ text: 'plot' }]);
    expect(page.field.readOnly).toBe(true);
    await finish();
    expect(page.field.readOnly).toBe(false);
    expect(page.field.value).toBe('Plot the data.');
    page.act(() => page.button(BACK).click());
    expect(page.field.value).toBe('plot');
    expect(page.button(BEGIN)).toBeTruthy();
  });

  it('should leave what is typed when it is cancelled', async () => {
    page.act(() => page.button('Cancel').click());
    await finish();
    expect(page.field.value).toBe('plot');
  });

  it('should say why it failed', async () => {
    await page.settle(() =>
      page.answer('enhancePrompt', { code: 'nothing_known', message: 'No.' })
    );
    expect(page.trouble).toBe('No.');
    expect(page.field.value).toBe('plot');
  });

  it('should not be taken back once one went on writing', async () => {
    await finish();
    page.type('Plot the data. In red.');
    expect(() => page.button(BACK)).toThrow();
  });
});

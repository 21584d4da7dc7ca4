import type { ExtensionState } from '../../../../generated/wire';
import { READY, WORKING, WrittenPanel } from '../../__tests__/openedcomposer';

const MODES = [
  { slug: 'code', name: 'Code' },
  { slug: 'architect', name: 'Architect' },
  { slug: 'ask', name: 'Ask' },
  { slug: 'debug', name: 'Debug' },
  { slug: 'charts', name: 'Charts' }
];

const CODING: ExtensionState = { ...READY, mode: 'code' };

describe('the mode picker', () => {
  let page: WrittenPanel;

  beforeEach(() => {
    page = new WrittenPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  const tellModes = () =>
    page.settle(() => {
      page.publish({ type: 'modes', modes: MODES });
      page.answer('requestModes');
    });
  const open = async (name: string) => {
    await page.settle(() => page.button(name).click());
    await page.settle();
  };
  const options = () => page.findAll('[role="option"]');
  const texts = () => options().map(({ textContent }) => textContent);
  const press = (key: string) =>
    page.settle(() =>
      page
        .find('[role="listbox"]')
        ?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
    );

  it('should show the usual modes with what they do, and switch to another', async () => {
    page.begin(CODING);
    await tellModes();
    await open('Mode: Agent');
    expect(texts()).toEqual([
      'AgentEdits and runs, asks first',
      'AskAnswers, changes nothing',
      'PlanPlans, then you decide'
    ]);
    expect(options().map(node => node.getAttribute('aria-selected'))).toEqual([
      'true',
      'false',
      'false'
    ]);
    await page.settle(() => options()[2].click());
    expect(page.sent('mode')).toMatchObject([{ text: 'architect' }]);
    expect(page.find('[role="dialog"]')).toBeNull();
    expect(document.activeElement).toBe(page.button('Mode: Agent'));
    await page.settle(() =>
      page.answer('mode', { code: 'nothing_known', message: 'Not here.' })
    );
    expect(page.trouble).toBe('Not here.');
  });

  it('should show the others when one asks for more', async () => {
    page.begin(CODING);
    await tellModes();
    await open('Mode: Agent');
    await page.settle(() => page.button('More').click());
    expect(texts().slice(3)).toEqual([
      'DebugFinds the cause of an error, then fixes it',
      'Charts'
    ]);
    expect(document.activeElement).toBe(page.find('[role="listbox"]'));
    expect(() => page.button('More')).toThrow();
    // One is at the first of them.
    await press('ArrowDown');
    await press('Enter');
    expect(page.sent('mode')).toMatchObject([{ text: 'charts' }]);
  });

  it('should show them at once while one of them is used', async () => {
    page.begin({ ...READY, mode: 'debug' });
    await tellModes();
    await open('Mode: Debug');
    expect(options()).toHaveLength(5);
  });

  it('should be worked by keys, from what is chosen', async () => {
    page.begin(CODING);
    await tellModes();
    await open('Mode: Agent');
    const list = page.find('[role="listbox"]');
    expect(document.activeElement).toBe(list);
    const active = () => {
      const id = list?.getAttribute('aria-activedescendant') ?? '';
      return document.getElementById(id)?.textContent;
    };
    expect(active()).toContain('Agent');
    await press('ArrowUp');
    expect(active()).toContain('Plan');
    await press('ArrowDown');
    await press('ArrowDown');
    expect(active()).toContain('Ask');
    await press('Enter');
    expect(page.sent('mode')).toMatchObject([{ text: 'ask' }]);
  });

  it('should ask again for modes that could not be read', async () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    page.begin(CODING);
    const refusal = { code: 'nothing_known', message: 'Not here.' };
    await page.settle(() => page.answer('requestModes', refusal));
    await open('Mode: Agent');
    expect(page.sent('requestModes')).toHaveLength(2);
    await tellModes();
    expect(options()).toHaveLength(3);
    warn.mockRestore();
  });

  it('should show the mode of the conversation on screen', () => {
    page.begin({
      ...CODING,
      ...WORKING,
      currentTaskItem: {
        id: 't',
        number: 1,
        ts: 1,
        task: 'first',
        tokensIn: 0,
        tokensOut: 0,
        totalCost: 0,
        mode: 'architect'
      }
    });
    expect(page.button('Mode: Plan')).toBeTruthy();
  });
});

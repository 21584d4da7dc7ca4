import { OpenedPanel } from '../../__tests__/openedpanel';
import { RestServer } from './restserver';

const TOTAL = {
  tasks: 4,
  messages: 40,
  llmCalls: 12,
  toolCalls: 9,
  tokens: 1500,
  tokensIn: 1200,
  tokensOut: 300,
  cost: 0.75,
  compressions: 0,
  averageSeconds: 5
};

describe('Statistics', () => {
  let page: OpenedPanel;
  let rest: RestServer;

  beforeEach(async () => {
    rest = new RestServer();
    rest.answers.set('GET history', () => ({ taskHistory: [], total: 0 }));
    page = new OpenedPanel();
    page.begin({ openTasks: [] });
    page.act(() => {
      page.panel.services.state.page = 'history';
    });
    await settle();
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
  });

  async function settle(): Promise<void> {
    for (let turn = 0; turn < 6; turn++) {
      await page.settle();
    }
  }

  function answer(use: object[]): void {
    rest.answers.set('GET statistics', () => ({
      total: TOTAL,
      use,
      ghostText: []
    }));
  }

  it('should be asked for when one wants to see it, and say the totals', async () => {
    answer([]);
    expect(rest.of('GET statistics')).toHaveLength(0);
    page.act(() => page.button('Usage').click());
    await settle();
    expect(rest.of('GET statistics')).toHaveLength(1);
    expect(page.find('.jp-hdspAgent-statistics dl')?.textContent).toBe(
      'Conversations4Requests to models12Tokens read1,200Tokens written300Cost$0.75'
    );
    expect(page.find('.jp-hdspAgent-plot')).toBeNull();
  });

  const cost = () =>
    page.find('.jp-hdspAgent-statistics dl dd:last-child')?.textContent;

  it.each([
    ['anthropic', 'unknown'],
    ['local', 'free']
  ])(
    'should not claim a price that nobody knows, of %s',
    async (apiProvider, expected) => {
      page.publish({
        type: 'profilesUpdated',
        currentApiConfigName: 'work',
        listApiConfig: [
          {
            id: 'p',
            name: 'work',
            apiProvider,
            modelId: 'm',
            pinned: false,
            current: true,
            allowed: true
          }
        ]
      });
      const use = [
        {
          day: '2026-01-02',
          model: 'm',
          requests: 1,
          tokensIn: 9,
          tokensOut: 1
        }
      ];
      rest.answers.set('GET statistics', () => ({
        total: { ...TOTAL, cost: 0 },
        use: use.map(one => ({ ...one, cost: 0 })),
        ghostText: []
      }));
      page.act(() => page.button('Usage').click());
      await settle();
      expect(cost()).toBe(expected);
    }
  );

  it('should draw what was used, and say the same in a table', async () => {
    const use = { requests: 1, tokensOut: 0, cost: 0.5 };
    answer([
      { ...use, day: '2026-01-01', model: 'm1', tokensIn: 100 },
      { ...use, day: '2026-01-02', model: '', tokensIn: 300 }
    ]);
    page.act(() => page.button('Usage').click());
    await settle();
    expect(page.findAll('.jp-hdspAgent-plot > svg > rect')).toHaveLength(2);
    expect(
      page.findAll('.jp-hdspAgent-plot tr').map(row => row.textContent)
    ).toEqual(['DayUnknown modelm1', 'Jan 10100', 'Jan 23000']);
    page.act(() => {
      const select = page.find(
        '[aria-label="Value to plot"]'
      ) as HTMLSelectElement;
      select.value = 'cost';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    expect(
      page.find('.jp-hdspAgent-plot svg')?.getAttribute('aria-label')
    ).toBe('Cost by day and model');
  });

  it('should count what ghost text used', async () => {
    const use = { day: '2026-01-01', model: 'm1', tokensOut: 0 };
    rest.answers.set('GET statistics', () => ({
      total: TOTAL,
      use: [{ ...use, requests: 12, tokensIn: 100, cost: 0.75 }],
      ghostText: [
        { ...use, requests: 30, tokensIn: 4000, tokensOut: 60, cost: 0.5 },
        { ...use, model: 'm2', requests: 2, tokensIn: 40, cost: 0 }
      ]
    }));
    page.act(() => page.button('Usage').click());
    await settle();
    expect(page.find('.jp-hdspAgent-statistics dl')?.textContent).toBe(
      'Conversations4Requests to models44Tokens read5,240Tokens written360Cost$1.25Of that, ghost text32 requests, 4,100 tokens, cost: $0.50'
    );
    expect(
      page.findAll('.jp-hdspAgent-plot tr').map(row => row.textContent)
    ).toEqual(['Daym1m2', 'Jan 14,16040']);
  });

  it('should cover the time one chooses', async () => {
    answer([]);
    page.act(() => page.button('Usage').click());
    await settle();
    page.act(() => {
      const select = page.find('[aria-label="Time"]') as HTMLSelectElement;
      select.value = 'null';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await settle();
    const [first, second] = rest.of('GET statistics');
    expect(Number(first.query.since)).toBeGreaterThan(0);
    expect(second.query).toEqual({});
  });
});

import { Clipboard } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type { SeenContext } from '../../../generated/rest';
import { OpenedPanel } from '../../__tests__/openedpanel';
import type { IAsked } from '../../history/__tests__/restserver';
import { RestServer } from '../../history/__tests__/restserver';
import { ContextView } from '../contextview';
import { ContextWidget } from '../contextwidget';

const COUNT = 120;

function seen({ query }: IAsked): SeenContext {
  const first = Number(query.first ?? 0);
  const limit = Number(query.limit ?? COUNT);
  const all: SeenContext['messages'] = Array.from(
    { length: COUNT },
    (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: 'text', text: `Message ${at} says hello` }]
    })
  );
  return {
    mode: 'code',
    profile: 'work',
    model: 'm-1',
    contextWindow: 200_000,
    reserved: 8_000,
    condenseAt: 180_000,
    isShortened: false,
    count: COUNT,
    first,
    ...(query.find === undefined ? {} : { found: [7, 70] }),
    marks: [2],
    tokens: {
      system: 1_000,
      tools: 2_000,
      messages: 3_000,
      total: 6_000,
      summaries: 0,
      words: 1_200,
      answers: 1_300,
      outputs: 500,
      pictures: 0,
      eachMessage: Array.from({ length: COUNT }, () => 25)
    },
    system: query.only ? '' : 'You help.',
    tools: query.only
      ? []
      : [{ name: 'read_file', description: 'Reads.', parameters: {} }],
    messages: all.slice(first, first + limit)
  };
}

describe('ContextView', () => {
  let page: OpenedPanel;
  let rest: RestServer;
  let widget: ContextWidget;

  beforeEach(async () => {
    rest = new RestServer();
    rest.answers.set('GET tasks/a/context', seen);
    page = new OpenedPanel();
    Element.prototype.scrollIntoView = jest.fn();
    widget = new ContextWidget({
      services: page.panel.services,
      Body: ContextView,
      taskId: 'a',
      name: 'Plot the sales'
    });
    await page.settle(() => Widget.attach(widget, document.body));
    await page.settle();
  });

  afterEach(() => {
    page.act(() => widget.dispose());
    page.dispose();
    rest.dispose();
    document.body.innerHTML = '';
  });

  const asked = () => rest.of('GET tasks/a/context').map(({ query }) => query);
  const button = (name: string): HTMLElement => {
    const found = [...widget.node.querySelectorAll('button')].find(
      ({ textContent }) => textContent === name
    );
    if (!found) {
      throw new Error(`No button ${name}`);
    }
    return found;
  };
  const press = async (name: string) => {
    await page.settle(() => button(name).click());
    await page.settle();
  };
  const table = () =>
    [...widget.node.querySelectorAll('tbody tr')].map(({ textContent }) =>
      String(textContent)
    );
  const messages = () =>
    [...widget.node.querySelectorAll('article')].map(
      node => node.dataset.index
    );
  async function look(text: string): Promise<void> {
    await page.settle(() => {
      const input = widget.node.querySelector('input') as HTMLInputElement;
      Object.getOwnPropertyDescriptor(
        HTMLInputElement.prototype,
        'value'
      )?.set?.call(input, text);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await press('Search');
  }

  it('should say what takes how much of the window', () => {
    expect(widget.node.textContent).toContain('of “Plot the sales”');
    expect(widget.node.textContent).toContain('At 180,000, the conversation');
    expect(table()).toEqual([
      'System prompt1,0000.5%',
      '1 tool2,0001%',
      'Your messages and context1,2000.6%',
      "The agent's answers and tool calls1,3000.7%",
      'Tool outputs5000.3%',
      'The whole request6,0003%',
      'Reserved for the answer8,0004%',
      'Free186,00093%'
    ]);
  });

  it('should load a page of messages at a time, and the tools once', async () => {
    expect(asked()).toEqual([{ limit: '50' }]);
    expect(messages()).toHaveLength(50);
    await press('Last');
    expect(asked().at(-1)).toEqual({
      first: '100',
      limit: '50',
      only: 'messages'
    });
    expect(messages().at(0)).toBe('100');
    expect(messages()).toHaveLength(20);
    expect(widget.node.textContent).toContain('Messages 101 to 120 of 120');
    expect(widget.node.textContent).toContain('You help.');
    const before = asked().length;
    await press('Later');
    expect(asked()).toHaveLength(before);
  });

  it('should find a text wherever it is, and go from one place to the next', async () => {
    await look('hello');
    expect(asked().at(-1)).toMatchObject({ find: 'hello' });
    expect(widget.node.textContent).toContain(
      '2 messages match; this is number 1.'
    );
    expect(document.activeElement?.getAttribute('data-index')).toBe('7');
    expect(document.activeElement?.querySelector('mark')?.textContent).toBe(
      'hello'
    );
    await press('Next');
    expect(messages().at(0)).toBe('50');
    expect(document.activeElement?.getAttribute('data-index')).toBe('70');
    await press('Next');
    expect(document.activeElement?.getAttribute('data-index')).toBe('7');
  });

  it('should open what is folded where the text is in it', async () => {
    const open = () =>
      [...widget.node.querySelectorAll('details')].map(node => node.open);
    expect(open()).toEqual([false, false, false]);
    await look('READS');
    expect(open()).toEqual([false, true, true]);
  });

  it('should show where the cache has its breakpoints', () => {
    const mark = widget.node.querySelector('.jp-hdspAgent-context-mark');
    expect(mark?.previousElementSibling?.getAttribute('data-index')).toBe('2');
  });

  it('should copy all of it', async () => {
    const copied = jest
      .spyOn(Clipboard, 'copyToSystem')
      .mockImplementation(() => undefined);
    await press('Copy as JSON');
    const request = JSON.parse(
      copied.mock.calls[0][0] as string
    ) as SeenContext;
    expect(request.messages).toHaveLength(COUNT);
    expect(request.tools).toHaveLength(1);
    copied.mockRestore();
  });

  it('should copy a long request part by part, as it is at one time', async () => {
    const copied = jest
      .spyOn(Clipboard, 'copyToSystem')
      .mockImplementation(() => undefined);
    let answers = 0;
    rest.answers.set('GET tasks/a/context', (asked: IAsked) => {
      // A message is added while it is copied.
      const count = ++answers === 1 ? 1_200 : 1_201;
      const limit = Math.min(Number(asked.query.limit ?? count), 500);
      const first = Number(asked.query.first ?? 0);
      const messages = Array.from(
        { length: Math.max(0, Math.min(limit, count - first)) },
        (_, at) => ({ role: 'user', content: `Message ${first + at}` })
      );
      return { ...seen(asked), count, messages };
    });
    await press('Copy as JSON');
    const { messages, system } = JSON.parse(
      copied.mock.calls[0][0] as string
    ) as SeenContext;
    expect(messages.map(({ content }) => content)).toEqual(
      Array.from({ length: 1_201 }, (_, at) => `Message ${at}`)
    );
    expect(system).toBe('You help.');
    expect(asked().every(({ limit }) => Number(limit) <= 500)).toBe(true);
    copied.mockRestore();
  });

  it('should say why it could not be had, and try again', async () => {
    rest.answers.delete('GET tasks/a/context');
    await press('Refresh');
    expect(widget.node.querySelector('[role="alert"]')).not.toBeNull();
    rest.answers.set('GET tasks/a/context', seen);
    await press('Refresh');
    expect(widget.node.querySelector('[role="alert"]')).toBeNull();
  });
});

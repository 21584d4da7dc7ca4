import type { IRenderMime } from '@jupyterlab/rendermime';
import {
  RenderMimeRegistry,
  standardRendererFactories
} from '@jupyterlab/rendermime';

import type { ClineMessage } from '../../../generated/wire';
import { OpenedPanel } from '../../../panel/__tests__/openedpanel';

/**
 * Enough of Markdown: fenced code, pictures, and paragraphs.
 */
class SmallParser implements IRenderMime.IMarkdownParser {
  readonly rendered: string[] = [];

  async render(source: string): Promise<string> {
    this.rendered.push(source);
    await new Promise(resolve => setTimeout(resolve, 5));
    return source.replace(
      /^```(\w*)\n([^]*?)\n```$/gm,
      '<pre><code class="language-$1">$2</code></pre>'
    );
  }
}

describe('Markdown', () => {
  let page: OpenedPanel;
  let parser: SmallParser;

  beforeEach(() => {
    parser = new SmallParser();
    page = new OpenedPanel({
      rendermime: new RenderMimeRegistry({
        initialFactories: standardRendererFactories,
        markdownParser: parser
      })
    });
  });

  afterEach(() => {
    page.dispose();
  });

  function message(text: string, partial?: boolean): ClineMessage {
    return { ts: 2, type: 'say', say: 'text', text, partial };
  }

  async function show(text: string, partial?: boolean): Promise<void> {
    page.begin({
      currentTaskId: 't',
      clineMessages: [
        { ts: 1, type: 'say', say: 'text', text: 'Plot it' },
        message(text, partial)
      ]
    });
    await page.settle();
    await settle();
  }

  async function settle(): Promise<void> {
    for (let round = 0; round < 60; round++) {
      await page.settle();
    }
  }

  function row(): HTMLElement {
    const found = page.find('[data-ts="2"]');
    if (!found) {
      throw new Error('There is no row.');
    }
    return found;
  }

  it('should show its source until it is rendered', async () => {
    page.begin({ currentTaskId: 't', clineMessages: [message('So *it* is')] });
    await page.settle();
    expect(page.find('[data-ts="2"]')?.textContent).toContain('So *it* is');
  });

  it('should render what does not grow as a whole', async () => {
    await show('one\n\ntwo\n\nthree');
    expect(parser.rendered).toEqual(['one\n\ntwo\n\nthree']);
    expect(row().querySelector('.jp-hdspAgent-markdown-source')).toBeNull();
  });

  it('should render finished blocks once while it grows', async () => {
    await show('one\n\n', true);
    let text = 'one\n\n';
    for (const word of ['two', ' words', '\n\n', 'three', ' more']) {
      page.publish({
        type: 'messageDelta',
        taskId: 't',
        ts: 2,
        field: 'text',
        offset: text.length,
        append: word
      });
      text += word;
      await settle();
    }
    const first = parser.rendered.filter(source => source.includes('one'));
    expect(first).toEqual(['one\n\n']);
    expect(row().textContent).toContain('three more');
  });

  it('should show the source of a very long block until it has ended', async () => {
    await show('begun ', true);
    const text = `begun ${'a line of many\n'.repeat(700)}`;
    page.publish({
      type: 'messageDelta',
      taskId: 't',
      ts: 2,
      field: 'text',
      offset: 6,
      append: text.slice(6)
    });
    await settle();
    expect(parser.rendered).toEqual(['begun ']);
    expect(row().textContent).toContain(text.trim());
    await show(text);
    expect(parser.rendered).toEqual(['begun ', text]);
    expect(row().querySelector('.jp-hdspAgent-markdown-source')).toBeNull();
  });

  it('should not render each word of a text that grows quickly', async () => {
    await show('', true);
    let text = '';
    for (let count = 0; count < 50; count++) {
      page.publish({
        type: 'messageDelta',
        taskId: 't',
        ts: 2,
        field: 'text',
        offset: text.length,
        append: 'word '
      });
      text += 'word ';
    }
    await settle();
    expect(row().textContent?.trim()).toBe(text.trim());
    expect(parser.rendered.length).toBeLessThan(20);
  });

  it('should never be more than 80 ms behind a text that is quick to render', async () => {
    await show('0', true);
    let text = '0';
    let furthest = 0;
    for (let count = 1; count <= 40; count++) {
      page.publish({
        type: 'messageDelta',
        taskId: 't',
        ts: 2,
        field: 'text',
        offset: text.length,
        append: ` ${count}`
      });
      text += ` ${count}`;
      // 20 ms of the page's clock.
      await page.settle();
      const shown = Number(row().textContent?.trim().split(' ').at(-1));
      furthest = Math.max(furthest, count - shown);
    }
    expect(furthest).toBeLessThanOrEqual(4);
  });

  it('should show code that is not all there as it is, and highlight it then', async () => {
    await show('```python\nx = 1', true);
    expect(parser.rendered).toEqual([]);
    expect(row().textContent).toBe('x = 1');
    expect(row().querySelector('.jp-hdspAgent-code-bar')).toBeNull();
    page.publish({
      type: 'messageUpdated',
      taskId: 't',
      clineMessage: message('```python\nx = 1\n```', false)
    });
    await settle();
    expect(row().querySelector('code')?.className).toContain('language-python');
    expect(row().querySelector('.jp-hdspAgent-code-bar')).not.toBeNull();
  });

  it('should not take away what is selected while it grows', async () => {
    await show('some words', true);
    const selection = document.getSelection();
    selection?.selectAllChildren(row());
    page.publish({
      type: 'messageDelta',
      taskId: 't',
      ts: 2,
      field: 'text',
      offset: 10,
      append: ' and more'
    });
    await settle();
    expect(selection?.toString()).toContain('some words');
    selection?.removeAllRanges();
    await settle();
    expect(row().textContent).toContain('and more');
  });

  it('should fold long code, and unfold it when one wants to see it', async () => {
    await show(`\`\`\`python\n${lines(40)}\n\`\`\``);
    const frame = row().querySelector('.jp-hdspAgent-code');
    expect(frame?.classList).toContain('jp-mod-folded');
    const more = page.button('Show all 40 lines');
    expect(more.getAttribute('aria-expanded')).toBe('false');
    expect(more.getAttribute('aria-controls')).toBe(
      frame?.querySelector('pre')?.id
    );
    await page.settle(() => more.click());
    expect(frame?.classList).not.toContain('jp-mod-folded');
    expect(page.button('Show less')).toBe(more);
    expect(more.getAttribute('aria-expanded')).toBe('true');
    await page.settle(() => more.click());
    expect(frame?.classList).toContain('jp-mod-folded');
  });

  it('should not fold code that is only a little longer', async () => {
    await show(`\`\`\`python\n${lines(24)}\n\`\`\``);
    expect(row().querySelector('.jp-hdspAgent-code-more')).toBeNull();
  });

  it('should not take away code that was seen while it was written', async () => {
    const text = `\`\`\`python\n${lines(40)}`;
    await show(text, true);
    expect(row().querySelector('.jp-mod-folded')).toBeNull();
    page.publish({
      type: 'messageUpdated',
      taskId: 't',
      clineMessage: message(`${text}\n\`\`\``, false)
    });
    await settle();
    expect(row().querySelector('.jp-hdspAgent-code')).not.toBeNull();
    expect(row().querySelector('.jp-mod-folded')).toBeNull();
    await page.settle(() => page.button('Show less').click());
    expect(row().querySelector('.jp-mod-folded')).not.toBeNull();
  });

  it('should fetch no picture a model names', async () => {
    await show('<img src="https://elsewhere.test/?q=secret" alt="A plot">');
    expect(row().querySelector('img')).toBeNull();
    expect(row().textContent).toContain('[A plot]');
  });

  it('should say why code cannot be put into a notebook', async () => {
    await show('```python\nx = 1\n```');
    const button = page.button('Insert as a new cell below');
    expect(button.getAttribute('aria-disabled')).toBe('true');
    expect(button.title).toContain('Open a notebook first.');
  });
});

function lines(count: number): string {
  return Array.from({ length: count }, (_, at) => `x = ${at}`).join('\n');
}

import { Clipboard } from '@jupyterlab/apputils';
import {
  RenderMimeRegistry,
  standardRendererFactories
} from '@jupyterlab/rendermime';

import { ShownRows } from './shownrows';

const PICTURE = 'data:image/svg+xml,%3Csvg%3E%3C/svg%3E';

/** What Lab makes of a diagram, with its source out of sight. */
const drawn = (source: string) =>
  `<div class="jp-RenderedMermaid"><figure><img src="${PICTURE}" alt="Two steps">` +
  `<pre><code class="mermaid">${source}</code></pre></figure></div>`;

describe('a diagram', () => {
  let rows: ShownRows;

  beforeEach(async () => {
    rows = new ShownRows({
      rendermime: new RenderMimeRegistry({
        initialFactories: standardRendererFactories,
        markdownParser: {
          render: source =>
            Promise.resolve(
              source.replace(/```mermaid\n([^]*?)\n```/, (_, it: string) =>
                drawn(it)
              )
            )
        }
      })
    });
    await rows.show({ say: 'text', text: '```mermaid\ngraph LR; a-->b\n```' });
    for (let round = 0; round < 20; round++) {
      await rows.page.settle();
    }
  });

  afterEach(() => {
    rows.page.dispose();
    jest.restoreAllMocks();
  });

  it('should have its source copied, and offer nothing for a notebook', async () => {
    const copy = jest
      .spyOn(Clipboard, 'copyToSystem')
      .mockImplementation(() => undefined);
    expect(rows.row(2).querySelector('.jp-hdspAgent-code')).toBeNull();
    await rows.click('Copy the source of this diagram');
    expect(copy.mock.calls).toEqual([['graph LR; a-->b']]);
  });

  it('should open large, grow, and close with Escape, with the focus back', async () => {
    const opener = rows.page.button('Show this diagram large');
    opener.focus();
    await rows.click('Show this diagram large');
    await rows.page.settle();
    const image = dialog()?.querySelector('img');
    expect(image?.src).toBe(PICTURE);
    expect(image?.alt).toBe('Two steps');
    expect(image?.style.width).toBe('100%');
    const zoom = dialog()?.querySelector('input');
    expect(document.activeElement).toBe(zoom);
    await rows.page.settle(() => {
      Object.getOwnPropertyDescriptor(
        HTMLInputElement.prototype,
        'value'
      )?.set?.call(zoom, '3');
      zoom?.dispatchEvent(new Event('input', { bubbles: true }));
    });
    expect(image?.style.width).toBe('300%');
    expect(zoom?.getAttribute('aria-valuetext')).toBe('300%');
    await rows.page.settle(() =>
      zoom?.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
      )
    );
    expect(dialog()).toBeNull();
    expect(document.activeElement).toBe(opener);
  });

  it('should move with what is dragged, and only while a button is held', async () => {
    await rows.click('Show this diagram large');
    await rows.page.settle();
    const box = dialog()?.querySelector<HTMLElement>('[role="region"]');
    if (!box) {
      throw new Error('There is no diagram.');
    }
    const held: number[] = [];
    box.setPointerCapture = pointer => void held.push(pointer);
    const point = (type: string, properties: object) =>
      box.dispatchEvent(
        Object.assign(new Event(type, { bubbles: true }), properties)
      );
    box.scrollLeft = 100;
    box.scrollTop = 80;
    const moved = { movementX: 30, movementY: -20 };
    point('pointermove', { buttons: 0, ...moved });
    expect([box.scrollLeft, box.scrollTop]).toEqual([100, 80]);
    point('pointerdown', { pointerId: 7 });
    expect(held).toEqual([7]);
    point('pointermove', { buttons: 1, ...moved });
    expect([box.scrollLeft, box.scrollTop]).toEqual([70, 100]);
    point('pointermove', { buttons: 0, ...moved });
    expect([box.scrollLeft, box.scrollTop]).toEqual([70, 100]);
  });

  function dialog(): HTMLElement | null {
    return document.querySelector('.jp-Dialog');
  }
});

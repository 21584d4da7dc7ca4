import { Clipboard } from '@jupyterlab/apputils';

import type { IDiagramStyle, IDrawnDiagram } from '../diagramframe';
import { DiagramError, NoDiagramFrame } from '../diagramframe';
import { LabsMarkdown } from '../../markdown/__tests__/labrenders';
import { ShownRows } from '../../../panel/chat/rows/__tests__/shownrows';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" style="max-width: 120px;"></svg>';

const mockDraw = jest.fn<Promise<IDrawnDiagram>, [string, IDiagramStyle]>();

jest.mock('../shareddrawing', () => ({
  sharedDrawing: {
    draw: (source: string, looks: IDiagramStyle) => mockDraw(source, looks)
  }
}));

const TITLE = 'Two steps';

/** As the theme of the page has it. */
const pictureIn = (theme: string) =>
  `data:image/svg+xml,${encodeURIComponent(`${SVG}<!--${theme}-->`)}`;

const PICTURE = pictureIn('default');

describe('a diagram', () => {
  let rows: ShownRows;

  beforeEach(async () => {
    document.body.removeAttribute('data-jp-theme-light');
    mockDraw.mockImplementation((_, { theme }) =>
      Promise.resolve({
        svg: `${SVG}<!--${theme}-->`,
        title: TITLE,
        description: 'First a, then b.'
      })
    );
    rows = new ShownRows({ rendermime: new LabsMarkdown().registry() });
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
    const opener = rows.page.button('Enlarge this diagram');
    opener.focus();
    await rows.click('Enlarge this diagram');
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

  it('should be drawn as wide as it is, and described', () => {
    const image = rows.row(2).querySelector('img');
    expect(image?.width).toBe(120);
    expect(rows.row(2).querySelector('figcaption')?.textContent).toBe(
      'First a, then b.'
    );
    expect(mockDraw).toHaveBeenCalledWith(
      'graph LR; a-->b',
      expect.objectContaining({ theme: 'default' })
    );
  });

  it('should follow the theme, also where it is shown large', async () => {
    document.body.setAttribute('data-jp-theme-light', 'false');
    await rows.page.settle();
    await rows.page.settle();
    const image = rows.row(2).querySelector('img');
    expect(image?.src).toBe(pictureIn('dark'));
    await rows.click('Enlarge this diagram');
    await rows.page.settle();
    expect(dialog()?.querySelector('img')?.src).toBe(pictureIn('dark'));
    document.body.setAttribute('data-jp-theme-light', 'true');
    await rows.page.settle();
    await rows.page.settle();
    expect(image?.src).toBe(PICTURE);
  });

  it('should say why it cannot be drawn', async () => {
    mockDraw.mockRejectedValue(new DiagramError('No arrow'));
    await another('graph LR; a--b');
    const warning = rows.row(2).querySelector('.jp-mod-warning');
    expect(warning?.textContent).toContain('graph LR; a--b');
    expect(warning?.textContent).toContain('No arrow');
    expect(rows.row(2).querySelector('img')).toBeNull();
  });

  it('should stay code where nothing can be drawn', async () => {
    const warn = jest
      .spyOn(console, 'warn')
      .mockImplementation(() => undefined);
    mockDraw.mockRejectedValue(new NoDiagramFrame('No frame'));
    await another('graph LR; a-->c');
    expect(warn).toHaveBeenCalled();
    expect(rows.row(2).querySelector('.jp-RenderedMermaid')).toBeNull();
    expect(rows.row(2).querySelector('pre')?.textContent).toContain('a-->c');
  });

  it('should move with what is dragged, and only while a button is held', async () => {
    await rows.click('Enlarge this diagram');
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

  async function another(source: string): Promise<void> {
    const text = `\`\`\`mermaid\n${source}\n\`\`\``;
    await rows.update({ ts: 2, type: 'say', say: 'text', text });
    for (let round = 0; round < 20; round++) {
      await rows.page.settle();
    }
  }

  function dialog(): HTMLElement | null {
    return document.querySelector('.jp-Dialog');
  }
});

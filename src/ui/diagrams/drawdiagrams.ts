import type { IDisposable } from '@lumino/disposable';

import { NoDiagramFrame } from './diagramframe';
import type { IDiagramStyle, IDrawnDiagram } from './diagramframe';
import type { IDiagramDrawing } from './diagramdrawing';

const SOURCES = 'pre > code.language-mermaid';
const THEME = 'data-hdsp-agent-theme';
const LIGHT = 'data-jp-theme-light';

/**
 * Puts drawings in place of the sources of diagrams in rendered texts, and keeps
 * them in the page's theme.
 *
 * #### Notes
 * The nodes are those that Lab makes, so that its style sheet fits them.
 */
export class Diagrams implements IDisposable {
  constructor(drawing: IDiagramDrawing) {
    this._drawing = drawing;
    this._observer = new MutationObserver(() => void this._redraw());
    this._observer.observe(document.body, { attributeFilter: [LIGHT] });
  }

  /**
   * Whether this is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Look after the theme no more.
   */
  dispose(): void {
    this._isDisposed = true;
    this._observer.disconnect();
  }

  /**
   * Draw what is in a rendered text.
   */
  async drawIn(node: HTMLElement): Promise<void> {
    const looks = presentStyle();
    await Promise.all(
      [...node.querySelectorAll(SOURCES)].map(async code => {
        const source = code.textContent ?? '';
        const figure = await figureOf(source, this._drawing, looks);
        if (figure !== null) {
          code.parentElement?.replaceWith(figure);
        }
      })
    );
  }

  /**
   * Whether what is drawn in a text that was off the page fits the theme.
   */
  fit(node: HTMLElement): boolean {
    const { theme } = presentStyle();
    return drawnIn(node).every(drawn => drawn.getAttribute(THEME) === theme);
  }

  private async _redraw(): Promise<void> {
    const looks = presentStyle();
    for (const drawn of drawnIn(document.body)) {
      const source = drawn.querySelector('code.mermaid')?.textContent;
      const image = drawn.querySelector('img');
      if (drawn.getAttribute(THEME) === looks.theme || !source || !image) {
        continue;
      }
      drawn.setAttribute(THEME, looks.theme);
      try {
        const { svg } = await this._drawing.draw(source, looks);
        if (drawn.getAttribute(THEME) === looks.theme) {
          image.src = addressOf(svg);
        }
      } catch (reason) {
        console.warn('A diagram keeps its colours', reason);
      }
    }
  }

  private readonly _drawing: IDiagramDrawing;
  private readonly _observer: MutationObserver;
  private _isDisposed = false;
}

function drawnIn(node: HTMLElement): HTMLElement[] {
  return [...node.querySelectorAll<HTMLElement>(`[${THEME}]`)];
}

function addressOf(svg: string): string {
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

function presentStyle(): IDiagramStyle {
  const { body } = document;
  return {
    theme: body.getAttribute(LIGHT) === 'false' ? 'dark' : 'default',
    fontFamily: getComputedStyle(body).getPropertyValue('--jp-ui-font-family')
  };
}

/**
 * The drawing, or why there is none; `null` where nothing is drawn at all.
 */
async function figureOf(
  source: string,
  drawing: IDiagramDrawing,
  looks: IDiagramStyle
): Promise<HTMLElement | null> {
  const around = made('div', 'jp-RenderedMermaid');
  try {
    around.append(pictureOf(source, await drawing.draw(source, looks)));
    around.setAttribute(THEME, looks.theme);
  } catch (reason) {
    if (reason instanceof NoDiagramFrame) {
      console.warn('A diagram is shown as its source', reason);
      return null;
    }
    around.classList.add('jp-mod-warning');
    around.append(warningOf(source, String(reason)));
  }
  return around;
}

function pictureOf(
  source: string,
  { svg, title, description }: IDrawnDiagram
): HTMLElement {
  const figure = document.createElement('figure');
  const image = document.createElement('img');
  image.src = addressOf(svg);
  image.alt = title;
  const width = parseFloat(/\bmax-width:\s*([\d.]+)px/.exec(svg)?.[1] ?? '');
  if (width > 0) {
    image.width = width;
  }
  figure.append(image, codeOf(source));
  if (description !== '') {
    const caption = made('figcaption', 'jp-sr-only');
    caption.textContent = description;
    figure.append(caption);
  }
  return figure;
}

/**
 * The source, with its buttons as other code has them, and what Mermaid says.
 */
function warningOf(source: string, why: string): HTMLElement {
  const both = document.createElement('div');
  const details = made('details', 'jp-RenderedMermaid-Details');
  const summary = made('summary', 'jp-RenderedMermaid-Summary');
  const words = document.createElement('pre');
  summary.textContent = why.split('\n', 1)[0] ?? '';
  words.textContent = why;
  details.append(summary, words);
  both.append(codeOf(source), details);
  return both;
}

function codeOf(source: string): HTMLElement {
  const pre = document.createElement('pre');
  const code = made('code', 'mermaid');
  code.textContent = source;
  pre.append(code);
  return pre;
}

function made(tag: string, className: string): HTMLElement {
  const node = document.createElement(tag);
  node.className = className;
  return node;
}

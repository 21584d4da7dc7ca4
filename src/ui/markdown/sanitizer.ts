import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { RenderMimeRegistry } from '@jupyterlab/rendermime';

import { CodeOnlyParser } from './codeonlyparser';
import { preventPrefetch } from './securelinks';

/**
 * A registry whose renderings fetch nothing. Only `safeRegistry` makes one.
 */
export interface ISafeRegistry extends IRenderMimeRegistry {
  readonly isHarmless: true;
}

/**
 * A registry that renders what a model or a file says: nothing in it is
 * fetched, and nothing in it does anything.
 *
 * #### Notes
 * The address of a picture is a way to send away what the model has read, and
 * it is fetched without anybody's doing. A picture that is not in the text
 * itself is therefore shown as its description. Diagrams stay as their source,
 * for `RenderedBlocks` to draw where nothing can be fetched.
 */
export function safeRegistry(
  rendermime: IRenderMimeRegistry,
  documents: IDocumentManager | null
): ISafeRegistry {
  const contents = documents?.services.contents;
  const parser = rendermime.markdownParser;
  preventPrefetch(document);
  const clone = rendermime.clone({
    sanitizer: new SafeSanitizer(rendermime.sanitizer),
    ...(parser && { markdownParser: new CodeOnlyParser(parser) }),
    // A link to a file opens it in Lab.
    ...(contents && {
      resolver: new RenderMimeRegistry.UrlResolver({ path: '', contents })
    })
  });
  return Object.assign(clone, { isHarmless: true } as const);
}

/**
 * Removes what would fetch something, on top of what Lab removes.
 */
export class SafeSanitizer implements IRenderMime.ISanitizer {
  constructor(sanitizer: IRenderMime.ISanitizer) {
    this._sanitizer = sanitizer;
  }

  readonly allowNamedProperties = false;
  readonly allowCommandLinker = false;

  /**
   * Whether addresses become links.
   */
  getAutolink(): boolean {
    return this._sanitizer.getAutolink?.() ?? true;
  }

  /**
   * The HTML without what is not wanted.
   */
  sanitize(dirty: string, options?: IRenderMime.ISanitizerOptions): string {
    const clean = this._sanitizer.sanitize(dirty, options);
    // A document that is not shown fetches nothing.
    const { body } = new DOMParser().parseFromString(clean, 'text/html');
    body.querySelectorAll('img').forEach(Private.describe);
    body.querySelectorAll(Private.ACTIVE).forEach(node => node.remove());
    body.querySelectorAll('*').forEach(Private.strip);
    return body.innerHTML;
  }

  private readonly _sanitizer: IRenderMime.ISanitizer;
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What fetches, runs, embeds or asks for something. Lab removes most of it
   * already, as long as nobody told it not to.
   */
  export const ACTIVE = [
    'applet, area, audio, base, button, canvas, embed, form, frame, frameset',
    'iframe, input:not([type="checkbox"]), link, map, math, meta, noscript',
    'object, picture, portal, script, select, source, style, svg, template',
    'textarea, track, video'
  ].join(', ');

  /**
   * What may be said of an element: nothing of it is an address but `href`,
   * which does nothing before it is clicked, and `src`, which is looked at.
   */
  const KEPT: ReadonlySet<string> = new Set([
    'align',
    'alt',
    'bgcolor',
    'border',
    'cellpadding',
    'cellspacing',
    'checked',
    'class',
    'color',
    'colspan',
    'data-jupyter-id',
    'dir',
    'disabled',
    'headers',
    'height',
    'high',
    'href',
    'hreflang',
    'lang',
    'low',
    'max',
    'min',
    'nowrap',
    'open',
    'optimum',
    'rel',
    'reversed',
    'rowspan',
    'scope',
    'span',
    'src',
    'start',
    'style',
    'summary',
    'target',
    'title',
    'type',
    'valign',
    'value',
    'width'
  ]);

  export function describe(image: HTMLImageElement): void {
    if (isInText(image.getAttribute('src'))) {
      return;
    }
    const text = image.alt || image.getAttribute('src') || '';
    image.replaceWith(image.ownerDocument.createTextNode(`[${text}]`));
  }

  export function strip(node: Element): void {
    for (const name of node.getAttributeNames()) {
      if (!KEPT.has(name)) {
        node.removeAttribute(name);
      }
    }
    if (node.localName !== 'a') {
      node.removeAttribute('href');
    }
    if (node.localName !== 'img') {
      node.removeAttribute('src');
    }
    keepHarmlessStyle(node);
    keepHarmlessClasses(node);
  }

  /**
   * What is placed by itself could cover what others say, or a question.
   */
  function keepHarmlessStyle(node: Element): void {
    if (!(node instanceof HTMLElement) || !node.hasAttribute('style')) {
      return;
    }
    const kept = STYLES.map(name => [name, node.style.getPropertyValue(name)]);
    node.removeAttribute('style');
    for (const [name = '', value = ''] of kept) {
      if (value && !/[(\\]/.test(value.replace(COLOUR, ''))) {
        node.style.setProperty(name, value);
      }
    }
  }

  /**
   * With our own classes a text could look like a question of the agent.
   */
  function keepHarmlessClasses(node: Element): void {
    for (const name of [...node.classList]) {
      if (/^(?:lm-|jp-)/.test(name)) {
        node.classList.remove(name);
      }
    }
  }

  const STYLES = ['color', 'font-weight', 'font-style', 'text-align'];
  const COLOUR = /^(?:rgb|hsl)a?\(/;

  function isInText(address: string | null): boolean {
    return /^data:image\//i.test(address ?? '');
  }
}

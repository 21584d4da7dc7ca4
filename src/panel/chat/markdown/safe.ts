import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { RenderMimeRegistry } from '@jupyterlab/rendermime';

/**
 * A registry that renders what a model wrote: nothing in it is fetched, and
 * nothing in it does anything.
 *
 * #### Notes
 * The address of a picture is a way to send away what the model has read, and
 * it is fetched without anybody's doing. A picture that is not in the text
 * itself is therefore shown as its description.
 */
export function harmless(
  rendermime: IRenderMimeRegistry,
  documents: IDocumentManager | null
): IRenderMimeRegistry {
  const contents = documents?.services.contents;
  return rendermime.clone({
    sanitizer: new HarmlessSanitizer(rendermime.sanitizer),
    // A link to a file opens it in Lab.
    ...(contents && {
      resolver: new RenderMimeRegistry.UrlResolver({ path: '', contents })
    })
  });
}

/**
 * Removes what would fetch something, on top of what Lab removes.
 */
export class HarmlessSanitizer implements IRenderMime.ISanitizer {
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
  export const ACTIVE =
    'audio, video, source, track, iframe, object, embed, form, button, link';

  const FETCHING = ['src', 'srcset', 'poster', 'background', 'action', 'data'];

  export function describe(image: HTMLImageElement): void {
    if (isInText(image.getAttribute('src'))) {
      return;
    }
    const text = image.alt || image.getAttribute('src') || '';
    image.replaceWith(image.ownerDocument.createTextNode(`[${text}]`));
  }

  export function strip(node: Element): void {
    for (const name of FETCHING) {
      if (node.hasAttribute(name) && !isInText(node.getAttribute(name))) {
        node.removeAttribute(name);
      }
    }
    keepHarmlessStyle(node);
    keepHarmlessClasses(node);
    for (const name of node.getAttributeNames()) {
      if (name.startsWith('data-commandlinker')) {
        node.removeAttribute(name);
      }
    }
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
      if (value && !/url\s*\(|image-set/i.test(value)) {
        node.style.setProperty(name, value);
      }
    }
  }

  /**
   * With our own classes a text could look like a question of the agent.
   */
  function keepHarmlessClasses(node: Element): void {
    for (const name of [...node.classList]) {
      if (/^(?:lm-|jp-(?!RenderedMermaid|mod-warning))/.test(name)) {
        node.classList.remove(name);
      }
    }
  }

  const STYLES = ['color', 'font-weight', 'font-style', 'text-align'];

  function isInText(address: string | null): boolean {
    return address?.startsWith('data:image/') ?? false;
  }
}

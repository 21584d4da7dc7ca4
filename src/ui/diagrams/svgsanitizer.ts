/**
 * A drawing as a picture that fetches nothing; `null` if it is none.
 *
 * #### Notes
 * It is shown as an image, in which a browser fetches nothing anyway, and which
 * one may save and open as a page, in which it would.
 */
export function safeSvg(svg: string): SVGElement | null {
  const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml');
  const root = parsed.documentElement;
  if (
    root.localName !== 'svg' ||
    root.namespaceURI !== SVG ||
    parsed.querySelector('parsererror')
  ) {
    return null;
  }
  for (const node of [...root.querySelectorAll('*')]) {
    if (!KNOWN_SPACES.has(node.namespaceURI) || REFUSED.has(nameOf(node))) {
      node.remove();
    }
  }
  for (const node of [root, ...root.querySelectorAll('*')]) {
    strip(node);
  }
  return root as unknown as SVGElement;
}

const SVG = 'http://www.w3.org/2000/svg';

const KNOWN_SPACES: ReadonlySet<string | null> = new Set([
  SVG,
  'http://www.w3.org/1999/xhtml',
  'http://www.w3.org/1998/Math/MathML'
]);

/**
 * What runs, embeds, is sent or asks for something else.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'animate',
  'animatemotion',
  'animatetransform',
  'applet',
  'audio',
  'base',
  'button',
  'canvas',
  'embed',
  'feimage',
  'form',
  'frame',
  'frameset',
  'handler',
  'iframe',
  'input',
  'link',
  'meta',
  'noscript',
  'object',
  'param',
  'portal',
  'script',
  'select',
  'set',
  'source',
  'template',
  'textarea',
  'track',
  'video'
]);

/**
 * Attributes that hold one address.
 */
const ADDRESSES: ReadonlySet<string> = new Set([
  'action',
  'altimg',
  'background',
  'cite',
  'data',
  'formaction',
  'href',
  'longdesc',
  'manifest',
  'ping',
  'poster',
  'src',
  'srcdoc',
  'srcset'
]);

function nameOf(node: Element | Attr): string {
  return node.localName.toLowerCase();
}

function strip(node: Element): void {
  if (nameOf(node) === 'style' && reachesOut(node.textContent)) {
    node.remove();
    return;
  }
  for (const attribute of [...node.attributes]) {
    const name = nameOf(attribute);
    const { value } = attribute;
    if (
      name.startsWith('on') ||
      name === 'xml:base' ||
      attribute.name.toLowerCase() === 'xml:base' ||
      (ADDRESSES.has(name) && !isInside(value)) ||
      (!ADDRESSES.has(name) && reachesOut(value))
    ) {
      node.removeAttributeNode(attribute);
    }
  }
}

/**
 * Whether an address is of the drawing itself.
 */
function isInside(address: string): boolean {
  return /^(?:#|data:image\/(?:png|jpeg|gif|webp|avif|bmp);)/i.test(
    address.trim()
  );
}

/**
 * Whether a style names anything that is not in the drawing itself.
 */
function reachesOut(style: string | null): boolean {
  const plain = unescaped(style ?? '').replace(/\/\*[^]*?\*\//g, '');
  if (/@import|image-set\s*\(|\bsrc\s*\(|\belement\s*\(/i.test(plain)) {
    return true;
  }
  const urls = [...plain.matchAll(/url\s*\(\s*["']?\s*([^"')]*)/gi)];
  return urls.some(([, address]) => !isInside(address ?? ''));
}

function unescaped(style: string): string {
  return style.replace(
    /\\(?:([0-9a-f]{1,6})\s?|([^]))/gi,
    (_, code: string | undefined, letter: string | undefined) =>
      code === undefined
        ? (letter ?? '')
        : String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff))
  );
}

import { safeSvg } from '../svgsanitizer';

const SVG = 'http://www.w3.org/2000/svg';
const DOT = 'data:image/png;base64,iVBORw0KGgo=';

function clean(inside: string, attributes = ''): string {
  const drawn = safeSvg(`<svg xmlns="${SVG}" ${attributes}>${inside}</svg>`);
  if (drawn === null) {
    throw new Error('It is no drawing.');
  }
  return new XMLSerializer().serializeToString(drawn);
}

describe('harmlessSvg', () => {
  it.each([
    '<image href="https://e.test/a"/>',
    '<image xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="https://e.test/a"/>',
    '<image xmlns:x="http://www.w3.org/1999/xlink" x:href="//e.test/a"/>',
    '<use href="https://e.test/a#b"/>',
    '<feImage href="https://e.test/a"/>',
    '<filter id="f"><feImage href="#e.test"/></filter>',
    '<style>@import url(https://e.test/a);</style>',
    '<style>@import "https://e.test/a";</style>',
    '<style>@\\69mport "https://e.test/a";</style>',
    '<style>rect{background:url(https://e.test/a)}</style>',
    '<style>rect{background:u\\72l(https://e.test/a)}</style>',
    '<style>rect{background:u/**/rl(https://e.test/a)}</style>',
    '<style>rect{background:url("//e.test/a")}</style>',
    "<style>rect{background:image-set('https://e.test/a' 1x)}</style>",
    '<style>@font-face{font-family:f;src:url(https://e.test/a)}</style>',
    '<style><![CDATA[rect{background:url(https://e.test/a)}]]></style>',
    '<rect fill="url(https://e.test/a#b)"/>',
    '<rect style="fill:url(https://e.test/a#b)"/>',
    '<rect filter="url( \'https://e.test/a#b\' )"/>',
    '<path marker-end="url(https://e.test/a#b)"/>',
    '<rect cursor="url(https://e.test/a), auto"/>',
    '<a href="https://e.test/a"><rect/></a>',
    '<script>fetch("https://e.test/a")</script>',
    '<script href="https://e.test/a"/>',
    '<rect onclick="fetch(\'https://e.test/a\')"/>',
    '<image href="#a"><set attributeName="href" to="https://e.test/a"/></image>',
    '<image href="#a"><animate attributeName="href" values="https://e.test/a"/></image>',
    '<g xml:base="https://e.test/"><rect fill="url(#a)"/></g>',
    '<foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="https://e.test/a"/></foreignObject>',
    '<foreignObject><img xmlns="http://www.w3.org/1999/xhtml" srcset="https://e.test/a 2x"/></foreignObject>',
    '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://e.test/a"/></foreignObject>',
    '<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;img src=&quot;https://e.test/a&quot;>"/></foreignObject>',
    '<foreignObject><video xmlns="http://www.w3.org/1999/xhtml" poster="https://e.test/a"/></foreignObject>',
    '<foreignObject><link xmlns="http://www.w3.org/1999/xhtml" rel="stylesheet" href="https://e.test/a"/></foreignObject>',
    '<foreignObject><meta xmlns="http://www.w3.org/1999/xhtml" http-equiv="refresh" content="0;url=https://e.test/a"/></foreignObject>',
    '<foreignObject><form xmlns="http://www.w3.org/1999/xhtml" action="https://e.test/a"/></foreignObject>',
    '<foreignObject><object xmlns="http://www.w3.org/1999/xhtml" data="https://e.test/a"/></foreignObject>',
    '<foreignObject><table xmlns="http://www.w3.org/1999/xhtml" background="https://e.test/a"/></foreignObject>',
    '<foreignObject><a xmlns="http://www.w3.org/1999/xhtml" href="#x" ping="https://e.test/a"/></foreignObject>',
    '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml" style="background:url(https://e.test/a)"/></foreignObject>',
    '<x xmlns="https://e.test/own" href="https://e.test/a"/>',
    '<image href="data:image/svg+xml,%3Csvg%3E%3C/svg%3E" class="e.test"/>'.replace(
      ' class="e.test"',
      ''
    )
  ])('should leave nothing to fetch of %s', inside => {
    const drawn = clean(inside);
    expect(drawn).not.toContain('e.test');
    expect(drawn).not.toContain('svg+xml');
  });

  it.each([
    '<path marker-end="url(#arrow)"/>',
    '<rect style="fill:url(#gradient)"/>',
    '<style>.node rect{fill:#eee;filter:drop-shadow(1px 2px 2px rgba(1,2,3,0.4))}</style>',
    '<style>.a{marker:url("#arrow")}</style>',
    `<image href="${DOT}"/>`,
    `<foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="${DOT}" /></foreignObject>`,
    '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml" style="color: red">x</p></foreignObject>',
    '<use href="#shape"/>'
  ])('should leave %s as it is', inside => {
    expect(clean(inside)).toContain(inside);
  });

  it.each([
    'not even XML',
    '<p>x</p>',
    '<svg>in no namespace</svg>',
    `<svg xmlns="${SVG}"><rect></svg>`
  ])('should take %s for no drawing', text => {
    expect(safeSvg(text)).toBeNull();
  });

  it('should look at the drawing itself, too', () => {
    const drawn = clean('', 'onload="x()" style="background:url(//e.test/a)"');
    expect(drawn).not.toMatch(/onload|e\.test/);
  });
});

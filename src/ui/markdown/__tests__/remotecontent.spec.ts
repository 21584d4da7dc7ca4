import { Sanitizer } from '@jupyterlab/apputils';
import type { RenderMimeRegistry } from '@jupyterlab/rendermime';

import { RenderedBlocks } from '../renderedblocks';
import { safeRegistry } from '../sanitizer';
import { fetchedBy, LabsMarkdown, rendered } from './labrenders';
import forms from './remotecontent.json';

jest.mock('../../diagrams/shareddrawing', () => ({ sharedDrawing: {} }));

const DRAWN =
  '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>';

interface IForm {
  readonly text: string;
  readonly asks: boolean;
  readonly draws?: boolean;
}

const FORMS: readonly IForm[] = forms;

/** What only this side knows of: the server counts all of it, or none. */
const MORE: readonly string[] = [
  '<a href="https://e.test/" ping="https://e.test/ping">x</a>',
  '<img src="data:image/png;base64,AA" srcset="data:image/png;base64,AA 1x, https://e.test/a 2x">',
  '<img src="data:image/png;base64,AA" lowsrc="https://e.test/a" longdesc="https://e.test/b">',
  '<img src=" data:image/png;base64,AA">',
  '<img src="/hub/logout">',
  '<img src="api/contents">',
  '![x](/hub/logout)',
  '<p style="color: url(https://e.test/a)">x</p>',
  '<p style="color: rgb(1,2,3); background: url(https://e.test/a)">x</p>',
  '<p style="--x: url(https://e.test/a); color: var(--x)">x</p>',
  '<p style="cursor: url(https://e.test/a), auto">x</p>',
  '<p style="content: image-set(\'https://e.test/a\' 1x)">x</p>',
  '<p style="list-style: url(https://e.test/a)">x</p>',
  '<q cite="https://e.test/a">x</q>',
  '<area href="https://e.test/a" shape="default">',
  '<math href="https://e.test/a"><mi>x</mi></math>'
];

describe('JupyterLab', () => {
  it.each(FORMS)('should ask for something, or not, for %j', async form => {
    // What the server's table says, and its tests hold it to.
    const lab = new LabsMarkdown();
    const node = await rendered(lab.registry(), form.text);
    expect(fetchedBy(node).length > 0).toBe(form.asks);
    expect(lab.diagrams.length > 0).toBe(form.draws ?? false);
  });
});

describe('what a model or a file says', () => {
  const texts = [...FORMS.map(({ text }) => text), ...MORE];

  it('should be many texts', () => {
    expect(texts.length).toBeGreaterThan(140);
  });

  it.each(texts)('should fetch nothing for %j', async text => {
    const lab = new LabsMarkdown();
    const node = await shown(lab.registry(new Sanitizer()), text);
    expect(fetchedBy(node)).toEqual([]);
    expect(lab.diagrams).toEqual([]);
    expect(node.querySelectorAll(ACTIVE)).toHaveLength(0);
    node.querySelectorAll('img').forEach(({ src }) => {
      expect(src).toMatch(/^data:image\//);
    });
  });

  it.each(texts)(
    'should fetch nothing for %j though Lab takes nothing out',
    async text => {
      const lab = new LabsMarkdown();
      const lax = Object.assign(new Sanitizer(), {
        sanitize: (html: string) => html
      });
      const node = await shown(lab.registry(lax), text);
      expect(fetchedBy(node)).toEqual([]);
      expect(node.querySelectorAll(ACTIVE)).toHaveLength(0);
      expect(node.innerHTML).not.toMatch(/ on[a-z]+=| ping=/);
    }
  );

  it('should have links that are opened apart, and say where they lead', async () => {
    const node = await shown(
      new LabsMarkdown().registry(),
      '[the bank](https://e.test/ "https://bank.test/") [below](#below)'
    );
    const [link, below] = node.querySelectorAll('a');
    expect(link?.title).toBe('https://e.test/');
    expect(link?.target).toBe('_blank');
    expect(link?.relList.contains('noreferrer')).toBe(true);
    expect(link?.relList.contains('noopener')).toBe(true);
    expect(link?.referrerPolicy).toBe('no-referrer');
    expect(below?.title).toBe('');
  });

  it('should have the browser look up no host before a click', async () => {
    await shown(new LabsMarkdown().registry(), 'x');
    await shown(new LabsMarkdown().registry(), 'y');
    const found = document.head.querySelectorAll(
      'meta[http-equiv="x-dns-prefetch-control"][content="off"]'
    );
    expect(found).toHaveLength(1);
  });
});

const ACTIVE =
  'iframe, object, embed, form, link, script, style, base, meta, video, audio, source, svg, input[type="image"]';

/** The text as a view of ours shows it. */
async function shown(
  rendermime: RenderMimeRegistry,
  text: string
): Promise<HTMLElement> {
  const blocks = new RenderedBlocks(safeRegistry(rendermime, null), {
    draw: () => Promise.resolve({ svg: DRAWN, title: '', description: '' })
  });
  const widget = await blocks.render(text, () => true);
  blocks.dispose();
  if (widget === null) {
    throw new Error('Nothing was rendered.');
  }
  return widget.node;
}

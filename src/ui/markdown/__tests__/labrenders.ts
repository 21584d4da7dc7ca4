import { Sanitizer } from '@jupyterlab/apputils';
import { EditorLanguageRegistry } from '@jupyterlab/codemirror';
import { createMarkdownParser } from '@jupyterlab/markedparser-extension';
import type { IRenderMime } from '@jupyterlab/rendermime';
import {
  RenderMimeRegistry,
  standardRendererFactories
} from '@jupyterlab/rendermime';

/**
 * JupyterLab's own Markdown, and the diagrams that it would have drawn in the page.
 */
export class LabsMarkdown {
  constructor() {
    // The parser is one for the page, and so is what it draws with.
    diagrams.length = 0;
  }

  get diagrams(): readonly string[] {
    return diagrams;
  }

  /**
   * What JupyterLab renders Markdown with.
   */
  registry(
    sanitizer: IRenderMime.ISanitizer = new Sanitizer()
  ): RenderMimeRegistry {
    return new RenderMimeRegistry({
      initialFactories: standardRendererFactories,
      markdownParser: PARSER,
      sanitizer
    });
  }
}

const diagrams: string[] = [];

const PARSER = createMarkdownParser(new EditorLanguageRegistry(), {
  blocks: [
    {
      languages: ['mermaid'],
      rank: 0,
      walk: source => {
        diagrams.push(source);
        return Promise.resolve();
      },
      render: () => '<figure class="drawn"></figure>'
    }
  ]
});

/**
 * A text as it is put into the page.
 */
export async function rendered(
  registry: RenderMimeRegistry,
  text: string
): Promise<HTMLElement> {
  const renderer = registry.createRenderer('text/markdown');
  await renderer.renderModel(
    registry.createModel({ data: { 'text/markdown': text }, trusted: false })
  );
  const { node } = renderer;
  renderer.dispose();
  return node;
}

/**
 * What a browser would fetch for these nodes: all that is not a link, and names
 * another host or style sheet.
 */
export function fetchedBy(node: HTMLElement): string[] {
  return [...node.querySelectorAll('*')].flatMap(element =>
    [...element.attributes]
      .filter(({ name, value }) =>
        name === 'style'
          ? /url|image-set|src\s*\(/i.test(value)
          : FETCHED.has(name) &&
            !(name === 'href' && element.localName === 'a') &&
            isElsewhere(value)
      )
      .map(({ name, value }) => `<${element.localName} ${name}="${value}">`)
  );
}

const FETCHED: ReadonlySet<string> = new Set([
  'action',
  'background',
  'data',
  'formaction',
  'href',
  'ping',
  'poster',
  'src',
  'srcset',
  'xlink:href'
]);

function isElsewhere(value: string): boolean {
  return value
    .split(',')
    .map(part => part.trim())
    .some(part => {
      try {
        const { protocol, host } = new URL(part, 'http://here.test/lab/');
        return /^(?:https?|ftp|wss?):$/.test(protocol) && host !== 'here.test';
      } catch {
        return true;
      }
    });
}

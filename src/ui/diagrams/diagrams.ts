/**
 * A diagram in a rendered text, and where its buttons go.
 */
export interface IDiagram {
  readonly host: HTMLElement;
  readonly source: string;

  /**
   * As a data URL.
   */
  readonly picture: string;
  readonly description: string;
}

/**
 * What Lab draws in place of the source of a diagram.
 */
export const DRAWN = '.jp-RenderedMermaid:not(.jp-mod-warning) figure';

const TOOLS = 'jp-hdspAgent-diagram-tools';

/**
 * The diagrams in a rendered text, each with room for buttons.
 */
export function diagramsOf(node: HTMLElement): readonly IDiagram[] {
  return [...node.querySelectorAll<HTMLElement>(DRAWN)].flatMap(figure => {
    const image = figure.querySelector('img');
    return image
      ? [
          {
            host: toolsOf(figure),
            source: figure.querySelector('pre')?.textContent ?? '',
            // It follows the theme.
            get picture() {
              return image.src;
            },
            description: image.alt
          }
        ]
      : [];
  });
}

function toolsOf(figure: HTMLElement): HTMLElement {
  const before = figure.querySelector<HTMLElement>(`:scope > .${TOOLS}`);
  if (before) {
    return before;
  }
  const tools = document.createElement('div');
  tools.className = TOOLS;
  figure.prepend(tools);
  return tools;
}

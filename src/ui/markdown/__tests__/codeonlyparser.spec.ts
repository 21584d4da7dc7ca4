import { CodeOnlyParser } from '../codeonlyparser';
import { LabsMarkdown } from './labrenders';

describe('CodeOnlyParser', () => {
  it.each([
    '```mermaid\nA\n```',
    '~~~mermaid\nA\n~~~',
    '`````  mermaid  \nA\n`````',
    '> ```mermaid\n> A\n> ```',
    '- x\n  - y\n\n    ```mermaid\n    A\n    ```',
    '1. ```mermaid\n   A\n   ```',
    '```mermaid\r\nA\r\n```',
    '```mermaid\nA',
    '   ```mermaid\nA\n```',
    'x\n```mermaid\nA\n```',
    '<div>\n\n```mermaid\nA\n```\n\n</div>',
    '```\t mermaid\nA\n```'
  ])('should leave %j as code', async text => {
    const lab = new LabsMarkdown();
    const parser = lab.registry().markdownParser;
    if (!parser) {
      throw new Error('There is no parser.');
    }
    const before = await parser.render(text);
    const isDrawn = lab.diagrams.length > 0;
    const html = await new CodeOnlyParser(parser).render(text);
    expect(isDrawn).toBe(true);
    expect(before).toContain('class="drawn"');
    expect(lab.diagrams).toHaveLength(1);
    expect(html).toContain('<code class="language-mermaid">');
  });

  it('should change nothing else', async () => {
    const parser = new LabsMarkdown().registry().markdownParser;
    const text = [
      '# Mermaid',
      'mermaid and ```MERMAID mermaid``` and [mermaid](https://mermaid.test)',
      '```python\nmermaid = "```mermaid"\n```',
      '```Mermaid\nA\n```'
    ].join('\n\n');
    if (!parser) {
      throw new Error('There is no parser.');
    }
    expect(await new CodeOnlyParser(parser).render(text)).toBe(
      await parser.render(text)
    );
  });
});

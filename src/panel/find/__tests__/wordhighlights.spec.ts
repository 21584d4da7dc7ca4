import { patternOf, rangesIn, WordHighlights } from '../wordhighlights';

// What JupyterLab's tests put there does nothing, and jsdom lays nothing out.
beforeAll(() => {
  jest.spyOn(document, 'createRange').mockImplementation(() =>
    Object.assign(Document.prototype.createRange.call(document), {
      getBoundingClientRect: () => new DOMRect()
    })
  );
  globalThis.DOMRect ??= class {
    top = 0;
    bottom = 0;
  } as unknown as typeof DOMRect;
});

afterAll(() => {
  jest.restoreAllMocks();
});

describe('rangesIn()', () => {
  function found(html: string, text: string): string[] {
    const row = document.createElement('article');
    row.innerHTML = html;
    const pattern = patternOf(text);
    return pattern
      ? rangesIn(row, pattern, 100).map(range => range.toString())
      : [];
  }

  it('should find a text whatever its capitals', () => {
    expect(found('<p>Ages and AGES</p>', 'ages')).toEqual(['Ages', 'AGES']);
  });

  it('should find what stands in several pieces', () => {
    expect(found('<p>np.<b>ze</b>ros(3)</p>', 'np.zeros')).toEqual([
      'np.zeros'
    ]);
    expect(found('<p>a <i>long</i>\u00a0word</p>', 'long word')).toEqual([
      'long\u00a0word'
    ]);
  });

  it('should not find what only seems to be one word', () => {
    expect(found('<p>foot</p><p>ball</p>', 'football')).toEqual([]);
  });

  it('should take signs for what they are', () => {
    expect(found('<p>a.b axb (c) /d</p>', 'a.b')).toEqual(['a.b']);
    expect(found('<p>a.b (c)</p>', '(c)')).toEqual(['(c)']);
    expect(found('<p>1 / 2</p>', '/ 2')).toEqual(['/ 2']);
  });

  it('should find nothing where there is nothing to find', () => {
    expect(found('<p>text</p>', '  ')).toEqual([]);
  });

  it('should leave out what is there to be pressed', () => {
    expect(
      found('<button>Copy</button><p role="status">copy</p><p>copy</p>', 'copy')
    ).toEqual(['copy']);
  });

  it('should find no more than it is told to', () => {
    const row = document.createElement('article');
    row.append('aaaa');
    expect(rangesIn(row, /a/giu, 3)).toHaveLength(3);
  });
});

describe('WordHighlights', () => {
  let box: HTMLElement;
  let marks: WordHighlights;
  let registry: Map<string, unknown>;

  beforeEach(() => {
    registry = new Map();
    Object.assign(globalThis, {
      CSS: { highlights: registry },
      Highlight: class {
        constructor(...ranges: Range[]) {
          return ranges.map(range => range.toString());
        }
      }
    });
    box = document.createElement('div');
    box.innerHTML =
      '<article data-ts="1"><p>ages</p></article>' +
      '<article data-ts="2"><p>Ages, ages</p></article>';
    document.body.append(box);
    marks = new WordHighlights(box);
  });

  afterEach(() => {
    marks.dispose();
    box.remove();
    Object.assign(globalThis, { CSS: undefined, Highlight: undefined });
  });

  function rows(): (string | undefined)[] {
    return [...box.querySelectorAll<HTMLElement>('[data-found]')].map(
      ({ dataset }) => dataset.ts
    );
  }

  it('should mark all places, and those of one row otherwise', () => {
    marks.show('ages', 2);
    expect(registry.get('hdsp-agent-found')).toEqual(['ages']);
    expect(registry.get('hdsp-agent-found-current')).toEqual(['Ages', 'ages']);
    expect(rows()).toEqual(['2']);
  });

  it('should mark what comes into the box', async () => {
    marks.show('ages', null);
    const row = document.createElement('article');
    row.dataset.ts = '3';
    row.append('more ages');
    box.append(row);
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    expect(registry.get('hdsp-agent-found')).toHaveLength(4);
  });

  it('should unfold what hides the words of the row one is at', async () => {
    const row = document.createElement('article');
    row.dataset.ts = '3';
    row.innerHTML =
      '<button class="jp-hdspAgent-chat-fold-summary" aria-expanded="false"></button>';
    const fold = row.firstElementChild as HTMLButtonElement;
    fold.addEventListener('click', () => {
      fold.setAttribute('aria-expanded', 'true');
      row.append('hidden words');
    });
    box.append(row);
    marks.show('hidden', 3);
    expect(fold.getAttribute('aria-expanded')).toBe('false');
    marks.reveal();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    expect(registry.get('hdsp-agent-found-current')).toEqual(['hidden']);
  });

  it('should leave the page as it was', () => {
    marks.show('ages', 2);
    marks.dispose();
    expect(registry.size).toBe(0);
    expect(rows()).toEqual([]);
  });

  it('should still show the row where a browser colours nothing', () => {
    Object.assign(globalThis, { CSS: undefined, Highlight: undefined });
    marks.show('ages', 1);
    expect(rows()).toEqual(['1']);
  });
});

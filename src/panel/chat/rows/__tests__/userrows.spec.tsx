import { Clipboard } from '@jupyterlab/apputils';

import type { ExtensionState } from '../../../../generated/wire';
import { openedDocuments } from '../../../__tests__/openeddocuments';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows } from './shownrows';

const CELL_3 = 'Cell 3';
const PLOT_IT = 'Plot it';
const BEFORE = 'Before';
const A_PAGE = 'A page';
const NO_PAGE = 'No page';

describe('rows of what is said', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  describe('what the person said', () => {
    it('should be told from what the agent says', async () => {
      await rows.show({ say: 'text', text: 'Gladly' });
      expect(rows.row(1).getAttribute('aria-label')).toBe('You');
      expect(rows.row(2).getAttribute('aria-label')).toBe('Agent');
    });

    it('should show what went along as chips, and not as text', async () => {
      await rows.show({
        say: 'user_feedback',
        text: 'Look at this',
        attachments: [
          {
            kind: 'cell',
            path: 'a.ipynb',
            cellId: 'c',
            label: CELL_3,
            content: 'x = 1'
          }
        ]
      });
      expect(rows.row(2).textContent).toContain('Look at this');
      expect(rows.row(2).textContent).not.toContain('x = 1');
      await rows.click('Cell 3');
      expect(rows.row(2).textContent).toContain('x = 1');
    });

    it('should show the same of what earlier versions wrote into the text', async () => {
      await rows.show({
        say: 'user_feedback',
        text: 'Look at this\n\n<attachment kind="cell" path="a.ipynb" cellId="c" label="Cell 3">\nx = 1\n</attachment>'
      });
      expect(rows.row(2).textContent).not.toContain('<attachment');
      await rows.click('Cell 3');
      expect(rows.row(2).textContent).toContain('x = 1');
    });

    it('should open a conversation and a checkpoint that went along', async () => {
      const opened: unknown[] = [];
      page.commands.addCommand('hdsp-agent:open', { execute: () => undefined });
      page.commands.addCommand('hdsp-agent:open-time-line', {
        execute: args => opened.push(args)
      });
      await rows.show({
        say: 'user_feedback',
        text: 'And these?',
        attachments: [
          { kind: 'conversation', path: 'other', label: PLOT_IT },
          { kind: 'checkpoint', path: 'abc', label: BEFORE },
          { kind: 'page', path: 'https://a.org/x', label: A_PAGE },
          { kind: 'page', path: 'javascript:alert(1)', label: NO_PAGE }
        ]
      });
      await rows.click('Before');
      expect(opened).toMatchObject([{ checkpoint: 'abc', against: 'now' }]);
      await rows.click('Plot it');
      expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'other' }]);
      const links = [...rows.row(2).querySelectorAll('a')];
      expect(links.map(link => link.getAttribute('href'))).toEqual([
        'https://a.org/x',
        null
      ]);
    });

    it('should show a cell that is to be fixed as a chip alone', async () => {
      const label = 'Fix cell 5: NameError: name &quot;x&quot; is not defined';
      await rows.show({
        say: 'user_feedback',
        text: `Fix cell 5: NameError: name "x" is not defined\n\n<attachment kind="error" path="a.ipynb" cellId="c" label="${label}">\nTraceback\n</attachment>`
      });
      const row = rows.row(2);
      expect(row.querySelector('.jp-hdspAgent-user-text')).toBeNull();
      expect(row.textContent).not.toContain('Traceback');
      await rows.click('Fix cell 5: NameError: name "x" is not defined');
      expect(row.textContent).toContain('Traceback');
    });

    it('should mark what else is mentioned in it, which opens nothing', async () => {
      const text =
        '@problems, @git-changes를 me@problems @problemsolver @git-changes.md\n(@abc1234 @abc1234! @abc123 @abcdefg';
      await rows.show({ say: 'user_feedback', text });
      const said = rows.row(2).querySelector('.jp-hdspAgent-user-text');
      expect(said?.textContent).toBe(text);
      const marks = [...(said?.querySelectorAll('.jp-hdspAgent-place') ?? [])];
      expect(marks.map(({ textContent }) => textContent)).toEqual([
        '@problems',
        '@git-changes',
        '@abc1234'
      ]);
      expect(said?.querySelector('button')).toBeNull();
    });

    it('should open the files that are mentioned in it, and leave the text as it is', async () => {
      page.dispose();
      const { documents, opened } = openedDocuments();
      rows = new ShownRows({ documents });
      ({ page } = rows);
      const text =
        'See @/a\\ b/sales.ipynb, @/data/ and me@/x.py\n(@/c) @/plot.py.';
      await rows.show({ say: 'user_feedback', text });
      const said = rows.row(2).querySelector('.jp-hdspAgent-user-text');
      expect(said?.textContent).toBe(text);
      const links = [...(said?.querySelectorAll('button') ?? [])];
      expect(links.map(({ textContent }) => textContent)).toEqual([
        '@/a\\ b/sales.ipynb',
        '@/plot.py'
      ]);
      page.act(() => links[0].click());
      await page.settle(() => page.answer('findFile', null, true));
      expect(page.sent('findFile')).toMatchObject([
        { path: 'a b/sales.ipynb' }
      ]);
      expect(opened).toEqual(['a b/sales.ipynb']);
    });

    it('should show pictures that are in it, and fetch none', async () => {
      await rows.show({
        say: 'user_feedback',
        text: 'See',
        images: ['data:image/png;base64,AAAA', 'https://elsewhere.test/a.png']
      });
      const images = [...rows.row(2).querySelectorAll('img')];
      expect(images.map(({ src }) => src)).toEqual([
        'data:image/png;base64,AAAA'
      ]);
      expect(images[0].alt).toBe('Image 1 of 1');
    });
  });

  describe('thoughts', () => {
    it('should be folded, with how long they took', async () => {
      await rows.show(
        { ts: 1_000, say: 'reasoning', text: 'Hmm, a plot.' },
        { ts: 8_000, say: 'text', text: 'So' }
      );
      expect(rows.row(1_000).textContent).toBe('Thought for 7\u00a0s');
      await rows.click('Thought for 7\u00a0s');
      expect(rows.row(1_000).textContent).toContain('Hmm, a plot.');
    });

    it('should be open where the person wants that, until they fold them', async () => {
      await rows.show(
        { ts: 1_000, say: 'reasoning', text: 'Hmm, a plot.' },
        { ts: 8_000, say: 'text', text: 'So' }
      );
      page.publish({
        type: 'settingsUpdated',
        settings: {
          reasoningBlockCollapsed: false
        } as NonNullable<ExtensionState['settings']>,
        fixed: []
      });
      await page.settle();
      expect(rows.row(1_000).textContent).toContain('Hmm, a plot.');
      await rows.click('Thought for 7\u00a0s');
      expect(rows.row(1_000).textContent).not.toContain('Hmm, a plot.');
    });
  });

  it('should be said to be copied by the one place that is read aloud', async () => {
    const copy = jest
      .spyOn(Clipboard, 'copyToSystem')
      .mockImplementation(() => undefined);
    await rows.show(
      { say: 'text', text: 'First' },
      { ts: 3, say: 'text', text: 'Second' }
    );
    expect(
      page.findAll('[data-kind="text"] .jp-hdspAgent-answer [role="status"]')
    ).toEqual([]);
    const said = () =>
      page
        .findAll('[role="status"]')
        .filter(({ textContent }) => textContent === 'Copied');
    for (let time = 0; time < 2; time++) {
      await page.settle(() =>
        rows
          .row(3)
          .querySelector<HTMLElement>('[aria-label="Copy as Markdown"]')
          ?.click()
      );
      expect(said()).toHaveLength(1);
      page.wait(2_100);
      expect(said()).toHaveLength(0);
    }
    expect(copy.mock.calls).toEqual([['Second'], ['Second']]);
    copy.mockRestore();
  });
});

import type { CellExecuted, ClineMessage } from '../../../../generated/wire';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows } from '../../rows/__tests__/shownrows';

describe('rows of cells that run', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  const notebook = { path: 'a.ipynb', cellId: 'c' };

  it('should show how they fare, what they say, and how they fail', async () => {
    const run = { path: 'a.ipynb', cellId: 'c', number: 3, runId: 'r' };
    await rows.show(
      {
        say: 'cell_executed',
        partial: true,
        notebook,
        text: JSON.stringify({ ...run, state: 'running' })
      },
      { ts: 3, say: 'command_output', notebook, text: 'printed' },
      { ts: 4, say: 'error', notebook, text: 'Traceback: line 1' }
    );
    expect(rows.row(2).textContent).toContain('Cell 3');
    expect(rows.row(2).textContent).toContain('Running');
    expect(rows.row(2).textContent).toContain('printed');
    await rows.update({
      ts: 2,
      type: 'say',
      say: 'cell_executed',
      notebook,
      images: ['data:image/png;base64,AAAA'],
      text: JSON.stringify({
        ...run,
        state: 'error',
        executionCount: 7,
        durationMs: 1_500,
        error: 'ValueError: no'
      })
    });
    expect(rows.row(2).textContent).toContain('[7]');
    expect(rows.row(2).textContent).toContain('Failed after 1.5\u00a0s');
    expect(rows.row(2).textContent).toContain('ValueError: no');
    expect(rows.row(2).querySelectorAll('img')).toHaveLength(1);
    await rows.click('Traceback');
    expect(rows.row(2).textContent).toContain('Traceback: line 1');
    expect(page.find('[data-ts="4"]')).toBeNull();
  });

  describe('of what they show', () => {
    const show = (
      result: Partial<CellExecuted>,
      more: Partial<ClineMessage> = {}
    ) =>
      rows.show({
        say: 'cell_executed',
        notebook,
        text: JSON.stringify({
          path: 'a.ipynb',
          runId: 'r',
          state: 'ok',
          ...result
        }),
        ...more
      });
    const text = () => rows.row(2).textContent ?? '';
    const lines = (count: number) =>
      Array.from({ length: count }, (_, at) => `line-${at + 1};`).join('\n');

    it.each([
      '<Figure size 640x480 with 1 Axes>',
      '<Figure size 640x480 with 1 Axes>\n[image/png]',
      '[image/png]'
    ])('should not name a picture that is shown: %s', async result => {
      const images = ['data:image/png;base64,AAAA'];
      await show({ result }, { images });
      expect(rows.row(2).querySelectorAll('img')).toHaveLength(1);
      expect(text()).not.toContain('Figure');
      expect(text()).not.toContain('image/png');
    });

    it('should say what else is beside a picture, and name one that is not shown', async () => {
      const images = ['data:image/png;base64,AAAA'];
      await show({ result: '42' }, { images });
      expect(text()).toContain('42');
      page.dispose();
      rows = new ShownRows();
      ({ page } = rows);
      await show({ result: '<Figure size 640x480 with 1 Axes>' });
      expect(text()).toContain('<Figure size');
    });

    it('should show a table as one, with nothing in it that does anything', async () => {
      const table = `<style>td { color: red }</style><table class="dataframe"><tr><th>price</th></tr><tr><td onclick="x()">3 € <img src="https://elsewhere.test/a.png" alt="spy"></td></tr></table>`;
      await show({ result: '   price\n0      3', table });
      const shown = rows.row(2).querySelector('[role="group"] table');
      expect(shown?.textContent).toContain('3 €');
      expect(
        rows.row(2).querySelector('style, img, [onclick], pre')
      ).toBeNull();
    });

    it('should show the first rows of a long table, and all of them if one wants that', async () => {
      const table = `<table>${'<tr><td>1</td></tr>'.repeat(61)}</table>`;
      await show({ result: '1', table });
      const host = rows.row(2).querySelector<HTMLElement>('[role="group"]');
      expect(host?.dataset.folded).toBe('true');
      await rows.click('Show all (61 rows)');
      expect(host?.dataset.folded).toBe('false');
    });

    it('should show twelve lines of a value, and all of them if one wants that', async () => {
      await show({ result: lines(12) });
      expect(text()).toContain('line-12;');
      expect(text()).not.toContain('Show all');
      page.dispose();
      rows = new ShownRows();
      ({ page } = rows);
      await show({ result: lines(13) });
      expect(text()).toContain('line-12;');
      expect(text()).not.toContain('line-13;');
      await rows.click('Show all (13 lines)');
      expect(text()).toContain('line-13;');
    });

    it('should show the last twelve lines of what they print', async () => {
      await rows.show(
        {
          say: 'cell_executed',
          notebook,
          text: JSON.stringify({ path: 'a.ipynb', runId: 'r', state: 'ok' })
        },
        {
          ts: 3,
          say: 'command_output',
          notebook,
          text: `${lines(20)}\n`
        }
      );
      expect(text()).toContain('line-9;');
      expect(text()).not.toContain('line-8;');
      await rows.click('Show all (20 lines)');
      expect(text()).toContain('line-1;');
    });
  });

  it('should say what became of the kernel', async () => {
    await rows.show({
      say: 'kernel_status',
      text: JSON.stringify({
        path: 'a.ipynb',
        change: 'died',
        kernel: 'Python 3'
      })
    });
    expect(rows.row(2).textContent).toContain(
      'Python 3 died. Its variables are gone.'
    );
  });
});

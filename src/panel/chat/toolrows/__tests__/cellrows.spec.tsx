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

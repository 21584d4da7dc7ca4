import { Widget } from '@lumino/widgets';

import type { VerificationView, VerifiedCell } from '../../generated/rest';
import { OpenedPanel } from '../../panel/__tests__/openedpanel';
import { RestServer, refusal } from '../../panel/history/__tests__/restserver';
import { CommandIDs } from '../../ui/commandids';
import { VerifyWidget } from '../verifywidget';

const PATH = 'work/my prices.ipynb';

function running(others: Partial<VerificationView> = {}): VerificationView {
  return {
    id: 'v1',
    path: PATH,
    state: 'running',
    run: 1,
    cell: 2,
    cells: 5,
    ...others
  };
}

function cell(
  number: number,
  others: Partial<VerifiedCell> = {}
): VerifiedCell {
  return { number, id: `c${number}`, state: 'same', detail: '', ...others };
}

function done(cells: VerifiedCell[]): VerificationView {
  return running({
    state: 'done',
    report: {
      kernel: 'python3',
      isProved: cells.every(({ state }) => state !== 'differs'),
      runs: 1,
      seconds: 3.2,
      cells
    }
  });
}

describe('the verification of a notebook', () => {
  let page: OpenedPanel;
  let rest: RestServer;
  let widget: VerifyWidget;
  let answer: VerificationView | Response;
  let saved: string[];
  let isSaved = true;

  beforeEach(async () => {
    rest = new RestServer();
    isSaved = true;
    page = new OpenedPanel();
    page.begin();
    answer = running({ run: 0, cell: 0, cells: 0 });
    rest.answers.set('POST verifications', () => answer);
    rest.answers.set('GET verifications/v1', () => answer);
    rest.answers.set('POST verifications/v1/stop', () =>
      running({ state: 'stopped' })
    );
    saved = [];
    widget = new VerifyWidget(page.panel.services, PATH, path => {
      saved.push(path);
      return Promise.resolve(isSaved);
    });
    await page.settle(() => Widget.attach(widget, document.body));
    await page.settle(() => void widget.model.start());
  });

  afterEach(() => {
    page.act(() => widget.dispose());
    page.dispose();
    rest.dispose();
  });

  const text = () => widget.node.textContent ?? '';
  const button = (label: string) =>
    [...widget.node.querySelectorAll('button')].find(
      ({ textContent }) => textContent === label
    );
  const later = () =>
    page.during(async () => {
      await jest.advanceTimersByTimeAsync(600);
    });

  it('should tell what runs', async () => {
    expect(text()).toContain('Copying the folder and starting a kernel…');
    answer = running();
    await later();
    expect(text()).toContain('Running the notebook…');
    expect(text()).toContain('Cell 2 of 5');
    expect(widget.node.querySelector('progress')?.value).toBe(1);
    answer = running({ run: 2, cell: 1 });
    await later();
    expect(text()).toContain('The notebook runs once more');
  });

  it('should tell that all is as saved', async () => {
    answer = done([cell(1), cell(2), cell(4, { state: 'skipped' })]);
    await later();
    expect(text()).toMatch(
      /The outputs of 2 cells came out as they are saved\. It took 3\.2\ss\./
    );
    expect(button('Let the agent fix it…')).toBeUndefined();
    const asked = rest.asked.length;
    await later();
    expect(rest.asked).toHaveLength(asked);
  });

  it('should tell what differs and why, and let the agent fix it', async () => {
    const asked: unknown[] = [];
    page.commands.addCommand(CommandIDs.ask, {
      execute: args => asked.push(args)
    });
    answer = done([
      cell(1),
      cell(3, { state: 'differs', cause: 'order', detail: '1 is 2 now.' })
    ]);
    await later();
    expect(text()).toContain('1 of 2 cells shows something else');
    expect(text()).toContain('The cells had run in another order.');
    await page.settle(() => button('Let the agent fix it…')?.click());
    expect(asked).toHaveLength(1);
    const { text: words } = asked[0] as { text: string };
    expect(words).toContain('@/work/my\\ prices.ipynb');
    expect(words).toContain('- Cell 3: 1 is 2 now.');
  });

  it('should be stopped, and begun again', async () => {
    answer = running();
    await later();
    await page.settle(() => button('Stop')?.click());
    expect(text()).toContain('The verification was stopped.');
    await page.settle(() => button('Verify again')?.click());
    expect(rest.of('POST verifications')).toHaveLength(2);
    expect(saved).toEqual([PATH, PATH]);
    expect(button('Stop')).toBeDefined();
  });

  it('should say why there is no report', async () => {
    const error = {
      code: 'unavailable',
      message: 'Cell 4 ran longer than 600 seconds.',
      params: { cell: 4, why: 'cell_too_long' }
    };
    answer = running({ state: 'failed', error });
    await later();
    expect(text()).toContain('Cell 4 ran longer than 10 minutes.');
    expect(button('Verify again')).toBeDefined();
  });

  it('should say why nothing is known, and go on when it is', async () => {
    answer = refusal('unavailable', 'Not now.', 503);
    await later();
    const alert = widget.node.querySelector('[role="alert"]');
    expect(alert).not.toBeNull();
    // It stays until something is known, and is asked for less and less.
    await later();
    expect(widget.node.querySelector('[role="alert"]')).toBe(alert);
    answer = done([cell(1)]);
    await later();
    await later();
    await later();
    expect(widget.node.querySelector('[role="alert"]')).toBeNull();
    expect(text()).toContain('came out as it is saved');
  });

  it('should end when the server does not know of it any more', async () => {
    answer = refusal('not_found', 'Not known.', 404);
    await later();
    expect(button('Verify again')).toBeDefined();
    const asked = rest.asked.length;
    await later();
    await later();
    expect(rest.asked).toHaveLength(asked);
  });

  it('should verify nothing that could not be saved', async () => {
    answer = done([cell(1)]);
    await later();
    isSaved = false;
    const asked = rest.asked.length;
    await page.settle(() => button('Verify again')?.click());
    expect(rest.asked).toHaveLength(asked);
    expect(button('Verify again')).toBeDefined();
  });

  it('should verify a notebook again by the name that it has now', async () => {
    const path = 'work/renamed.ipynb';
    rest.answers.set('GET verifications/old', () => ({
      ...done([cell(1)]),
      id: 'old',
      path
    }));
    answer = done([cell(1)]);
    await later();
    await page.settle(() => void widget.model.show('old'));
    isSaved = false;
    await page.settle(() => button('Verify again')?.click());
    isSaved = true;
    await page.settle(() => button('Verify again')?.click());
    expect(saved).toEqual([PATH, path, path]);
    expect(rest.of('POST verifications').at(-1)?.body).toEqual({ path });
  });

  it('should stop what runs when it is closed', async () => {
    answer = running();
    await later();
    page.act(() => widget.dispose());
    await page.settle();
    expect(rest.of('POST verifications/v1/stop')).toHaveLength(1);
  });
});

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

import type { VerificationView } from '../../generated/rest';
import { OpenedPanel } from '../../panel/__tests__/openedpanel';
import { RestServer } from '../../panel/history/__tests__/restserver';
import { CommandIDs } from '../../ui/commandids';
import { verifyPlugin } from '../verifyplugin';

const PATH = 'work/prices.ipynb';

/** A verification that ended. */
const DONE: VerificationView = {
  id: 'v1',
  path: PATH,
  state: 'done',
  run: 0,
  cell: 0,
  cells: 0,
  endedTs: Date.UTC(2026, 0, 2, 12),
  report: {
    kernel: 'python3',
    isProved: false,
    runs: 2,
    seconds: 3.2,
    cells: [
      { number: 1, id: 'a', state: 'same', detail: '' },
      { number: 2, id: 'b', state: 'differs', cause: 'order', detail: 'x' }
    ]
  }
};

describe('the commands of verifications', () => {
  let page: OpenedPanel;
  let rest: RestServer;
  let main: Panel;
  let model: { dirty: boolean; collaborative: boolean };
  let saves: number;

  beforeEach(() => {
    rest = new RestServer();
    rest.answers.set('POST verifications', () => DONE);
    rest.answers.set('GET verifications/v1', () => DONE);
    page = new OpenedPanel();
    page.begin();
    main = new Panel();
    Widget.attach(main, document.body);
    model = { dirty: true, collaborative: false };
    saves = 0;
    const save = () => {
      saves++;
      model.dirty = model.collaborative;
      return Promise.resolve();
    };
    const notebook = {
      id: 'notebook',
      context: { path: PATH, localPath: PATH, model, save }
    } as unknown as NotebookPanel;
    const tracker = {
      currentWidget: notebook,
      currentChanged: new Signal({}),
      find: (is: (panel: NotebookPanel) => boolean) =>
        is(notebook) ? notebook : undefined
    };
    const shell = {
      add: (widget: Widget) => main.addWidget(widget),
      activateById: () => undefined
    };
    void verifyPlugin.activate(
      { commands: page.commands, shell } as unknown as JupyterFrontEnd,
      { services: page.panel.services },
      tracker,
      null
    );
  });

  afterEach(() => {
    page.act(() => main.dispose());
    page.dispose();
    rest.dispose();
  });

  const run = (command: string, args = {}) =>
    page.during(async () => {
      await page.commands.execute(command, args);
      await jest.advanceTimersByTimeAsync(20);
    });
  const show = () =>
    run(CommandIDs.showVerification, {
      path: PATH,
      verification: 'v1',
      task: 'task'
    });
  const button = (label: string) =>
    [...main.node.querySelectorAll('button')].find(
      ({ textContent }) => textContent === label
    );

  it('should save what is not saved, and verify it', async () => {
    await run(CommandIDs.verifyNotebook);
    expect(saves).toBe(1);
    expect(rest.of('POST verifications')).toHaveLength(1);
  });

  it('should leave a shared notebook to the server, which knows what it is now', async () => {
    model.collaborative = true;
    await run(CommandIDs.verifyNotebook);
    expect(saves).toBe(0);
    expect(rest.of('POST verifications')).toHaveLength(1);
  });

  it('should show a report that is kept, with what can be done about it', async () => {
    const asked: unknown[] = [];
    page.commands.addCommand(CommandIDs.ask, {
      execute: args => asked.push(args)
    });
    await show();
    const [request] = rest.of('GET verifications/v1');
    expect(request.query).toEqual({ task: 'task' });
    expect(rest.of('POST verifications')).toHaveLength(0);
    expect(main.widgets.map(({ title }) => title.label)).toEqual([
      'Report: prices.ipynb'
    ]);
    expect(main.node.textContent).toContain('1 of 2 cells shows something');
    expect(main.node.textContent).toContain('Verified: Jan 2, 2026');
    expect(button('Save the report')).toBeDefined();
    await page.settle(() => button('Let the agent fix it…')?.click());
    expect(asked).toHaveLength(1);
    // The same report is one tab, and another tab is where one verifies.
    await show();
    expect(main.widgets).toHaveLength(1);
    await run(CommandIDs.verifyNotebook);
    expect(main.widgets.map(({ title }) => title.label)).toEqual([
      'Report: prices.ipynb',
      'Verify: prices.ipynb'
    ]);
  });

  it('should say that a report is gone', async () => {
    rest.answers.delete('GET verifications/v1');
    await show();
    expect(main.node.querySelector('[role="alert"]')).not.toBeNull();
    expect(button('Verify again')).toBeDefined();
  });
});

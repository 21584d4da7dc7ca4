import type { Locator } from '@playwright/test';

import type { AgentApi } from './agentapi';
import type { Lab } from './lab';
import { expect, test as labTest } from './lab';
import { PlayedModel } from './model';

export { expect } from './lab';

/**
 * A cell as a test writes it; code unless it says otherwise.
 */
export interface ICell {
  readonly id: string;
  readonly source: string;
  readonly type?: 'code' | 'markdown';
  readonly outputs?: readonly IStoredOutput[];
}

/**
 * A cell as it is in a file.
 */
export interface IStoredCell {
  readonly id: string;
  readonly source: string;
  readonly execution_count?: number | null;
  readonly outputs?: readonly IStoredOutput[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * An output as it is in a file.
 */
export interface IStoredOutput {
  readonly output_type: string;
  readonly text?: string;
  readonly ename?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * Code that waits until the test gives a signal.
 */
export function untilSignal(name: string): string {
  return [
    'import os, time',
    `while not os.path.exists('${name}.signal'):`,
    '    time.sleep(0.02)'
  ].join('\n');
}

/**
 * The notebooks and kernels of a server, behind every page's back.
 */
export class Notebooks {
  constructor(readonly api: AgentApi) {}

  /**
   * Write a notebook for Python.
   */
  async write(path: string, cells: readonly ICell[]): Promise<void> {
    await this.api.jupyter('PUT', `contents/${path}`, {
      type: 'notebook',
      format: 'json',
      content: {
        nbformat: 4,
        nbformat_minor: 5,
        metadata: {
          kernelspec: {
            name: 'python3',
            display_name: 'Python 3 (ipykernel)',
            language: 'python'
          }
        },
        cells: cells.map(({ id, source, type = 'code', outputs = [] }) => ({
          id,
          source,
          cell_type: type,
          metadata: {},
          ...(type === 'code' ? { outputs, execution_count: null } : {})
        }))
      }
    });
  }

  /**
   * The cells in a file.
   */
  async cells(path: string): Promise<IStoredCell[]> {
    return (await this._content(path)).cells;
  }

  /**
   * What a file says about the notebook as a whole.
   */
  async metadata(path: string): Promise<Record<string, unknown>> {
    return (await this._content(path)).metadata;
  }

  /**
   * A cell in a file.
   */
  async cell(path: string, id: string): Promise<IStoredCell | undefined> {
    return (await this.cells(path)).find(cell => cell.id === id);
  }

  /**
   * Whether there is a file.
   */
  async exists(path: string): Promise<boolean> {
    const { content } = await this.api.jupyter<IFolder>('GET', 'contents');
    return content.some(({ name }) => name === path);
  }

  /**
   * All that a cell in a file has printed.
   */
  async printed(path: string, id: string): Promise<string> {
    const cell = await this.cell(path, id);
    return (cell?.outputs ?? []).map(({ text }) => text ?? '').join('');
  }

  /**
   * Let a cell go on that waits for a signal; see {@link untilSignal}.
   */
  async signal(name: string): Promise<void> {
    await this.api.jupyter('PUT', `contents/${name}.signal`, {
      type: 'file',
      format: 'text',
      content: ''
    });
  }

  /**
   * End all kernels.
   */
  async endKernels(): Promise<void> {
    const sessions = await this.api.jupyter<ISession[]>('GET', 'sessions');
    await Promise.all(
      sessions.map(({ id }) => this.api.jupyter('DELETE', `sessions/${id}`))
    );
  }

  private async _content(path: string): Promise<INotebookFile['content']> {
    let file: INotebookFile | undefined;
    // While Jupyter writes a file, nobody can read it.
    await expect(async () => {
      file = await this.api.jupyter<INotebookFile>(
        'GET',
        `contents/${path}?type=notebook`
      );
    }).toPass({ timeout: 30_000 });
    return file!.content;
  }
}

/**
 * A notebook that is open in a page, as a person sees it.
 */
export class OpenNotebook {
  private constructor(readonly lab: Lab) {}

  /**
   * Open a notebook, and wait until it is there with a kernel.
   */
  static async open(lab: Lab, path: string): Promise<OpenNotebook> {
    await lab.execute('docmanager:open', { path });
    const notebook = new OpenNotebook(lab);
    await expect(notebook.cell(0)).toBeVisible();
    // Not by its name in the toolbar, where there may be no room for it.
    await lab.page.waitForFunction(() => {
      const panel = window.galata.app.shell.currentWidget as {
        sessionContext?: { session?: { kernel?: object | null } | null };
      } | null;
      return Boolean(panel?.sessionContext?.session?.kernel);
    });
    await lab.page.evaluate(async () => {
      const panel = window.galata.app.shell.currentWidget as unknown as {
        sessionContext: {
          ready: Promise<void>;
          session: { kernel: { info: Promise<unknown> } };
        };
      };
      await panel.sessionContext.ready;
      // It goes into the notebook, which is unsaved then. A busy kernel tells it
      // only when it is done.
      await Promise.race([
        panel.sessionContext.session.kernel.info,
        new Promise(resolve => setTimeout(resolve, 3_000))
      ]);
    });
    return notebook;
  }

  /**
   * The notebook in front.
   */
  get panel(): Locator {
    return this.lab.page.locator('.jp-NotebookPanel:not(.lm-mod-hidden)');
  }

  /**
   * A cell, by its place.
   */
  cell(index: number): Locator {
    return this.panel.locator(`.jp-Cell[data-windowed-list-index="${index}"]`);
  }

  /**
   * The lines of what a cell says, without those that a diff shows as gone.
   */
  lines(index: number): Locator {
    return this.cell(index).locator('.cm-content .cm-line');
  }

  /**
   * What a cell has printed and shown.
   */
  outputs(index: number): Locator {
    return this.cell(index).locator('.jp-OutputArea');
  }

  /**
   * The count beside a cell.
   */
  count(index: number): Locator {
    return this.cell(index).locator('.jp-InputPrompt');
  }

  /**
   * Any question that Lab asks.
   */
  get dialog(): Locator {
    return this.lab.page.locator('.jp-Dialog');
  }

  /**
   * Put the cursor at the end of a cell.
   */
  async edit(index: number): Promise<void> {
    await this.lines(index).last().click();
    await this.lab.page.keyboard.press('Control+End');
  }

  /**
   * Rename it in the file browser.
   */
  async rename(name: string): Promise<void> {
    const { page } = this.lab;
    await page.sidebar.openTab('filebrowser');
    await page
      .locator('.jp-DirListing-item.jp-mod-running, .jp-DirListing-item')
      .filter({ hasText: await this.name() })
      .click();
    await page.keyboard.press('F2');
    const editor = page.locator('.jp-DirListing-editor');
    await editor.fill(name);
    await editor.press('Enter');
    await expect.poll(() => this.name()).toBe(name);
  }

  /**
   * Its name.
   */
  name(): Promise<string> {
    return this.lab.page.evaluate(
      () => window.galata.app.shell.currentWidget?.title.label ?? ''
    );
  }

  /**
   * Save as a person does, and see that nothing stands in the way.
   */
  async save(): Promise<void> {
    const { page } = this.lab;
    // While Jupyter writes a file, nobody can read it. One that is shared the
    // server writes by itself.
    const written = (await this.isShared())
      ? null
      : page.waitForResponse(
          response =>
            response.request().method() === 'PUT' &&
            response.url().includes('/api/contents/')
        );
    await this.panel.locator('.jp-NotebookPanel-toolbar').click({
      position: { x: 2, y: 2 }
    });
    await page.keyboard.press('Control+s');
    await written;
    await this.expectSaved();
    await expect(this.dialog).toHaveCount(0);
  }

  /**
   * Nothing in it is unsaved.
   */
  async expectSaved(): Promise<void> {
    await expect.poll(() => this.isDirty()).toBe(false);
  }

  /**
   * Whether something in it is unsaved.
   */
  isDirty(): Promise<boolean> {
    return this._isModel('dirty');
  }

  /**
   * Whether it is shared through jupyter-collaboration.
   */
  isShared(): Promise<boolean> {
    return this._isModel('collaborative');
  }

  private _isModel(what: 'dirty' | 'collaborative'): Promise<boolean> {
    return this.lab.page.evaluate(what => {
      const { context } = window.galata.app.shell.currentWidget as unknown as {
        context: { model: Record<string, boolean> };
      };
      return context.model[what];
    }, what);
  }
}

interface INotebookFile {
  content: { cells: IStoredCell[]; metadata: Record<string, unknown> };
}

interface IFolder {
  content: { name: string }[];
}

interface ISession {
  id: string;
  kernel: { id: string };
}

/**
 * An agent that does what the test, in its model's place, tells it to.
 */
export class AgentAtWork {
  constructor(
    readonly api: AgentApi,
    readonly model: PlayedModel
  ) {}

  /**
   * Let the server's agent speak to the model, and do everything unasked.
   */
  async prepare(): Promise<void> {
    await this.api.useProfile(this.model.profile);
    await this.api.change({
      autoApprovalEnabled: true,
      alwaysAllowReadOnly: true,
      alwaysAllowWrite: true,
      alwaysAllowRunCells: true
    });
  }

  /**
   * Begin a task.
   */
  async start(text: string): Promise<void> {
    this.task = await this.api.startTask(text);
    await this.model.asked();
  }

  /**
   * Have it call a tool; what the tool says.
   */
  call(tool: string, args: object): Promise<string> {
    return this.model.call(tool, args);
  }

  /**
   * Have it read a notebook; it may not change cells it does not know.
   */
  read(path: string): Promise<string> {
    return this.call('read_notebook', { path, view: 'cells' });
  }

  /**
   * Have it change cells.
   */
  async edit(path: string, ...operations: readonly object[]): Promise<void> {
    const said = await this.call('edit_cells', { path, operations });
    expect(said).toContain(`Changed ${path}`);
  }

  /**
   * Have it run cells, and wait for them.
   */
  run(path: string, ...cells: readonly string[]): Promise<string> {
    return this.call('run_cells', { path, cells });
  }

  /**
   * Have it go on with its task, on a server that was stopped meanwhile.
   */
  async resume(): Promise<void> {
    await this.api.command('ResumeTask', { data: this.task });
    await this.api.command('SendMessage', {
      taskId: this.task,
      data: { text: 'Go on.' }
    });
  }

  /**
   * Put its tasks aside, those too that were begun in a panel. A conversation
   * on screen would be on that of the next story, too.
   */
  async close(): Promise<void> {
    await this.api.forgetTasks();
    this.task = null;
  }

  /**
   * The task it works at.
   */
  task: string | null = null;
}

interface IFixtures {
  /**
   * The model of the test.
   */
  model: PlayedModel;

  /**
   * The agent of the server all tests share.
   */
  agent: AgentAtWork;

  /**
   * The notebooks of that server.
   */
  notebooks: Notebooks;
}

/**
 * A test with notebooks, and an agent that works in them.
 */
export const test = labTest.extend<IFixtures>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads from the pattern what a fixture needs.
  model: async ({}, use) => {
    const model = await PlayedModel.start();
    await use(model);
    await model.dispose();
  },

  agent: async ({ lab, model }, use) => {
    const agent = new AgentAtWork(lab.api, model);
    await agent.prepare();
    await use(agent);
    await lab.lastLook();
    await agent.close();
  },

  notebooks: async ({ lab }, use) => {
    const notebooks = new Notebooks(lab.api);
    await use(notebooks);
    await notebooks.endKernels();
  }
});

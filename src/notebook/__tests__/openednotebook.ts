import type { INotebookModel } from '@jupyterlab/notebook';
import { NotebookPanel, NotebookTracker } from '@jupyterlab/notebook';
import {
  initNotebookContext,
  NBTestUtils
} from '@jupyterlab/notebook/lib/testutils';
import type { Context } from '@jupyterlab/docregistry';
import type { ServiceManager } from '@jupyterlab/services';
import { ServiceManagerMock } from '@jupyterlab/services/lib/testutils';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { ChannelClient } from '../../comm/client';
import { ServerClock } from '../../comm/clock';
import type { IConnectionStatus } from '../../comm/status';
import type { ExtensionMessage, JsonValue } from '../../generated/wire';
import { AgentNotebooks } from '../agentnotebooks';
import { OpenNotebooks } from '../opennotebooks';

/**
 * A client that is connected to nobody: tests play the server.
 */
export class ScriptedClient {
  readonly messageReceived = new Signal<this, ExtensionMessage>(this);
  readonly statusChanged = new Signal<this, IConnectionStatus>(this);
  readonly clock = new ServerClock();
  readonly sent: ChannelClient.Request[] = [];
  readonly place = { epoch: 'first' as string | null, last: 0 };
  readonly answers = new Map<ChannelClient.Request['type'], JsonValue>();
  refusal: Error | null = null;
  status = { phase: 'open' } as IConnectionStatus;

  request(request: ChannelClient.Request): Promise<JsonValue> {
    this.sent.push(request);
    return this.refusal
      ? Promise.reject(this.refusal)
      : Promise.resolve(this.answers.get(request.type) ?? null);
  }

  receive(message: ExtensionMessage): void {
    this.messageReceived.emit(message);
  }

  setPhase(phase: IConnectionStatus['phase']): void {
    this.status = { ...this.status, phase };
    this.statusChanged.emit(this.status);
  }

  /**
   * What was sent of one type.
   */
  of<T extends ChannelClient.Request['type']>(
    type: T
  ): Extract<ChannelClient.Request, { type: T }>[] {
    return this.sent.filter(
      (request): request is Extract<ChannelClient.Request, { type: T }> =>
        request.type === type
    );
  }
}

/**
 * A notebook of JupyterLab, open in a page, with the agent's notebooks beside it.
 */
export class OpenedNotebook {
  static async open(cells: readonly string[] = ['a = 1', 'b = 2', 'c = 3']) {
    const services = new ServiceManagerMock();
    const context = await initNotebookContext({ manager: services });
    const opened = new OpenedNotebook(context, services);
    opened.fill(cells);
    await opened.settle();
    return opened;
  }

  private constructor(
    readonly context: Context<INotebookModel>,
    readonly services: ServiceManager.IManager
  ) {
    this.tracker = new NotebookTracker({ namespace: 'notebook' });
    this.panel = this.addView();
    this.notebooks = new OpenNotebooks({
      tracker: this.tracker,
      contents: services.contents
    });
    this.agentNotebooks = new AgentNotebooks({
      client: this.client as unknown as ChannelClient,
      notebooks: this.notebooks
    });
  }

  readonly client = new ScriptedClient();
  readonly tracker: NotebookTracker;
  readonly panel: NotebookPanel;
  readonly notebooks: OpenNotebooks;
  readonly agentNotebooks: AgentNotebooks;

  get model(): INotebookModel {
    return this.context.model;
  }

  get path(): string {
    return this.context.path;
  }

  /**
   * What the cells say.
   */
  get sources(): string[] {
    return this.model.sharedModel.cells.map(cell => cell.getSource());
  }

  get ids(): string[] {
    return this.model.sharedModel.cells.map(cell => cell.getId());
  }

  /**
   * Another view of the same notebook.
   */
  addView(): NotebookPanel {
    const panel = new NotebookPanel({
      content: NBTestUtils.createNotebook(),
      context: this.context
    });
    panel.content.model = this.model;
    Widget.attach(panel, document.body);
    void this.tracker.add(panel);
    return panel;
  }

  /**
   * Give the notebook code cells: `cell-0`, `cell-1` and so on.
   */
  fill(sources: readonly string[]): void {
    const { sharedModel } = this.model;
    sharedModel.transact(() => {
      sharedModel.deleteCellRange(0, sharedModel.cells.length);
      sharedModel.insertCells(
        0,
        sources.map((source, index) => ({
          id: `cell-${index}`,
          cell_type: 'code',
          source
        }))
      );
    }, false);
    this.model.dirty = false;
  }

  /**
   * Let what was put off be done.
   *
   * #### Notes
   * In small steps: on a busy machine what is put off while something put off
   * is done would come behind one long wait.
   */
  async settle(milliseconds = 160): Promise<void> {
    for (let step = 0; step < 8; step++) {
      await new Promise(resolve => setTimeout(resolve, milliseconds / 8));
    }
  }

  close(): void {
    this.agentNotebooks.dispose();
    this.notebooks.dispose();
    this.tracker.forEach(panel => panel.dispose());
    this.tracker.dispose();
    this.context.dispose();
  }
}

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../comm/client';
import type { IConnectionStatus } from '../comm/status';
import type {
  ApplyNotebookOperationsMessage,
  ChangeOutputsMessage,
  ExtensionMessage,
  NotebookOperationsResultRequest,
  NotebookWorkMessage,
  ReadNotebookMessage
} from '../generated/wire';
import { Listener } from '../listener';
import { keepActiveCell } from './activecell';
import { PendingMetadata } from './pendingmetadata';
import { LastSaved } from './merge/lastsaved';
import type { OpenNotebooks } from './opennotebooks';
import type {
  applyOperations as ApplyOperations,
  ICellChange
} from './operations';
import { RunningOutputs } from './outputs/runningoutputs';
import { pageOf } from './notebookpages';
import { reloadMerged } from './merge/reload';
import { SaveOrder } from './saveorder';
import { unreviewedIn } from './review/unreviewed';

type Result = Omit<NotebookOperationsResultRequest, 'requestId' | 'type'>;

/**
 * How many answers are kept for a server that asks again.
 */
const REMEMBERED = 200;

/**
 * How long a save may take: longer means that a dialog is open in this tab.
 */
const SAVE_MILLISECONDS = 10_000;

/**
 * What the agent did to a notebook.
 */
export interface IAgentChange {
  readonly panel: NotebookPanel;
  readonly path: string;
  readonly taskId: string | null;
  readonly changes: readonly ICellChange[];
  /**
   * Whether the person is to be shown what changed.
   */
  readonly review: boolean;
  /**
   * Whether it was done before this page had the notebook, which shows it.
   */
  readonly isEarlier?: boolean;
}

/**
 * Does in this page what the agent asks for in the notebooks it has open, and
 * tells the server which those are.
 */
export class AgentNotebooks extends Listener {
  constructor({ client, notebooks }: AgentNotebooks.IOptions) {
    super();
    this._client = client;
    this._notebooks = notebooks;
    this._pointers = new PendingMetadata(notebooks);
    this._lastSaved = new LastSaved(notebooks);
    this._saveOrder = new SaveOrder(notebooks);
    client.messageReceived.connect(this._onMessage, this);
    client.statusChanged.connect(this._onStatus, this);
    notebooks.changed.connect(this._tell, this);
    this._onStatus(client, client.status);
  }

  /**
   * The notebooks this page has open.
   */
  get notebooks(): OpenNotebooks {
    return this._notebooks;
  }

  /**
   * Emitted when the agent changed a notebook.
   */
  get changedByAgent(): ISignal<this, IAgentChange> {
    return this._changedByAgent;
  }

  /**
   * Emitted when other cells than before are run by the agent, or wait for it.
   */
  get workChanged(): ISignal<this, NotebookWorkMessage> {
    return this._workChanged;
  }

  /**
   * The cells of a notebook that the agent has under way.
   */
  work(path: string): NotebookWorkMessage['cells'] {
    return this._work.get(path) ?? [];
  }

  /**
   * Tell the server that the page goes, and the person leaves what is not saved.
   *
   * #### Notes
   * Without this word a page is missed: it may be on a laptop that sleeps.
   */
  leave(): void {
    void this._send({ type: 'openNotebooks', notebooks: [] });
  }

  protected override release(): void {
    this._pointers.dispose();
    this._lastSaved.dispose();
    this._saveOrder.dispose();
  }

  private _onMessage(_: ChannelClient, message: ExtensionMessage): void {
    switch (message.type) {
      case 'applyNotebookOperations':
        void this._apply(message);
        break;
      case 'readNotebook':
        this._read(message);
        break;
      case 'changeOutputs':
        this._changeOutputs(message);
        break;
      case 'reloadNotebook':
        this._reload(message.path, message.contentHash);
        break;
      case 'notebookWork':
        if (message.cells.length > 0) {
          this._work.set(message.path, message.cells);
        } else {
          this._work.delete(message.path);
        }
        this._workChanged.emit(message);
        break;
      case 'settingsUpdated':
        if (!message.settings.embedHistoryInNotebook) {
          this._pointers.forgetConversations();
        }
        break;
      default:
        break;
    }
  }

  private _onStatus(_: ChannelClient, { phase }: IConnectionStatus): void {
    const isOpen = phase === 'open';
    if (isOpen && !this._wasOpen) {
      const { epoch } = this._client.place;
      if (epoch !== this._epoch) {
        this._epoch = epoch;
        this._forget();
      }
      this._told = '';
      this._tell();
    }
    this._wasOpen = isOpen;
  }

  /**
   * A server that was restarted knows of nothing here, and runs nothing.
   */
  private _forget(): void {
    this._outputs.clear();
    const paths = [...this._work.keys()];
    this._work.clear();
    for (const path of paths) {
      this._workChanged.emit({ type: 'notebookWork', path, cells: [] });
    }
  }

  private _tell(): void {
    if (this._client.status.phase !== 'open') {
      return;
    }
    const notebooks = this._notebooks.list();
    const renamed = this._notebooks.takeRenamed();
    const text = JSON.stringify([notebooks, renamed]);
    if (text === this._told) {
      return;
    }
    this._told = JSON.stringify([notebooks, {}]);
    void this._send({
      type: 'openNotebooks',
      notebooks,
      ...(Object.keys(renamed).length > 0 ? { renamed } : {})
    }).then(answer => this._takeUp(answer));
  }

  /**
   * Show what the agent did before this page had a notebook.
   */
  private _takeUp(answer: unknown): void {
    for (const { path, taskId, change } of unreviewedIn(answer)) {
      const panel = this._notebooks.find(path);
      if (panel !== null && !this.isDisposed) {
        this._changedByAgent.emit({
          panel,
          path,
          taskId,
          changes: [change],
          review: true,
          isEarlier: true
        });
      }
    }
  }

  private async _apply(message: ApplyNotebookOperationsMessage): Promise<void> {
    const { opId } = message;
    let result = this._results.get(opId);
    if (result === undefined) {
      result = this._done(message);
      this._results.set(opId, result);
      for (const old of this._results.keys()) {
        if (this._results.size <= REMEMBERED) {
          break;
        }
        this._results.delete(old);
      }
    }
    void this._send({ type: 'notebookOperationsResult', ...(await result) });
  }

  private async _done(
    message: ApplyNotebookOperationsMessage
  ): Promise<Result> {
    const { opId, path, operations } = message;
    let applyOperations: typeof ApplyOperations;
    try {
      // A page without notebooks has no use for it.
      ({ applyOperations } = await import('./operations'));
    } catch (error) {
      return Private.failed(opId, String(error));
    }
    const panel = this._notebooks.find(path);
    if (panel === null) {
      return { opId, status: 'notOpen', saved: false };
    }
    const { context } = panel;
    if (context.model.readOnly) {
      return { opId, status: 'readOnly', saved: false };
    }
    try {
      const outcome = this._change(panel, () =>
        applyOperations(context.model, operations)
      );
      if (outcome.status === 'mismatch') {
        const { mismatches } = outcome;
        return { opId, status: 'mismatch', saved: false, mismatches };
      }
      if (outcome.changes.length > 0) {
        const { changes } = outcome;
        this._changedByAgent.emit({
          panel,
          path,
          taskId: message.taskId ?? null,
          changes,
          review: message.review
        });
      }
    } catch (error) {
      return Private.failed(opId, String(error));
    }
    if (message.pointers !== undefined) {
      this._pointers.hold(panel, message.pointers);
    }
    const saved = message.save && (await Private.save(panel));
    const contentHash = context.contentsModel?.hash;
    return {
      opId,
      status: 'applied',
      saved,
      revision: this._notebooks.revision(panel),
      ...(saved && contentHash ? { contentHash } : {})
    };
  }

  private _read(message: ReadNotebookMessage): void {
    const { opId, path } = message;
    const panel = this._notebooks.find(path);
    if (panel === null) {
      void this._send({
        type: 'notebookPage',
        opId,
        status: 'notOpen',
        first: 0,
        total: 0
      });
      return;
    }
    try {
      void this._send({
        type: 'notebookPage',
        opId,
        status: 'read',
        revision: this._notebooks.revision(panel),
        ...pageOf(panel.context.model.sharedModel, message)
      });
    } catch (error) {
      void this._send({
        type: 'notebookPage',
        opId,
        status: 'failed',
        first: 0,
        total: 0,
        message: String(error)
      });
    }
  }

  private _changeOutputs(message: ChangeOutputsMessage): void {
    const panel = this._notebooks.find(message.path);
    if (panel === null) {
      return;
    }
    for (const model of panel.context.model.cells) {
      if (model.id === message.cellId && model.type === 'code') {
        this._change(panel, () =>
          this._outputs.apply(model as ICodeCellModel, message)
        );
        return;
      }
    }
  }

  /**
   * Show what another tab, or the server, has saved; nothing unsaved is lost.
   */
  private _reload(path: string, contentHash?: string): void {
    const panel = this._notebooks.find(path);
    if (panel !== null && !panel.context.model.collaborative) {
      const { context } = panel;
      void this._saveOrder.inTurn(context, async () => {
        if (
          this._lastSaved.has(context.model) &&
          context.contentsModel?.hash !== contentHash
        ) {
          await reloadMerged(panel, this._notebooks, this._lastSaved);
        }
      });
    }
  }

  private _change<T>(panel: NotebookPanel, change: () => T): T {
    let result: T | undefined;
    this._notebooks.changeForAgent(panel, () =>
      keepActiveCell(panel.content, () => {
        result = change();
      })
    );
    return result as T;
  }

  private async _send(request: ChannelClient.Request): Promise<unknown> {
    try {
      return await this._client.request(request);
    } catch (reason) {
      console.warn(
        'The server did not take what was said of a notebook',
        reason
      );
      return null;
    }
  }

  private readonly _client: ChannelClient;
  private readonly _notebooks: OpenNotebooks;
  private readonly _pointers: PendingMetadata;
  private readonly _lastSaved: LastSaved;
  private readonly _outputs = new RunningOutputs();
  private readonly _saveOrder: SaveOrder;
  private readonly _results = new Map<string, Promise<Result>>();
  private readonly _work = new Map<string, NotebookWorkMessage['cells']>();
  private readonly _changedByAgent = new Signal<this, IAgentChange>(this);
  private readonly _workChanged = new Signal<this, NotebookWorkMessage>(this);
  private _told = '';
  private _wasOpen = false;
  private _epoch: string | null = null;
}

/**
 * The namespace for `AgentNotebooks` statics.
 */
export namespace AgentNotebooks {
  /**
   * What it works with.
   */
  export interface IOptions {
    readonly client: ChannelClient;
    readonly notebooks: OpenNotebooks;
  }
}

/**
 * Functions of this module alone.
 */
namespace Private {
  export function failed(opId: string, message: string): Result {
    return { opId, status: 'failed', saved: false, message };
  }

  /**
   * Save, unless that takes an answer of the person first.
   */
  export async function save({ context }: NotebookPanel): Promise<boolean> {
    let timer = 0;
    const tooLong = new Promise<boolean>(resolve => {
      timer = window.setTimeout(() => resolve(false), SAVE_MILLISECONDS);
    });
    try {
      return await Promise.race([
        context.save().then(() => !context.isDisposed),
        tooLong
      ]);
    } catch (error) {
      console.warn('A notebook could not be saved', error);
      return false;
    } finally {
      window.clearTimeout(timer);
    }
  }
}

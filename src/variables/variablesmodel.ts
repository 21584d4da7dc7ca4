import type { ISessionContext } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { KernelMessage } from '@jupyterlab/services';
import { Debouncer } from '@lumino/polling';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../comm/client';
import { asErrorBody } from '../errors';
import type { VariablesView } from '../generated/rest';
import type { ErrorBody, ExtensionMessage } from '../generated/wire';
import { Listener } from '../listener';
import type { VariablesApi } from '../rest/variablesapi';
import { documentPath } from '../ui/notebookchoice';
import type { ISorting } from './variabletexts';

/**
 * How long reasons to ask anew are gathered, in milliseconds: cells that run one
 * after the other are one reason.
 */
const GATHERED_FOR = 300;

/**
 * After how many milliseconds it is asked again for what will be known soon.
 */
const ASKED_AGAIN_AFTER = 2_000;

/**
 * The states of a kernel after which all variables are gone.
 */
const RESTARTS: ReadonlySet<string> = new Set([
  'restarting',
  'autorestarting',
  'starting'
]);

/**
 * How many notebooks it is remembered of what they had last.
 */
const MOST_REMEMBERED = 20;

/**
 * The variables of the notebook in front, kept as its kernel has them as long as
 * somebody looks.
 */
export class VariablesModel extends Listener {
  constructor({ api, client, notebooks, isSeen }: VariablesModel.IOptions) {
    super();
    this.api = api;
    this._notebooks = notebooks;
    this._isSeen = isSeen;
    this._debouncer = new Debouncer(() => this.refresh(), GATHERED_FOR);
    client.messageReceived.connect(this._onMessage, this);
    notebooks?.currentChanged.connect(this._onNotebook, this);
    this._follow();
  }

  readonly api: VariablesApi;

  /**
   * Emitted when anything is different.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * The notebook in front; `null` if there is none on the server's own drive.
   */
  get path(): string | null {
    const { _panel } = this;
    return _panel && !_panel.isDisposed ? documentPath(_panel) : null;
  }

  /**
   * What the server said last of this notebook; `null` before it said anything.
   */
  get view(): VariablesView | null {
    const { path } = this;
    return path === null ? null : (this._views.get(path) ?? null);
  }

  /**
   * Another number whenever values may be others.
   */
  get values(): number {
    return this._values;
  }

  /**
   * Whether anybody looks.
   */
  get isSeen(): boolean {
    return this._isSeen();
  }

  /**
   * What the variables are sorted by.
   */
  get sorting(): ISorting | null {
    return this._sorting;
  }

  sort(sorting: ISorting | null): void {
    this._sorting = sorting;
    this._emit();
  }

  /**
   * The variable of a notebook that is open.
   */
  openIn(path: string): string | null {
    return this._open.get(path) ?? null;
  }

  /**
   * Open a variable of the notebook in front, or none.
   */
  unfold(name: string | null): void {
    const { path } = this;
    if (path !== null) {
      this._open.set(path, name);
      this._emit();
    }
  }

  get isLoading(): boolean {
    return this._isLoading;
  }

  /**
   * Why nothing newer is known; `null` when all is well.
   */
  get error(): ErrorBody | null {
    return this._error;
  }

  /**
   * Ask the server anew. Nobody who does not look makes a kernel answer.
   */
  async refresh(): Promise<void> {
    const { path } = this;
    const turn = ++this._turn;
    clearTimeout(this._again);
    this._isLoading = path !== null && this._isSeen();
    if (path === null || !this._isLoading) {
      return;
    }
    if (this._areOld) {
      this._areOld = false;
      this._values += 1;
    }
    this._emit();
    try {
      const view = await this.api.variables(path, { changes: true });
      if (turn !== this._turn) {
        return;
      }
      this._keep(view);
      this._error = null;
      if (view.since?.unknown === 'pending' && !this.isDisposed) {
        this._again = setTimeout(() => void this.refresh(), ASKED_AGAIN_AFTER);
      }
    } catch (reason) {
      if (turn !== this._turn) {
        return;
      }
      this._error = asErrorBody(reason);
    }
    this._isLoading = false;
    this._emit();
  }

  /**
   * The same where values may be others since.
   */
  async refreshValues(): Promise<void> {
    this._areOld = true;
    await this.refresh();
  }

  protected override release(): void {
    this._debouncer.dispose();
    clearTimeout(this._again);
  }

  private _keep(view: VariablesView): void {
    this._views.delete(view.path);
    this._views.set(view.path, view);
    for (const path of this._views.keys()) {
      if (this._views.size <= MOST_REMEMBERED) {
        break;
      }
      this._views.delete(path);
    }
  }

  private _onNotebook(): void {
    this._follow();
    this._error = null;
    this._emit();
    void this.refreshValues();
  }

  private _follow(): void {
    const panel = this._notebooks?.currentWidget ?? null;
    if (panel !== this._panel) {
      this._watch(this._panel, false);
      this._panel = panel;
      this._running.clear();
      this._isRestarted = false;
      this._watch(panel, true);
    }
  }

  private _watch(panel: NotebookPanel | null, isWatched: boolean): void {
    if (panel === null) {
      return;
    }
    const { context, sessionContext } = panel;
    if (isWatched) {
      context.pathChanged.connect(this._onNotebook, this);
      sessionContext.statusChanged.connect(this._onStatus, this);
      sessionContext.iopubMessage.connect(this._onOutput, this);
      sessionContext.kernelChanged.connect(this._onKernel, this);
    } else {
      context.pathChanged.disconnect(this._onNotebook, this);
      sessionContext.statusChanged.disconnect(this._onStatus, this);
      sessionContext.iopubMessage.disconnect(this._onOutput, this);
      sessionContext.kernelChanged.disconnect(this._onKernel, this);
    }
  }

  private _onStatus(_: ISessionContext, status: string): void {
    if (RESTARTS.has(status)) {
      this._isRestarted = true;
    } else if (
      status === 'dead' ||
      (status === 'idle' && (this._isRestarted || this._isAwaited))
    ) {
      this._isRestarted = false;
      this._onKernel();
    }
  }

  /**
   * Whether a cell ran when it was asked, of which perhaps only the end is heard.
   */
  private get _isAwaited(): boolean {
    const { view } = this;
    return (
      view?.kernel?.answers === 'later' ||
      view?.kernel?.state === 'busy' ||
      view?.since?.unknown === 'busy'
    );
  }

  /**
   * Cells, whoever ran them, and widgets may have changed something. What is
   * asked silently has not, and our own questions are asked so: each answer
   * would be a reason to ask again.
   */
  private _onOutput(
    _: ISessionContext,
    { content, header, parent_header: parent }: KernelMessage.IMessage
  ): void {
    const id = 'msg_id' in parent ? parent.msg_id : '';
    if (header.msg_type === 'execute_input') {
      this._running.add(id);
    } else if (
      header.msg_type === 'status' &&
      'execution_state' in content &&
      content.execution_state === 'idle' &&
      (this._running.delete(id) ||
        ('msg_type' in parent && parent.msg_type === 'comm_msg'))
    ) {
      this._onKernel();
    }
  }

  private _onKernel(): void {
    this._areOld = true;
    this._refreshSoon();
  }

  private _onMessage(_: ChannelClient, { type }: ExtensionMessage): void {
    // What differs from the newest checkpoint is another thing then.
    if (type === 'currentCheckpointUpdated' || type === 'state') {
      this._refreshSoon();
    }
  }

  private _refreshSoon(): void {
    if (!this.isDisposed) {
      void this._debouncer.invoke();
    }
  }

  private _emit(): void {
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _notebooks: INotebookTracker | null;
  private readonly _isSeen: () => boolean;
  private readonly _debouncer: Debouncer;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _views = new Map<string, VariablesView>();
  private readonly _open = new Map<string, string | null>();
  private _sorting: ISorting | null = null;
  private _panel: NotebookPanel | null = null;
  private readonly _running = new Set<string>();
  private _isRestarted = false;
  private _areOld = false;
  private _values = 0;
  private _isLoading = false;
  private _error: ErrorBody | null = null;
  private _turn = 0;
  private _again: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The namespace for `VariablesModel` statics.
 */
export namespace VariablesModel {
  /**
   * Whom to ask, about which notebook, and whether anybody looks.
   */
  export interface IOptions {
    readonly api: VariablesApi;
    readonly client: Pick<ChannelClient, 'messageReceived'>;
    readonly notebooks: INotebookTracker | null;
    readonly isSeen: () => boolean;
  }
}

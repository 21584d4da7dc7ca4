import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel, KernelSpec, Session } from '@jupyterlab/services';
import { DisposableDelegate } from '@lumino/disposable';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import type { IConnectionStatus } from '../../comm/status';
import { Listener } from '../../listener';
import type { OpenNotebooks } from '../opennotebooks';

type Context = NotebookPanel['context'];

/**
 * What a session says of itself while somebody chooses or starts a kernel.
 */
const UNDER_WAY: ReadonlySet<string> = new Set([
  'starting',
  'initializing',
  'restarting',
  'terminating'
]);

/**
 * Gives open notebooks whose kernels ended with the server new ones when the
 * server is back.
 *
 * #### Notes
 * Lab only notices that the kernel is gone, and leaves the notebook without one.
 */
export class KernelReconnector extends Listener {
  constructor(options: KernelReconnector.IOptions) {
    super();
    this._options = options;
    const { client, notebooks } = options;
    this._epoch = client.place.epoch;
    client.statusChanged.connect(this._onStatus, this);
    this._each = notebooks.each(panel => this._watch(panel.context));
  }

  /**
   * Emitted when a notebook has a kernel again.
   */
  get reconnected(): ISignal<this, Context> {
    return this._reconnected;
  }

  protected override release(): void {
    this._each.dispose();
    this._kernels.clear();
  }

  private _watch(context: Context): IDisposable {
    const { sessionContext } = context;
    if (!this._watched.has(context)) {
      // Once for all views of the notebook.
      this._watched.add(context);
      const note = () => this._note(context);
      sessionContext.kernelChanged.connect(note, this);
      sessionContext.sessionChanged.connect(note, this);
      context.disposed.connect(() => this._kernels.delete(context), this);
      note();
    }
    return new DisposableDelegate(() => {
      // It is watched as long as another view may show it.
    });
  }

  /**
   * Remember which kernel a notebook has. What goes while there is no
   * connection went with the server.
   */
  private _note(context: Context): void {
    const kernel = context.sessionContext.session?.kernel;
    if (kernel && kernel.status !== 'dead') {
      const { id, name } = kernel;
      this._kernels.set(context, { id, name });
    } else if (this._options.client.status.phase === 'open') {
      this._kernels.delete(context);
    }
  }

  private _onStatus(_: unknown, { phase }: IConnectionStatus): void {
    const { epoch } = this._options.client.place;
    if (phase !== 'open' || epoch === this._epoch) {
      return;
    }
    const isFirst = this._epoch === null;
    this._epoch = epoch;
    if (!isFirst) {
      void this._replaceLost([...this._kernels]);
    }
  }

  private async _replaceLost(
    known: readonly (readonly [Context, KernelReconnector.IKernel])[]
  ): Promise<void> {
    // Lab's own lists are not kept up to date while the page is hidden.
    const running = await this._tried(this._options.listKernels());
    for (const [context, kernel] of running ? known : []) {
      if (!running?.some(({ id }) => id === kernel.id)) {
        await this._tried(
          this._inTurn(context, () => this._replace(context, kernel))
        );
      }
    }
  }

  private async _tried<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (reason) {
      // Where no kernel could be started, Lab has said why.
      console.warn('A notebook did not get a kernel again', reason);
      return undefined;
    }
  }

  private async _replace(
    context: Context,
    { id, name }: KernelReconnector.IKernel
  ): Promise<void> {
    const { sessionContext } = context;
    const { specs } = this._options;
    if (
      this.isDisposed ||
      context.isDisposed ||
      UNDER_WAY.has(sessionContext.kernelDisplayStatus) ||
      !specs()?.kernelspecs[name]
    ) {
      return;
    }
    const present = sessionContext.session?.kernel;
    if (present && present.id !== id) {
      // Somebody has chosen another one meanwhile.
      return;
    }
    // A shared notebook goes by the path of its drive in one tab, and by that of
    // its file for the agent.
    const names = [
      sessionContext.path,
      this._options.notebooks.pathOf({ context })
    ];
    const started = (await this._options.listSessions()).find(
      ({ path, kernel }) => kernel && names.includes(path)
    );
    if (context.isDisposed) {
      return;
    }
    // The server knows nothing of it, and Lab would ask it to change its kernel.
    sessionContext.session?.dispose();
    await sessionContext.changeKernel(
      started?.kernel ? { id: started.kernel.id } : { name }
    );
    if (sessionContext.session?.kernel && !this.isDisposed) {
      this._reconnected.emit(context);
    }
  }

  /**
   * Do one at a time with a notebook, in all tabs of this browser: the second
   * finds the kernel that the first has started.
   */
  private async _inTurn(
    { sessionContext }: Context,
    work: () => Promise<void>
  ): Promise<void> {
    const locks = (navigator as Partial<Navigator>).locks;
    await (locks?.request(`hdsp-agent:kernel:${sessionContext.path}`, work) ??
      work());
  }

  private readonly _options: KernelReconnector.IOptions;
  private readonly _each: IDisposable;
  private readonly _watched = new WeakSet<Context>();
  private readonly _kernels = new Map<Context, KernelReconnector.IKernel>();
  private readonly _reconnected = new Signal<this, Context>(this);
  private _epoch: string | null;
}

/**
 * The namespace for `KernelReconnector` statics.
 */
export namespace KernelReconnector {
  /**
   * A kernel that a notebook has.
   */
  export type IKernel = Pick<Kernel.IModel, 'id' | 'name'>;

  /**
   * What it works with.
   */
  export interface IOptions {
    readonly client: Pick<ChannelClient, 'place' | 'status' | 'statusChanged'>;
    readonly notebooks: Pick<OpenNotebooks, 'each' | 'pathOf'>;

    /**
     * The kernels that can be started; `null` if that is not known.
     */
    readonly specs: () => KernelSpec.ISpecModels | null;

    /**
     * Ask the server which kernels run, and for what.
     */
    readonly listKernels: () => Promise<readonly Kernel.IModel[]>;
    readonly listSessions: () => Promise<readonly Session.IModel[]>;
  }
}

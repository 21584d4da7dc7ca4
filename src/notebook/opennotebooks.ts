import type { Contents } from '@jupyterlab/services';
import type {
  INotebookModel,
  INotebookTracker,
  NotebookPanel
} from '@jupyterlab/notebook';
import type { IMapChange } from '@jupyter/ydoc';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { OpenNotebook } from '../generated/wire';
import { Listener } from '../listener';

/**
 * How long changes are gathered before the server hears of them.
 */
const GATHER_MILLISECONDS = 100;

/**
 * The drive of notebooks that are shared through jupyter-collaboration. Its
 * paths are those of the server.
 */
const SHARED_DRIVE = 'RTC';

/**
 * What a kernel writes into a notebook as it starts: opened with another
 * version of Python than it was saved with, a notebook is unsaved at once.
 */
const OF_KERNEL: ReadonlySet<string> = new Set(['kernelspec', 'language_info']);

/**
 * The notebooks this page has open, as the server needs to know them.
 */
export class OpenNotebooks extends Listener {
  constructor({ tracker, contents }: OpenNotebooks.IOptions) {
    super();
    this._tracker = tracker;
    this._contents = contents;
    this._debouncer = new Debouncer(
      () => this._changed.emit(),
      GATHER_MILLISECONDS
    );
    tracker.forEach(panel => this._add(panel));
    tracker.widgetAdded.connect((_, panel) => this._add(panel), this);
    tracker.currentChanged.connect(this._touch, this);
  }

  /**
   * Emitted soon after something about them changed.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Emitted when a notebook is open and its content there.
   */
  get opened(): ISignal<this, NotebookPanel> {
    return this._opened;
  }

  protected override release(): void {
    this._debouncer.dispose();
  }

  /**
   * All of them; two views of one notebook are one.
   */
  list(): OpenNotebook[] {
    const found = new Map<string, OpenNotebook>();
    this._tracker.forEach(panel => {
      const path = this.pathOf(panel);
      if (path === null || !this._ready.has(panel)) {
        return;
      }
      const seen = found.get(path);
      found.set(path, {
        ...this._describe(panel, path),
        ...(seen?.visible ? { visible: true } : {})
      });
    });
    return [...found.values()];
  }

  /**
   * Old to new paths since this was asked last.
   */
  takeRenamed(): Record<string, string> {
    const renamed = this._renamed;
    this._renamed = {};
    return renamed;
  }

  /**
   * The panel that shows a notebook, the one in front if there are several.
   */
  find(path: string): NotebookPanel | null {
    let found: NotebookPanel | null = null;
    this._tracker.forEach(panel => {
      if (this._ready.has(panel) && this.pathOf(panel) === path) {
        if (found === null || panel.isVisible) {
          found = panel;
        }
      }
    });
    return found;
  }

  /**
   * Do something with every notebook that is open, and with those that open
   * later.
   *
   * @param add - What to do; what it gives back is disposed with the notebook.
   *
   * @returns A disposable that takes it back everywhere.
   */
  each(add: (panel: NotebookPanel) => IDisposable): IDisposable {
    const added = new Map<NotebookPanel, IDisposable>();
    const close = (panel: NotebookPanel) => {
      added.get(panel)?.dispose();
      added.delete(panel);
      panel.disposed.disconnect(close);
    };
    const open = (_: unknown, panel: NotebookPanel) => {
      added.set(panel, add(panel));
      panel.disposed.connect(close);
    };
    this._ready.forEach(panel => open(this, panel));
    this._opened.connect(open);
    return new DisposableDelegate(() => {
      this._opened.disconnect(open);
      [...added.keys()].forEach(close);
    });
  }

  /**
   * The number of changes of a notebook's content so far.
   */
  revision(panel: NotebookPanel): number {
    return this._revisions.get(panel.context.model) ?? 0;
  }

  /**
   * Whether there is something unsaved in a notebook that a person may miss:
   * what only the agent or the kernel wrote is no reason to keep the agent from
   * writing the file.
   */
  isUnsaved({ context: { model } }: Pick<NotebookPanel, 'context'>): boolean {
    return model.dirty && !this._ofNoPerson.has(model);
  }

  /**
   * Change a notebook for the agent.
   */
  changeForAgent(
    panel: Pick<NotebookPanel, 'context'>,
    change: () => void
  ): void {
    const { model } = panel.context;
    this._noPersonChanges(model);
    this._changing = model;
    try {
      change();
    } finally {
      this._changing = null;
    }
  }

  /**
   * Whether it is the agent that changes a notebook just now.
   */
  isChangedByAgent({ context }: Pick<NotebookPanel, 'context'>): boolean {
    return this._changing === context.model;
  }

  /**
   * Where the server finds the notebook; `null` for one on another drive.
   */
  pathOf({ context }: Pick<NotebookPanel, 'context'>): string | null {
    const { path } = context;
    const drive = this._contents.driveName(path);
    return drive === '' || drive === SHARED_DRIVE
      ? this._contents.localPath(path)
      : null;
  }

  private _add(panel: NotebookPanel): void {
    void panel.context.ready.then(() => {
      if (this.isDisposed || panel.isDisposed) {
        return;
      }
      this._ready.add(panel);
      let path = this.pathOf(panel);
      const { context } = panel;
      context.pathChanged.connect(() => {
        const now = this.pathOf(panel);
        if (path !== null && now !== null && path !== now) {
          this._renamed[path] = now;
        }
        path = now;
        this._touch();
      }, this);
      context.fileChanged.connect(this._touch, this);
      context.saveState.connect(this._touch, this);
      if (!this._revisions.has(context.model)) {
        // It was only just read.
        this._revisions.set(context.model, 0);
        this._ofNoPerson.add(context.model);
      }
      // Once for all views of the notebook: a slot is connected only once.
      context.model.metadataChanged.connect(this._onMetadata, this);
      context.model.contentChanged.connect(this._onContent, this);
      context.model.stateChanged.connect(this._touch, this);
      context.sessionContext.kernelChanged.connect(this._touch, this);
      panel.disposed.connect(() => {
        this._ready.delete(panel);
        this._touch();
      }, this);
      this._opened.emit(panel);
      this._touch();
    });
  }

  private _onMetadata(model: INotebookModel, { key }: IMapChange): void {
    if (OF_KERNEL.has(key)) {
      this._noPersonChanges(model);
      this._ofKernel = model;
    }
  }

  private _onContent(model: INotebookModel): void {
    // Lab says that metadata changed right before it says that all did.
    const isOfKernel = this._ofKernel === model;
    this._ofKernel = null;
    this._revisions.set(model, (this._revisions.get(model) ?? 0) + 1);
    if (this._changing !== model && !isOfKernel) {
      this._ofNoPerson.delete(model);
    }
    this._touch();
  }

  private _noPersonChanges(model: INotebookModel): void {
    if (!model.dirty) {
      this._ofNoPerson.add(model);
    }
  }

  private _describe(panel: NotebookPanel, path: string): OpenNotebook {
    const { context } = panel;
    const contentHash = context.contentsModel?.hash;
    const kernelId = context.sessionContext.session?.kernel?.id;
    return {
      path,
      revision: this.revision(panel),
      dirty: this.isUnsaved(panel),
      visible: panel.isVisible,
      readOnly:
        context.model.readOnly || context.contentsModel?.writable === false,
      collaborative: context.model.collaborative ?? false,
      ...(contentHash ? { contentHash } : {}),
      ...(kernelId ? { kernelId } : {})
    };
  }

  private _touch(): void {
    if (!this.isDisposed) {
      void this._debouncer.invoke();
    }
  }

  private readonly _tracker: INotebookTracker;
  private readonly _contents: Contents.IManager;
  private readonly _debouncer: Debouncer;
  private readonly _ready = new Set<NotebookPanel>();
  private readonly _ofNoPerson = new WeakSet<INotebookModel>();
  private _changing: INotebookModel | null = null;
  private _ofKernel: INotebookModel | null = null;
  private readonly _revisions = new WeakMap<INotebookModel, number>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _opened = new Signal<this, NotebookPanel>(this);
  private _renamed: Record<string, string> = {};
}

/**
 * The namespace for `OpenNotebooks` statics.
 */
export namespace OpenNotebooks {
  /**
   * What is needed to know the open notebooks.
   */
  export interface IOptions {
    readonly tracker: INotebookTracker;
    readonly contents: Contents.IManager;
  }
}

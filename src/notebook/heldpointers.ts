import type { ISharedNotebook } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

import type { ApplyNotebookOperationsMessage } from '../generated/wire';
import { Listener } from '../listener';
import type { OpenNotebooks } from './opennotebooks';

type Context = DocumentRegistry.IContext<INotebookModel>;
type Pointers = NonNullable<ApplyNotebookOperationsMessage['pointers']>;

/**
 * Keeps what is to be said in a notebook of its checkpoints until it is saved
 * anyway: written by itself it would be one save more, just when the person may
 * type or save.
 */
export class HeldPointers extends Listener {
  constructor(private readonly _notebooks: OpenNotebooks) {
    super();
    this._each = _notebooks.each(({ context }) => {
      context.saveState.connect(this._onSave, this);
      return new DisposableDelegate(() => undefined);
    });
  }

  /**
   * Have the next save take these along, instead of those that wait for it.
   */
  hold({ context }: Pick<NotebookPanel, 'context'>, pointers: Pointers): void {
    this._held.set(context.model, pointers);
  }

  protected override release(): void {
    this._each.dispose();
  }

  /**
   * Lab tells that it begins before it looks at what it saves.
   */
  private _onSave(context: Context, state: DocumentRegistry.SaveState): void {
    const { model } = context;
    const pointers = this._held.get(model);
    if (state === 'started' && pointers !== undefined) {
      this._held.delete(model);
      this._notebooks.changeForAgent({ context }, () =>
        Private.write(model.sharedModel, pointers)
      );
    }
  }

  private readonly _each: IDisposable;
  private readonly _held = new WeakMap<INotebookModel, Pointers>();
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * Write what belongs to cells that are still there. Nobody can undo it.
   */
  export function write(notebook: ISharedNotebook, pointers: Pointers): void {
    const cells = new Map(notebook.cells.map(cell => [cell.getId(), cell]));
    notebook.transact(() => {
      for (const pointer of pointers) {
        const owner =
          pointer.op === 'setCellMetadata'
            ? cells.get(pointer.cellId)
            : notebook;
        if (pointer.value === undefined || pointer.value === null) {
          owner?.deleteMetadata(pointer.key);
        } else {
          owner?.setMetadata(pointer.key, pointer.value);
        }
      }
    }, false);
  }
}

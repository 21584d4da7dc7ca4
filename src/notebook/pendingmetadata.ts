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
 * The key of a notebook's metadata that its conversation stands under.
 */
export const CONVERSATION_KEY = 'hdsp_conversation';

/**
 * Keeps what is to be said in a notebook of its checkpoints, and of its
 * conversation, until it is saved anyway: written by itself it would be one save
 * more, just when the person may type or save.
 */
export class PendingMetadata extends Listener {
  constructor(private readonly _notebooks: OpenNotebooks) {
    super();
    this._each = _notebooks.each(({ context }) => {
      const { metadataChanged } = context.model;
      const onMetadata = (model: INotebookModel, { key, type }: Metadata) => {
        // Whoever removes a conversation does not want it back with the next save.
        if (key === CONVERSATION_KEY && type === 'remove') {
          this._conversations.delete(model);
        }
      };
      context.saveState.connect(this._onSave, this);
      metadataChanged.connect(onMetadata);
      return new DisposableDelegate(() => {
        metadataChanged.disconnect(onMetadata);
      });
    });
  }

  /**
   * Have the next save take these along. What is said of checkpoints comes
   * instead of what waits of them, and a conversation instead of the one that
   * waits.
   */
  hold({ context }: Pick<NotebookPanel, 'context'>, pointers: Pointers): void {
    const { model } = context;
    const conversation = pointers.filter(Private.isConversation);
    if (conversation.length > 0) {
      this._conversations.set(model, conversation);
    }
    if (conversation.length < pointers.length) {
      const others = pointers.filter(one => !Private.isConversation(one));
      this._checkpoints.set(model, others);
    }
  }

  /**
   * Write no conversation that waits: the person does not want it in notebooks.
   */
  forgetConversations(): void {
    this._conversations = new WeakMap();
  }

  protected override release(): void {
    this._each.dispose();
  }

  /**
   * Lab tells that it begins before it looks at what it saves.
   */
  private _onSave(context: Context, state: DocumentRegistry.SaveState): void {
    const { model } = context;
    if (state !== 'started') {
      return;
    }
    const pointers = [
      ...(this._checkpoints.get(model) ?? []),
      ...(this._conversations.get(model) ?? [])
    ];
    if (pointers.length > 0) {
      this._checkpoints.delete(model);
      this._conversations.delete(model);
      this._notebooks.changeForAgent({ context }, () =>
        Private.write(model.sharedModel, pointers)
      );
    }
  }

  private readonly _each: IDisposable;
  private readonly _checkpoints = new WeakMap<INotebookModel, Pointers>();
  private _conversations = new WeakMap<INotebookModel, Pointers>();
}

type Metadata = Parameters<
  Parameters<INotebookModel['metadataChanged']['connect']>[0]
>[1];

/**
 * Functions of this module alone.
 */
namespace Private {
  export function isConversation(pointer: Pointers[number]): boolean {
    return (
      pointer.op === 'setNotebookMetadata' && pointer.key === CONVERSATION_KEY
    );
  }

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

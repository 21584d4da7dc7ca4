import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

import { Listener } from '../../listener';
import type { ISavedNotebook } from './savedform';
import { savedNotebook, withUniqueNames } from './savedform';
import type { OpenNotebooks } from '../opennotebooks';

type Context = DocumentRegistry.IContext<INotebookModel>;

/**
 * Knows of each open notebook what its file was when this page last read or
 * wrote it, which tells what was typed since.
 */
export class LastSaved extends Listener {
  constructor(notebooks: OpenNotebooks) {
    super();
    this._each = notebooks.each(panel => {
      const { context } = panel;
      if (!context.model.collaborative && !this.has(context.model)) {
        if (!notebooks.isUnsaved(panel)) {
          this.note(context.model);
        }
        context.saveState.connect(this._onSave, this);
        context.fileChanged.connect(this._onFile, this);
      }
      return new DisposableDelegate(() => undefined);
    });
  }

  /**
   * Whether it is known what the file was.
   */
  has(model: INotebookModel): boolean {
    return this._known.has(model);
  }

  /**
   * What the file was, if that is known.
   */
  of(model: INotebookModel): ISavedNotebook | undefined {
    return this._known.get(model)?.inFile;
  }

  /**
   * The file says this now; by default what the model says.
   */
  note(
    model: INotebookModel,
    inFile: ISavedNotebook = savedNotebook(model.sharedModel)
  ): void {
    this._known.set(model, { inFile, cells: new Set(model.sharedModel.cells) });
  }

  protected override release(): void {
    this._each.dispose();
  }

  private _onSave({ model }: Context, state: DocumentRegistry.SaveState): void {
    if (state === 'started') {
      // What is typed from here on is not in the file.
      this._saving.set(model, Private.known(model));
      return;
    }
    const saved = this._saving.get(model);
    this._saving.delete(model);
    if (state === 'completed' && saved !== undefined) {
      if (Private.isReloaded(model, saved)) {
        this.note(model);
        return;
      }
      this._known.set(model, saved);
      if (Private.isTyped(model, saved.inFile)) {
        // Lab counts everything as saved when a save ends.
        model.dirty = true;
      }
    }
  }

  /**
   * The file was read or written. A person who reads it anew gets all cells
   * anew, and only then is what the notebook says what the file says.
   */
  private _onFile({ model }: Context): void {
    const known = this._known.get(model);
    if (known === undefined || Private.isReloaded(model, known)) {
      this.note(model);
    }
  }

  private readonly _known = new WeakMap<INotebookModel, IKnown>();
  private readonly _saving = new WeakMap<INotebookModel, IKnown>();
  private readonly _each: IDisposable;
}

/**
 * What a file was, and the cells that showed it.
 */
interface IKnown {
  readonly inFile: ISavedNotebook;
  readonly cells: ReadonlySet<unknown>;
}

/**
 * Functions of this module alone.
 */
namespace Private {
  export function known({ sharedModel }: INotebookModel): IKnown {
    return {
      inFile: savedNotebook(sharedModel),
      cells: new Set(sharedModel.cells)
    };
  }

  export function isReloaded(
    { sharedModel }: INotebookModel,
    { cells }: IKnown
  ): boolean {
    return !sharedModel.cells.some(cell => cells.has(cell));
  }

  export function isTyped(
    { sharedModel }: INotebookModel,
    { cells }: ISavedNotebook
  ): boolean {
    return (
      sharedModel.cells.length !== cells.size ||
      withUniqueNames(sharedModel.cells, cell => cell.getId()).some(
        ([name, cell]) => cells.get(name)?.source !== cell.getSource()
      )
    );
  }
}

import type {
  ISharedAttachmentsCell,
  ISharedCodeCell,
  ISharedNotebook
} from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONObject, PartialJSONValue } from '@lumino/coreutils';
import { JSONExt, UUID } from '@lumino/coreutils';

import { CellList } from './celllist';
import { setOutputs } from './celloutputs';
import type { IFiledCell, IFiledNotebook } from './filed';
import { filedCell } from './filed';
import { longestRise } from './longestrise';
import { outputsHash } from './outputshash';
import { pairedByText } from './pairing';
import { replaceSource } from './steps';
import { mergedText } from './threetexts';

/**
 * What became of a notebook and its file.
 */
export interface IMerged {
  /**
   * What the file says.
   */
  readonly filed: IFiledNotebook;
  /**
   * Whether the notebook says more than the file, which is unsaved.
   */
  readonly unsaved: boolean;
}

/**
 * Take up in a notebook what somebody else wrote into its file.
 *
 * @param base - What the file was before.
 *
 * @param file - What it is now.
 *
 * #### Notes
 * Cells that are the same in the file stay the ones they are, with cursor and
 * history, and what was written here since `base` stays. A cell that was
 * rewritten here and there is there twice. None of it is a step that the
 * person could undo: they did not do it.
 */
export function mergeFile(
  model: Pick<INotebookModel, 'sharedModel' | 'cells'>,
  base: IFiledNotebook,
  file: nbformat.INotebookContent
): IMerged {
  const merge = new Merge(model, base, file);
  merge.cellsAndTexts();
  merge.outputs();
  return { filed: merge.filed(), unsaved: merge.unsaved };
}

/**
 * One cell of the file, and the cell that shows it here.
 */
interface IPair {
  readonly theirs: nbformat.ICell;
  /**
   * What the file says of it.
   */
  readonly filed: IFiledCell;
  /**
   * What the file said of it before.
   */
  base?: IFiledCell;
  id: string | null;
}

/**
 * What is under way while a file is merged.
 */
class Merge {
  constructor(
    private readonly _model: Pick<INotebookModel, 'sharedModel' | 'cells'>,
    private readonly _base: IFiledNotebook,
    private readonly _file: nbformat.INotebookContent
  ) {
    this._list = new CellList(_model.sharedModel, false);
    this._pairs = this._paired();
  }

  /**
   * Whether something here is not in the file.
   */
  unsaved = false;

  /**
   * All but outputs.
   */
  cellsAndTexts(): void {
    this._remove();
    this._order();
    let before: string | null = null;
    for (const pair of this._pairs) {
      if (pair.id === null) {
        this._insert(pair, before);
      } else {
        this._merge(pair.id, pair);
      }
      before = pair.id ?? before;
    }
    const { sharedModel } = this._model;
    this._list.change(() =>
      this._mergeMetadata(
        this._base.metadata,
        sharedModel.getMetadata(),
        this._file.metadata,
        sharedModel
      )
    );
  }

  /**
   * The outputs, which go in through the cells' own models.
   */
  outputs(): void {
    const pairs = new Map(this._pairs.map(pair => [pair.id, pair]));
    for (const cell of this._model.cells) {
      const pair = pairs.get(cell.id);
      if (cell.type === 'code' && pair?.filed.type === 'code') {
        this._mergeOutputs(cell as ICodeCellModel, pair);
      }
    }
  }

  /**
   * What the file says, by the ids that its cells have here.
   */
  filed(): IFiledNotebook {
    return {
      cells: new Map(
        this._pairs.map(({ id, theirs, filed }): [string, IFiledCell] => [
          id ?? (theirs.id as string | undefined) ?? UUID.uuid4(),
          { ...filed, outputs: this._shown.get(id) ?? filed.outputs }
        ])
      ),
      metadata: this._file.metadata
    };
  }

  /**
   * Which cell here is which there: by id, and by what they said in a file
   * without ids. Where the file has other ids now, the cells that somebody
   * writes in or runs here are found in the same way.
   */
  private _paired(): IPair[] {
    const here = new Set(this._list.ids);
    const known = new Set<string>();
    const pairs = this._file.cells.map((theirs): IPair => {
      const id = theirs.id as string | undefined;
      const filed = filedCell(theirs);
      if (id === undefined || known.has(id)) {
        return { theirs, filed, id: null };
      }
      known.add(id);
      const base = this._base.cells.get(id);
      return { theirs, filed, base, id: here.has(id) ? id : null };
    });
    const left = [...this._base.cells].filter(([id]) => !known.has(id));
    const named = pairs.filter(({ base }) => base === undefined);
    const same = pairedByText(
      left.map(([, { type, source }]) => ({ type, text: source })),
      named.map(({ filed: { type, source } }) => ({ type, text: source }))
    );
    named.forEach((pair, place) => {
      const [id, cell] = left[same.get(place) ?? -1] ?? [null, undefined];
      const isHere = id !== null && here.has(id);
      if (
        pair.theirs.id === undefined ||
        (isHere && (this._isWritten(id) || this._isRun(id)))
      ) {
        pair.id = isHere ? id : null;
        pair.base = cell;
      }
    });
    return pairs;
  }

  /**
   * Whether somebody wrote in a cell here since it was read.
   */
  private _isWritten(id: string): boolean {
    const base = this._base.cells.get(id);
    const cell = this._list.get(id);
    return (
      base !== undefined &&
      (cell.getSource() !== base.source || cell.cell_type !== base.type)
    );
  }

  /**
   * Whether a cell was run here since it was read, or lost what it had printed.
   * One that is not in the file yet had printed nothing.
   */
  private _isRun(id: string): boolean {
    const cell = this._list.get(id);
    if (cell.cell_type !== 'code') {
      return false;
    }
    const { execution_count: count } = cell as ISharedCodeCell;
    const base = this._base.cells.get(id);
    return (
      count !== (base?.count ?? null) ||
      outputsHash((cell as ISharedCodeCell).getOutputs()) !==
        (base?.outputs ?? outputsHash([]))
    );
  }

  /**
   * Take away what is not there any more, unless somebody writes in it here.
   */
  private _remove(): void {
    const paired = new Set(this._pairs.map(({ id }) => id));
    for (const id of this._list.ids) {
      if (paired.has(id)) {
        continue;
      }
      if (this._base.cells.has(id) && !this._isWritten(id)) {
        this._list.remove(this._list.place(id));
      } else {
        this.unsaved = true;
      }
    }
  }

  /**
   * Put the cells in the file's order, if they were moved there and not here.
   */
  private _order(): void {
    const base = [...this._base.cells.keys()];
    const wanted = this._pairs.flatMap(({ id }) => (id === null ? [] : [id]));
    const places = new Map(wanted.map((id, place) => [id, place]));
    const here = this._list.ids.filter(id => places.has(id));
    if (!JSONExt.deepEqual(here, inOrderOf(base, here))) {
      this.unsaved ||= !JSONExt.deepEqual(here, wanted);
      return;
    }
    const resting = new Set(
      longestRise(here.map(id => places.get(id) as number)).map(
        at => wanted[at]
      )
    );
    let before: string | undefined;
    for (const id of wanted) {
      if (!resting.has(id)) {
        const from = this._list.place(id);
        const to = this._list.placeAfter(before);
        this._list.move(from, to > from ? to - 1 : to);
      }
      before = id;
    }
  }

  private _insert(pair: IPair, before: string | null): void {
    const { theirs, filed, base } = pair;
    if (base !== undefined && base.source === filed.source) {
      // It was deleted here, and nobody wrote in it there.
      this.unsaved = true;
      return;
    }
    pair.id = this._put(
      theirs,
      before,
      (theirs.id as string | undefined) ?? UUID.uuid4()
    );
  }

  private _put(
    cell: nbformat.ICell,
    before: string | null,
    id: string
  ): string {
    const place = this._list.placeAfter(before ?? undefined);
    this._list.insert(place, { ...cell, id });
    return id;
  }

  private _merge(id: string, { theirs, filed }: IPair): void {
    const cell = this._list.get(id);
    const base = this._base.cells.get(id) ?? filed;
    const isWritten = this._isWritten(id);
    if (cell.cell_type !== filed.type && !isWritten) {
      this._list.replace(this._list.place(id), {
        ...theirs,
        id
      });
      return;
    }
    const mine = cell.getSource();
    const merged =
      cell.cell_type === filed.type || filed.type === base.type
        ? mergedText(base.source, mine, filed.source)
        : null;
    if (merged === null) {
      this._put(theirs, id, UUID.uuid4());
    } else if (merged !== mine) {
      this._list.change(() => replaceSource(cell, merged));
    }
    this.unsaved ||=
      cell.cell_type !== filed.type || cell.getSource() !== filed.source;
    this._list.change(() =>
      this._mergeMetadata(
        base.metadata,
        cell.getMetadata(),
        filed.metadata,
        cell
      )
    );
    if (cell.cell_type !== 'code' && !isWritten) {
      const attached = cell as ISharedAttachmentsCell;
      const attachments = theirs.attachments as
        nbformat.IAttachments | undefined;
      if (!isSame(attached.getAttachments(), attachments)) {
        this._list.change(() => attached.setAttachments(attachments));
      }
    }
  }

  private _mergeMetadata(
    base: PartialJSONObject,
    mine: PartialJSONObject,
    theirs: PartialJSONObject,
    to: Pick<ISharedNotebook, 'setMetadata' | 'deleteMetadata'>
  ): void {
    const keys = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
    keys.delete(OF_OUTPUTS);
    for (const key of keys) {
      const value = theirs[key];
      if (isSame(mine[key], value)) {
        continue;
      }
      if (!isSame(mine[key], base[key])) {
        this.unsaved ||= !OF_KERNEL.has(key);
      } else if (value === undefined) {
        to.deleteMetadata(key);
      } else {
        to.setMetadata(key, value);
      }
    }
  }

  /**
   * Outputs of a cell that was run here since, or runs, stay.
   */
  private _mergeOutputs(cell: ICodeCellModel, { theirs, filed }: IPair): void {
    const { outputs, metadata } = theirs as nbformat.ICodeCell;
    const isFiled =
      cell.executionCount === filed.count &&
      outputsHash(cell.sharedModel.getOutputs()) === filed.outputs;
    const isRunning =
      'executionState' in cell && cell.executionState === 'running';
    if (!isFiled && (isRunning || this._isRun(cell.id))) {
      this.unsaved = true;
      return;
    }
    setOutputs(cell, outputs, metadata.trusted === true);
    cell.executionCount = filed.count;
    // Lab works in returns and the like: it may not say what the file says.
    this._shown.set(cell.id, outputsHash(cell.sharedModel.getOutputs()));
  }

  private readonly _list: CellList;
  private readonly _pairs: IPair[];
  private readonly _shown = new Map<string | null, string>();
}

/**
 * What a kernel writes into a notebook as it starts.
 */
const OF_KERNEL: ReadonlySet<string> = new Set(['kernelspec', 'language_info']);

/**
 * What of a cell's metadata goes with its outputs.
 */
const OF_OUTPUTS = 'trusted';

function isSame(
  one: PartialJSONValue | undefined,
  other: PartialJSONValue | undefined
): boolean {
  return JSONExt.deepEqual(one ?? null, other ?? null);
}

/**
 * Those of a list that are in another one, in that one's order; others stay
 * where they are.
 */
function inOrderOf(order: readonly string[], ids: readonly string[]): string[] {
  const places = new Map(order.map((id, place) => [id, place]));
  const known = ids.filter(id => places.has(id));
  known.sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
  return ids.map(id => (places.has(id) ? (known.shift() as string) : id));
}

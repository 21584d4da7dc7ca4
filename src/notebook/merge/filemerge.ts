import type {
  ISharedAttachmentsCell,
  ISharedCodeCell,
  ISharedNotebook
} from '@jupyter/ydoc';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type * as nbformat from '@jupyterlab/nbformat';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { PartialJSONObject } from '@lumino/coreutils';
import { JSONExt, UUID } from '@lumino/coreutils';

import { CellList } from '../celllist';
import { setOutputs } from '../outputs/celloutputs';
import type { ISavedCell, ISavedNotebook } from './savedform';
import { attachmentsOf, savedCell, withUniqueNames } from './savedform';
import { longestIncreasing } from './longestincreasing';
import { outputsHash } from '../outputs/outputshash';
import { pairedByText } from './cellpairing';
import { replaceSource } from '../undosteps';
import { isSameValue, mergedObject } from './objectmerge';
import { commonText, mergedText } from './threewaymerge';

type Cell = ISharedNotebook['cells'][number];

/**
 * What became of a notebook and its file.
 */
export interface IMerged {
  /**
   * What the file says.
   */
  readonly inFile: ISavedNotebook;
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
 * rewritten here and there is there twice: the second one has what the file
 * says, also when that changes later. None of it is a step that the
 * person could undo: they did not do it.
 */
export function mergeFile(
  model: Pick<INotebookModel, 'sharedModel' | 'cells'>,
  base: ISavedNotebook,
  file: nbformat.INotebookContent
): IMerged {
  const merge = new Merge(model, base, file);
  merge.cellsAndTexts();
  merge.outputs();
  return { inFile: merge.savedForm(), unsaved: merge.unsaved };
}

/**
 * One cell of the file, and the cell that shows it here.
 */
interface IPair {
  readonly theirs: nbformat.ICell;
  /**
   * Its id, if it has one that no cell before it has.
   */
  readonly ownId: string | undefined;
  /**
   * What the file says of it.
   */
  readonly inFile: ISavedCell;
  /**
   * What the file said of it before.
   */
  base?: ISavedCell;
  id: string | null;
  /**
   * The cell here that has their text beside the one with mine.
   */
  copy?: string;
}

/**
 * What is under way while a file is merged.
 */
class Merge {
  constructor(
    private readonly _model: Pick<INotebookModel, 'sharedModel' | 'cells'>,
    private readonly _base: ISavedNotebook,
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
    for (const [name, cell] of withUniqueNames(
      this._model.cells,
      ({ id }) => id
    )) {
      const pair = pairs.get(name);
      if (cell.type === 'code' && pair?.inFile.type === 'code') {
        this._mergeOutputs(cell as ICodeCellModel, { ...pair, id: name });
      }
    }
  }

  /**
   * What the file says, by the ids that its cells have here.
   */
  savedForm(): ISavedNotebook {
    return {
      cells: new Map(
        this._pairs.map(({ id, ownId, inFile, copy }): [string, ISavedCell] => [
          id ?? ownId ?? UUID.uuid4(),
          {
            ...inFile,
            outputs: this._shown.get(id) ?? inFile.outputs,
            ...(copy === undefined ? {} : { copy })
          }
        ])
      ),
      metadata: this._file.metadata
    };
  }

  /**
   * Which cell here is which there: by id, and by what they said in a file
   * without ids or with the same id twice. Where the file has other ids now, the cells that somebody
   * writes in or runs here are found in the same way.
   */
  private _paired(): IPair[] {
    const here = new Set(this._list.ids);
    const known = new Set<string>();
    const pairs = this._file.cells.map((theirs): IPair => {
      const id = theirs.id as string | undefined;
      const inFile = savedCell(theirs);
      if (id === undefined || known.has(id)) {
        return { theirs, ownId: undefined, inFile, id: null };
      }
      known.add(id);
      const base = this._base.cells.get(id);
      return { theirs, ownId: id, inFile, base, id: here.has(id) ? id : null };
    });
    const left = [...this._base.cells].filter(([id]) => !known.has(id));
    const named = pairs.filter(({ base }) => base === undefined);
    const same = pairedByText(
      left.map(([, { type, source }]) => ({ type, text: source })),
      named.map(({ inFile: { type, source } }) => ({ type, text: source }))
    );
    named.forEach((pair, place) => {
      const [id, cell] = left[same.get(place) ?? -1] ?? [null, undefined];
      const isHere = id !== null && here.has(id);
      if (
        pair.ownId === undefined ||
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
      (cell.getSource() !== base.source ||
        cell.cell_type !== base.type ||
        !isSameValue(attachmentsOf(cell), base.attachments))
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
      longestIncreasing(here.map(id => places.get(id) as number)).map(
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
    const { theirs, ownId, inFile, base } = pair;
    if (base !== undefined && base.source === inFile.source) {
      // It was deleted here, and nobody wrote in it there.
      this.unsaved = true;
      return;
    }
    pair.id = this._put(theirs, before, ownId ?? UUID.uuid4());
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

  private _merge(id: string, pair: IPair): void {
    const { theirs, inFile } = pair;
    const cell = this._list.get(id);
    const known = this._base.cells.get(id);
    const isOther = cell.cell_type !== inFile.type;
    const isMine = known
      ? this._isWritten(id)
      : cell.getSource() !== inFile.source;
    if (isOther && !isMine) {
      this._list.replace(this._list.place(id), { ...theirs, id: cell.getId() });
      return;
    }
    const base = known ?? {
      ...inFile,
      source: commonText(cell.getSource(), inFile.source),
      attachments: {}
    };
    if (!this._followCopy(cell, pair, base)) {
      const merged =
        !isOther || (known && inFile.type === base.type)
          ? mergedText(base.source, cell.getSource(), inFile.source)
          : null;
      if (merged === null) {
        pair.copy = this._put(theirs, id, UUID.uuid4());
      } else {
        this._list.change(() => replaceSource(cell, merged));
      }
    }
    this.unsaved ||= isOther || cell.getSource() !== inFile.source;
    this._list.change(() => {
      this._mergeMetadata(
        base.metadata,
        cell.getMetadata(),
        inFile.metadata,
        cell
      );
      if (cell.cell_type !== 'code') {
        this._mergeAttachments(base, cell as ISharedAttachmentsCell, inFile);
      }
    });
  }

  /**
   * Take up their text where it has a cell of its own beside the one with mine,
   * because both were written in one place before. Once both say the same, that
   * cell goes; what somebody wrote into it stays.
   *
   * @returns Whether it was taken up.
   */
  private _followCopy(cell: Cell, pair: IPair, base: ISavedCell): boolean {
    const { theirs, inFile } = pair;
    if (base.copy === undefined || !this._list.has(base.copy)) {
      return false;
    }
    const copy = this._list.get(base.copy);
    const isUntouched =
      copy.getSource() === base.source && copy.cell_type === base.type;
    const isSettled =
      cell.getSource() === inFile.source && cell.cell_type === inFile.type;
    if (isSettled) {
      if (isUntouched) {
        this._list.remove(this._list.place(base.copy));
      }
      return false;
    }
    pair.copy = base.copy;
    if (inFile.source === base.source && inFile.type === base.type) {
      return true;
    }
    const place = this._list.place(base.copy);
    const merged = mergedText(base.source, copy.getSource(), inFile.source);
    if (isUntouched && copy.cell_type !== inFile.type) {
      this._list.replace(place, { ...theirs, id: copy.getId() });
    } else if (merged !== null && copy.cell_type === inFile.type) {
      this._list.change(() => replaceSource(copy, merged));
    } else {
      pair.copy = this._put(theirs, base.copy, UUID.uuid4());
    }
    return true;
  }

  private _mergeAttachments(
    base: ISavedCell,
    cell: ISharedAttachmentsCell,
    inFile: ISavedCell
  ): void {
    const mine = attachmentsOf(cell);
    const { changes, kept } = mergedObject(
      base.attachments,
      mine,
      inFile.attachments
    );
    this.unsaved ||= kept.length > 0;
    if (changes.length > 0) {
      const merged = new Map([...Object.entries(mine), ...changes]);
      const present = [...merged].filter(([, value]) => value !== undefined);
      cell.setAttachments(
        present.length > 0
          ? (Object.fromEntries(present) as nbformat.IAttachments)
          : undefined
      );
    }
  }

  private _mergeMetadata(
    base: PartialJSONObject,
    mine: PartialJSONObject,
    theirs: PartialJSONObject,
    to: Pick<ISharedNotebook, 'setMetadata' | 'deleteMetadata'>
  ): void {
    const { changes, kept } = mergedObject(base, mine, theirs);
    this.unsaved ||= kept.some(
      key => key !== OF_OUTPUTS && !OF_KERNEL.has(key)
    );
    for (const [key, value] of changes) {
      if (key === OF_OUTPUTS) {
        continue;
      }
      if (value === undefined) {
        to.deleteMetadata(key);
      } else {
        to.setMetadata(key, value);
      }
    }
  }

  /**
   * Outputs of a cell that was run here since, or runs, stay.
   */
  private _mergeOutputs(
    cell: ICodeCellModel,
    { id, theirs, inFile }: IPair & { readonly id: string }
  ): void {
    const { outputs, metadata } = theirs as nbformat.ICodeCell;
    const isSaved =
      cell.executionCount === inFile.count &&
      outputsHash(cell.sharedModel.getOutputs()) === inFile.outputs;
    const isRunning =
      'executionState' in cell && cell.executionState === 'running';
    if (!isSaved && (isRunning || this._isRun(id))) {
      this.unsaved = true;
      return;
    }
    setOutputs(cell, outputs, metadata.trusted === true);
    cell.executionCount = inFile.count;
    // Lab works in returns and the like: it may not say what the file says.
    this._shown.set(id, outputsHash(cell.sharedModel.getOutputs()));
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

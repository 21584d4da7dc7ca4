import type {
  MemoryRun,
  MemoryView,
  NewNoteBody,
  NoteChangeBody
} from '../generated/rest';

import type { Forgettable, IMemoryPlace, MemoryApi } from './memoryapi';
import { RemoteData } from './remotedata';

/**
 * What came of learning that a person asked for.
 */
export type LearningOutcome = 'learned' | 'nothing' | 'waiting' | 'failed';

/**
 * How often the server is asked whether it still learns, in milliseconds.
 */
const PAUSE = 1_000;
const PAUSE_AFTER_PROBLEM = 3_000;

/**
 * Everything that is remembered for a person.
 *
 * #### Notes
 * While the server learns it is asked again and again whether it is done.
 */
export class MemoryData extends RemoteData<MemoryView> {
  constructor(options: MemoryData.IOptions) {
    super();
    this._api = options.api;
    this._placeNow = options.place ?? (() => ({}));
  }

  /**
   * From where what is known was looked at.
   */
  get place(): IMemoryPlace {
    return this._place;
  }

  /**
   * What came of the learning that was asked for here last; `null` before it
   * is over.
   */
  get outcome(): LearningOutcome | null {
    return this._outcome;
  }

  /**
   * The newest run that failed and was not made up for since.
   */
  get failure(): MemoryRun | null {
    const recent = this.value?.memory.recent ?? [];
    const at = recent.findIndex(({ outcome }) => outcome === 'failed');
    const made = recent
      .slice(0, Math.max(at, 0))
      .some(
        ({ kind, key }) => kind === recent[at].kind && key === recent[at].key
      );
    return at < 0 || made ? null : recent[at];
  }

  override dispose(): void {
    clearTimeout(this._timer);
    super.dispose();
  }

  override async refresh(): Promise<void> {
    await super.refresh();
    this._lookAgain();
  }

  addNote(note: NewNoteBody): Promise<boolean> {
    // A note for oneself was not said in the conversation that is on screen.
    const place = note.scope === 'person' ? {} : this._place;
    return this._change(() => this._api.addNote(note, place));
  }

  changeNote(id: string, change: NoteChangeBody): Promise<boolean> {
    return this._change(() => this._api.changeNote(id, change, this._place));
  }

  deleteNote(id: string): Promise<boolean> {
    return this._change(() => this._api.deleteNote(id, this._place));
  }

  changeLearned(id: string, text: string): Promise<boolean> {
    return this._change(() => this._api.changeLearned(id, text));
  }

  deleteLearned(id: string): Promise<boolean> {
    return this._change(() => this._api.deleteLearned(id));
  }

  /**
   * Make a note of a line that was learned.
   */
  keepLearned(id: string): Promise<boolean> {
    return this._change(() => this._api.keepLearned(id));
  }

  /**
   * Learn from finished conversations; `outcome` says what came of it.
   */
  learn(): Promise<boolean> {
    return this._change(async () => {
      const before = this.value?.memory.recent ?? [];
      await this._api.learn();
      this._before = new Set(before.map(runKey));
      this._outcome = null;
      if (this.value) {
        // What was asked before this says nothing of it.
        this.accept({ ...this.value, running: true });
      }
    });
  }

  /**
   * Go back to what was learned before the last change.
   */
  undo(): Promise<boolean> {
    return this._change(() => this._api.undoLearning());
  }

  forget(what: Forgettable): Promise<boolean> {
    return this._change(() => this._api.forget(what));
  }

  protected async fetch(): Promise<MemoryView> {
    const place = this._placeNow();
    const value = await this._api.memory(place);
    this._place = place;
    return value;
  }

  protected override accept(value: MemoryView): void {
    if (this._before !== null && !value.running) {
      const before = this._before;
      this._before = null;
      this._outcome = outcomeOf(
        value.memory.recent.filter(run => !before.has(runKey(run))),
        value.lastRound?.outcome === 'waiting'
      );
    }
    super.accept(value);
  }

  /**
   * Do something, and see what is remembered then, even if it was refused:
   * somebody else may have been faster.
   */
  private async _change(ask: () => Promise<unknown>): Promise<boolean> {
    const done = await this.act(async () => {
      await ask();
    });
    await this.refresh();
    return done;
  }

  private _lookAgain(): void {
    clearTimeout(this._timer);
    if (this.value?.running && !this.isDisposed) {
      this._timer = setTimeout(
        () => void this.refresh(),
        this.loadError === null ? PAUSE : PAUSE_AFTER_PROBLEM
      );
    }
  }

  private readonly _api: MemoryApi;
  private readonly _placeNow: () => IMemoryPlace;
  private _place: IMemoryPlace = {};
  private _before: ReadonlySet<string> | null = null;
  private _outcome: LearningOutcome | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The namespace for `MemoryData` statics.
 */
export namespace MemoryData {
  /**
   * The options of the data.
   */
  export interface IOptions {
    readonly api: MemoryApi;

    /**
     * From where memory is looked at just now.
     */
    readonly place?: () => IMemoryPlace;
  }
}

function runKey({ kind, key, beganAt, endedAt }: MemoryRun): string {
  return [kind, key, beganAt, endedAt].join(' ');
}

function outcomeOf(
  runs: readonly MemoryRun[],
  isPutOff: boolean
): LearningOutcome {
  if (runs.some(({ outcome }) => outcome === 'failed')) {
    return 'failed';
  }
  if (runs.some(({ outcome }) => outcome === 'saved')) {
    return 'learned';
  }
  return isPutOff ? 'waiting' : 'nothing';
}

import { Notification } from '@jupyterlab/apputils';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { asErrorBody } from '../../errors';
import type {
  CheckpointView,
  RestartedRun,
  RestorePreview,
  RestoreResult,
  StoreActionBody,
  VariablesPreview
} from '../../generated/rest';
import { Listener } from '../../listener';
import { durationText } from '../../ui/texts/formats';
import type { IPanelServices } from '../../ui/services';
import { plainName } from '../../ui/texts/visibletext';
import { showError } from '../../ui/notifications';
import type { IPlace, IRestartTarget, Part } from '../../rest/timelineapi';
import { TimelineApi } from '../../rest/timelineapi';
import type { IRestoreChoice } from './restoredialog';
import { keptCount } from './restorepreview';
import { checkpointText } from '../checkpointtexts';
import { failureText } from '../failuretexts';
import { leftOutText, SHOWN_FOR } from '../timelinetexts';

/**
 * In the order in which they are offered.
 */
const PARTS: readonly Part[] = [
  'files',
  'notebooks',
  'variables',
  'conversation'
];

/**
 * After how many milliseconds it is asked again how far a run is.
 */
const PAUSE = 500;

/**
 * After how many milliseconds it is said that something is under way.
 */
const SLOW = 500;

/**
 * What is done with a variable that is as it was then.
 */
const RESTORES: readonly string[] = ['load', 'import', 'keep'];

/**
 * From how many milliseconds on it is said how long something took.
 */
const NOTICEABLE_MS = 1_000;

/**
 * What the person does with checkpoints: keeps one, goes back to one, takes that
 * back. Each asks first where something could be lost, and says what it did.
 */
export class RestoreActions extends Listener {
  constructor(services: RestoreActions.IServices) {
    super();
    this._services = services;
    this.api = new TimelineApi(services.serverSettings);
  }

  readonly api: TimelineApi;

  /**
   * Emitted when something was done, so that time lines are different.
   */
  get happened(): ISignal<this, void> {
    return this._happened;
  }

  /**
   * Keep how things are now.
   *
   * @returns The checkpoint; `null` if it could not be kept, which is said.
   */
  save(place: IPlace, note?: string): Promise<CheckpointView | null> {
    const { trans } = this._services;
    return this._do(trans.__('Saving a checkpoint…'), async () => {
      const checkpoint = await this.api.save(place, note);
      return {
        value: checkpoint,
        message: checkpoint.already
          ? trans.__(
              'Nothing has changed since “%1”. You are already there.',
              checkpointText(checkpoint, trans)
            )
          : [
              trans.__('The checkpoint was saved.'),
              ...checkpoint.leftOut.map(left => leftOutText(left, trans))
            ].join(' ')
      };
    });
  }

  /**
   * Go back to a checkpoint, or bring back parts of it, once the person has seen
   * what that does.
   *
   * @param checkpoint - Its id or commit.
   *
   * @param wanted - What to begin the question with; without it, all there is.
   *
   * @returns What was done; `null` if nothing was.
   */
  async restore(
    place: IPlace,
    checkpoint: string,
    wanted: readonly Part[] = PARTS
  ): Promise<RestoreResult | null> {
    const { trans } = this._services;
    const look = (choice: IRestoreChoice) =>
      this.api.preview(place, checkpoint, choice);
    const begun = { parts: wanted, overwrite: false };
    const preview = await this._look(() => look(begun));
    if (preview === null) {
      return null;
    }
    const offered = partsOf(preview.target);
    const { askRestore } = await import('./restoredialog');
    const choice = await askRestore({
      trans,
      title: trans.__('Restore this checkpoint?'),
      accept: trans.__('Restore'),
      operation: 'rewind',
      preview,
      offered,
      choice: {
        ...begun,
        parts: offered.filter(part => wanted.includes(part))
      },
      look
    });
    return (
      choice &&
      this._restore(place, trans.__('The checkpoint was restored.'), () =>
        this.api.restore(place, checkpoint, choice)
      )
    );
  }

  /**
   * Bring one cell back to what the person chooses of what it was. They see
   * what that is, and mean the cell whoever changed it.
   *
   * @param source - What it says now.
   */
  async chooseCell(
    path: string,
    cellId: string,
    source: string
  ): Promise<RestoreResult | null> {
    const { trans } = this._services;
    const found = await this._look(() => this.api.cellVersions(path, cellId));
    if (found === null) {
      return null;
    }
    const { askCellVersion } = await import('./cellversions');
    const { versions } = found;
    const checkpoint = await askCellVersion({ trans, source, versions });
    return checkpoint === null
      ? null
      : this._restore({ path }, trans.__('The cell was restored.'), () =>
          this.api.restore({ path }, checkpoint, {
            parts: ['notebooks'],
            path,
            cellId,
            overwrite: true
          })
        );
  }

  /**
   * Bring one variable back, once the person has seen what that does.
   *
   * @param path - The notebook.
   *
   * @param checkpoint - Its id or commit.
   */
  async restoreVariable(
    path: string,
    checkpoint: string,
    name: string
  ): Promise<RestoreResult | null> {
    const { trans } = this._services;
    const place = { path };
    const begun = {
      parts: ['variables'] as const,
      path,
      onlyVariables: [name],
      overwrite: false
    };
    const look = (choice: IRestoreChoice) =>
      this.api.preview(place, checkpoint, { ...choice, path });
    const preview = await this._look(() => look(begun));
    if (preview === null) {
      return null;
    }
    const { askRestore } = await import('./restoredialog');
    const choice = await askRestore({
      trans,
      title: trans.__('Restore the variable %1?', plainName(name)),
      accept: trans.__('Restore'),
      operation: 'rewind',
      preview,
      choice: begun,
      look
    });
    return (
      choice &&
      this._restore(
        place,
        ({ variables }) =>
          variables.some(kernel =>
            kernel.variables.some(
              one => one.name === name && RESTORES.includes(one.action)
            )
          )
            ? trans.__('The variable was restored.')
            : trans.__(
                'The variable was not restored: the kernel or the variable changed in the meantime.'
              ),
        () => this.api.restore(place, checkpoint, { ...choice, path })
      )
    );
  }

  /**
   * Take a restore, or an undo, back. The person is asked only if there is
   * something to lose or to choose.
   *
   * @param operation - Which; without it, the newest that can be undone.
   */
  async undo(place: IPlace, operation?: string): Promise<RestoreResult | null> {
    const { trans } = this._services;
    const id = operation ?? (await this._look(() => this._undoable(place)));
    if (id === null) {
      return null;
    }
    const look = ({ overwrite }: Pick<IRestoreChoice, 'overwrite'>) =>
      this.api.previewUndo(place, id, overwrite);
    const preview = await this._look(() => look({ overwrite: false }));
    if (preview === null) {
      return null;
    }
    let overwrite = false;
    if (isGrave(preview)) {
      const { askRestore } = await import('./restoredialog');
      const choice = await askRestore({
        trans,
        title: trans.__('Undo this restore?'),
        accept: trans.__('Undo'),
        operation: 'undo',
        preview,
        choice: { parts: [], overwrite },
        look
      });
      if (choice === null) {
        return null;
      }
      overwrite = choice.overwrite;
    }
    return this._restore(place, trans.__('The restore was undone.'), () =>
      this.api.undo(place, id, overwrite)
    );
  }

  /**
   * Tidy the store, or settle a restore that was cut short.
   */
  async act(place: IPlace, action: StoreActionBody['action']): Promise<void> {
    const { trans } = this._services;
    const [doing, done] = {
      tidy: [trans.__('Cleaning up…'), trans.__('Cleaned up.')],
      roll_back: [
        trans.__('Rolling the interrupted restore back…'),
        trans.__('The interrupted restore was rolled back.')
      ],
      keep: [
        trans.__('Keeping the current state…'),
        trans.__('The current state was kept.')
      ]
    }[action];
    await this._do(doing, async () => ({
      value: await this.api.act(place, action),
      message: done
    }));
  }

  /**
   * Run again what makes the variables that were lost, if the person agrees.
   */
  async runAgain(lost: readonly VariablesPreview[]): Promise<void> {
    const { runAgain } = await import('./reruncells');
    for (const kernel of lost) {
      if (!(await runAgain(this._services, kernel))) {
        return;
      }
    }
  }

  /**
   * Restart a kernel and run its cells again up to where the person wants to go
   * back to, once they have seen which cells those are.
   *
   * @returns How the run ended; `null` if there was none, or that is not known.
   */
  async restart(target: IRestartTarget): Promise<RestartedRun | null> {
    const { trans } = this._services;
    const preview = await this._look(() => this.api.previewRestart(target));
    if (preview === null) {
      return null;
    }
    const { askRestart } = await import('./restartdialog');
    if (!(await askRestart(preview, trans))) {
      return null;
    }
    const begun = await this._look(() =>
      this.api.restart(target, preview.seen)
    );
    this._happened.emit();
    return begun && this._followed(begun);
  }

  /**
   * Say that cells run, let the person stop them, and say how that ended.
   */
  private async _followed(begun: RestartedRun): Promise<RestartedRun | null> {
    const { trans } = this._services;
    const name = plainName(begun.path);
    const shown = Notification.emit(
      trans.__('Running the cells of %1 again…', name),
      'in-progress',
      {
        autoClose: false,
        actions: [
          {
            label: trans.__('Stop'),
            callback: () =>
              void this._look(() => this.api.stopRestarted(begun.id))
          }
        ]
      }
    );
    let run: RestartedRun | null = begun;
    while (run !== null && !run.done) {
      await new Promise(resolve => setTimeout(resolve, PAUSE));
      run = await this._look(() => this.api.restarted(begun.id));
    }
    Notification.dismiss(shown);
    const failed = run?.cells.find(({ state }) => state !== 'ok');
    if (failed) {
      showError(
        trans.__(
          'A cell of %1 did not finish, so the cells after it did not run. %2',
          name,
          failed.error ?? trans.__('Its output says why.')
        )
      );
    } else if (run !== null) {
      Notification.success(
        trans._n(
          '%1 cell of %2 ran again.',
          '%1 cells of %2 ran again.',
          run.cells.length,
          name
        ),
        { autoClose: SHOWN_FOR }
      );
    }
    return run;
  }

  private async _undoable(place: IPlace): Promise<string | null> {
    const { trans } = this._services;
    const { operations } = await this.api.view(place);
    const found = operations.find(({ undoable }) => undoable);
    if (!found) {
      Notification.info(trans.__('There is no restore to undo.'), {
        autoClose: SHOWN_FOR
      });
    }
    return found?.id ?? null;
  }

  private _restore(
    place: IPlace,
    message: string | ((result: RestoreResult) => string),
    work: () => Promise<RestoreResult>
  ): Promise<RestoreResult | null> {
    const { trans } = this._services;
    return this._do(trans.__('Restoring…'), async () => {
      const result = await work();
      const { durationMs, operation, variables } = result;
      const done = typeof message === 'string' ? message : message(result);
      const said =
        (durationMs ?? 0) >= NOTICEABLE_MS
          ? trans.__(
              '%1 It took %2.',
              done,
              durationText(trans, durationMs ?? 0)
            )
          : done;
      const lost = variables.filter(({ rerun }) => rerun.cells.length > 0);
      return {
        value: result,
        message:
          lost.length > 0
            ? trans.__(
                '%1 Some variables could not be loaded. To get them back, their cells have to run again.',
                said
              )
            : said,
        actions: [
          ...(lost.length > 0
            ? [
                {
                  label: trans.__('Run cells again…'),
                  callback: () => void this.runAgain(lost)
                }
              ]
            : []),
          ...(operation.undoable
            ? [
                {
                  label:
                    operation.kind === 'undo'
                      ? trans.__('Redo')
                      : trans.__('Undo'),
                  callback: () => void this.undo(place, operation.id)
                }
              ]
            : [])
        ]
      };
    });
  }

  /**
   * Do something that may take a while, and say how it goes.
   */
  private async _do<T>(
    doing: string,
    work: () => Promise<{
      readonly value: T;
      readonly message: string;
      readonly actions?: Notification.IAction[];
    }>
  ): Promise<T | null> {
    let slow: string | undefined;
    const timer = setTimeout(() => {
      slow = Notification.emit(doing, 'in-progress', { autoClose: false });
    }, SLOW);
    // A notification that Lab has yet to draw cannot be made another.
    const end = () => {
      clearTimeout(timer);
      if (slow !== undefined) {
        Notification.dismiss(slow);
      }
    };
    try {
      const { value, message, actions = [] } = await work();
      end();
      Notification.success(message, { autoClose: SHOWN_FOR, actions });
      return value;
    } catch (reason) {
      end();
      showError(failureText(asErrorBody(reason), this._services.trans));
      return null;
    } finally {
      this._happened.emit();
    }
  }

  /**
   * Ask for something to be shown; if it does not come, say why.
   */
  private async _look<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (reason) {
      showError(failureText(asErrorBody(reason), this._services.trans));
      return null;
    }
  }

  private readonly _services: RestoreActions.IServices;
  private readonly _happened = new Signal<this, void>(this);
}

/**
 * The namespace for `RestoreActions` statics.
 */
export namespace RestoreActions {
  /**
   * What travelling needs of the page.
   */
  export type IServices = Pick<
    IPanelServices,
    'documents' | 'serverSettings' | 'trans'
  >;
}

/**
 * The parts that a checkpoint has.
 */
export function partsOf(checkpoint: CheckpointView): readonly Part[] {
  const has: Readonly<Record<Part, boolean>> = {
    files: true,
    notebooks: checkpoint.notebooks.length > 0,
    variables: checkpoint.variables.length > 0,
    conversation:
      checkpoint.taskId !== undefined && checkpoint.messageTs !== undefined
  };
  return PARTS.filter(part => has[part]);
}

/**
 * Whether there is something to lose, or to choose.
 */
function isGrave(preview: RestorePreview): boolean {
  const { conversation, variables } = preview;
  return (
    keptCount(preview) > 0 ||
    variables.some(kernel =>
      kernel.variables.some(({ action }) => action === 'lost')
    ) ||
    (conversation !== undefined &&
      (conversation.goneOn ||
        conversation.stopsTask ||
        conversation.removed > 0 ||
        conversation.toolCalls > 0))
  );
}

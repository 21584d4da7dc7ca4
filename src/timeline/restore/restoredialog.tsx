import { Dialog, ReactWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { asErrorBody } from '../../errors';
import type { CheckpointView, RestorePreview } from '../../generated/rest';
import type { ErrorBody } from '../../generated/wire';
import { drawDialogBody } from '../../ui/drawdialogbody';
import type { Part } from '../../rest/timelineapi';
import { canRunAgain, keptCount, RestorePreviewText } from './restorepreview';
import { checkpointText } from '../checkpointtexts';
import { failureText } from '../failuretexts';
import { partText, whenText } from '../timelinetexts';

/**
 * What the person chose to bring back.
 */
export interface IRestoreChoice {
  readonly parts: readonly Part[];

  /**
   * Whether also what they changed since.
   */
  readonly overwrite: boolean;

  /**
   * Names of variables that stay as they are.
   */
  readonly leaveVariables?: readonly string[];

  /**
   * Names of the only ones that do not.
   */
  readonly onlyVariables?: readonly string[];
}

/**
 * What a restore does with a variable that it changes.
 */
const SET: readonly string[] = ['load', 'import', 'remove', 'lost'];

/**
 * What is asked before something is brought back.
 */
export interface IRestoreQuestion {
  readonly trans: TranslationBundle;
  readonly title: string;

  /**
   * What the button says.
   */
  readonly accept: string;
  readonly operation: 'rewind' | 'undo';
  readonly preview: RestorePreview;
  readonly choice: IRestoreChoice;

  /**
   * The parts among which one chooses; without them there is nothing to choose.
   */
  readonly offered?: readonly Part[];

  /**
   * Looks at what another choice would do.
   */
  readonly look: (choice: IRestoreChoice) => Promise<RestorePreview>;
}

/**
 * Show what a restore would do, and ask whether to do it.
 *
 * @returns What was chosen; `null` if nothing shall be done.
 */
export async function askRestore(
  question: IRestoreQuestion
): Promise<IRestoreChoice | null> {
  const { trans, title, accept } = question;
  const body = new RestoreBody(question);
  drawDialogBody(body);
  const dialog = new Dialog({
    title,
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.okButton({ label: accept })
    ],
    // What cannot be pressed takes no focus.
    defaultButton: isWorthwhile(question.preview) ? 1 : 0
  });
  dialog.addClass('jp-hdspAgent-timeline-dialog');
  const { button } = await dialog.launch();
  return button.accept ? body.choice : null;
}

/**
 * Whether doing it changes anything, or leads to what does.
 */
function isWorthwhile(preview: RestorePreview): boolean {
  return !preview.nothing || canRunAgain(preview);
}

class RestoreBody extends ReactWidget {
  constructor(question: IRestoreQuestion) {
    super();
    this.addClass('jp-hdspAgent-changes-preview');
    this.addClass('jp-hdspAgent-timeline-preview');
    this._question = question;
    this.choice = question.choice;
  }

  choice: IRestoreChoice;

  protected render(): JSX.Element {
    return (
      <RestoreView
        {...this._question}
        onChoose={choice => {
          this.choice = choice;
        }}
        onReady={isReady => this._enable(isReady)}
      />
    );
  }

  /**
   * What was not looked at cannot be done.
   */
  private _enable(isReady: boolean): void {
    const accept = this.node
      .closest('.jp-Dialog')
      ?.querySelector<HTMLButtonElement>('.jp-Dialog-button.jp-mod-accept');
    if (accept) {
      accept.disabled = !isReady;
    }
  }

  private readonly _question: IRestoreQuestion;
}

function RestoreView({
  trans,
  operation,
  preview: first,
  choice: begun,
  offered = [],
  look,
  onChoose,
  onReady
}: IRestoreQuestion & {
  onChoose: (choice: IRestoreChoice) => void;
  onReady: (isReady: boolean) => void;
}): JSX.Element {
  const [choice, setChoice] = React.useState(begun);
  const [preview, setPreview] = React.useState<RestorePreview | null>(first);
  const [error, setError] = React.useState<ErrorBody | null>(null);
  const newest = React.useRef(choice);
  // While another choice is looked at, nothing jumps.
  const seen = React.useRef(first);
  seen.current = preview ?? seen.current;
  const isReady = preview !== null && isWorthwhile(preview);
  React.useEffect(() => onReady(isReady), [onReady, isReady]);
  const choose = (change: Partial<IRestoreChoice>) => {
    const chosen = { ...choice, ...change };
    newest.current = chosen;
    setChoice(chosen);
    onChoose(chosen);
    setPreview(null);
    setError(null);
    look(chosen).then(
      seen => {
        if (newest.current === chosen) {
          setPreview(seen);
        }
      },
      (reason: unknown) => {
        if (newest.current === chosen) {
          setError(asErrorBody(reason));
        }
      }
    );
  };
  return (
    <>
      <CheckpointLine checkpoint={first.target} trans={trans} />
      {offered.length > 1 && (
        <fieldset className="jp-hdspAgent-timeline-parts">
          <legend>{trans.__('What to restore')}</legend>
          {offered.map(part => (
            <label key={part}>
              <input
                type="checkbox"
                checked={choice.parts.includes(part)}
                onChange={({ target }) =>
                  choose({
                    parts: offered.filter(one =>
                      one === part ? target.checked : choice.parts.includes(one)
                    )
                  })
                }
              />
              {partText(part, trans)}
            </label>
          ))}
        </fieldset>
      )}
      {(choice.overwrite || keptCount(seen.current) > 0) && (
        <label>
          <input
            type="checkbox"
            checked={choice.overwrite}
            onChange={({ target }) => choose({ overwrite: target.checked })}
          />
          {trans.__('Also overwrite my later edits')}
        </label>
      )}
      <LeaveVariables
        preview={seen.current}
        left={
          operation === 'undo' || choice.onlyVariables
            ? null
            : (choice.leaveVariables ?? [])
        }
        onChoose={leaveVariables => choose({ leaveVariables })}
        trans={trans}
      />
      <div className="jp-hdspAgent-timeline-effects" aria-live="polite">
        {preview !== null && (
          <RestorePreviewText
            preview={preview}
            operation={operation}
            trans={trans}
          />
        )}
        {preview === null && error === null && (
          <p>{trans.__('Loading the preview…')}</p>
        )}
      </div>
      {error && <p role="alert">{failureText(error, trans)}</p>}
      {isReady && (
        <p>
          {operation === 'undo'
            ? trans.__('You can redo it afterwards.')
            : trans.__('You can undo this.')}
        </p>
      )}
    </>
  );
}

/**
 * Which of the variables that would be set stay as they are instead. One whose
 * value cannot be read would keep all others from coming back.
 */
function LeaveVariables({
  preview,
  left,
  onChoose,
  trans
}: {
  preview: RestorePreview;
  left: readonly string[] | null;
  onChoose: (left: readonly string[]) => void;
  trans: TranslationBundle;
}): JSX.Element | null {
  const set = preview.variables
    .flatMap(({ variables }) => variables)
    .filter(({ action }) => SET.includes(action))
    .map(({ name }) => name);
  if (left === null || set.length + left.length === 0) {
    return null;
  }
  return (
    <details>
      <summary>{trans.__('Leave out variables')}</summary>
      <fieldset className="jp-hdspAgent-timeline-parts">
        {[...new Set([...left, ...set])].sort().map(name => (
          <label key={name}>
            <input
              type="checkbox"
              checked={left.includes(name)}
              onChange={({ target }) =>
                onChoose(
                  target.checked
                    ? [...left, name]
                    : left.filter(one => one !== name)
                )
              }
            />
            <code>{name}</code>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

function CheckpointLine({
  checkpoint,
  trans
}: {
  checkpoint: CheckpointView;
  trans: TranslationBundle;
}): JSX.Element {
  return (
    <p>
      <strong>{checkpointText(checkpoint, trans)}</strong>{' '}
      <time dateTime={new Date(checkpoint.ts).toISOString()}>
        {whenText(checkpoint.ts)}
      </time>
    </p>
  );
}

import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { asErrorBody, errorText } from '../../errors';
import type { ConversationPreview, ErrorBody } from '../../generated/wire';
import { FilesText, ChangePreview } from '../../ui/texts/changepreview';

/**
 * What the person chose in the question whether to make a change.
 */
export interface IConfirmed {
  /**
   * Whether the message that is gone back to stays.
   */
  readonly keep: boolean;

  /**
   * Whether files shall be brought back too.
   */
  readonly withFiles: boolean;
}

/**
 * Ask whether a change shall be made, with what it would do.
 *
 * @returns What was chosen; `null` if it shall not be made.
 */
export async function confirmChange(
  options: IConfirmOptions
): Promise<IConfirmed | null> {
  const { trans, title, accept } = options;
  const body = new ConfirmBody(options);
  const { button } = await showDialog({
    title,
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      options.preview.canBeUndone
        ? Dialog.okButton({ label: accept })
        : Dialog.warnButton({ label: accept })
    ],
    // Enter does nothing that cannot be undone.
    defaultButton: options.preview.canBeUndone ? 1 : 0
  });
  return button.accept ? body.chosen : null;
}

/**
 * What is asked.
 */
export interface IConfirmOptions {
  readonly trans: TranslationBundle;
  readonly title: string;

  /**
   * What the button says that makes the change.
   */
  readonly accept: string;
  readonly preview: ConversationPreview;

  /**
   * Whether one chooses if files are brought back too. An undo brings them to
   * where they were before, if the change did.
   */
  readonly offersFiles: boolean;

  /**
   * Looks at the change anew, if the message that is gone back to may stay or go.
   */
  readonly look?: (keep: boolean) => Promise<ConversationPreview>;
}

class ConfirmBody extends ReactWidget {
  constructor(options: IConfirmOptions) {
    super();
    this._options = options;
  }

  chosen: IConfirmed = { keep: true, withFiles: false };

  protected render(): JSX.Element {
    return (
      <ConfirmView
        {...this._options}
        onChoose={chosen => {
          this.chosen = chosen;
        }}
      />
    );
  }

  private readonly _options: IConfirmOptions;
}

function ConfirmView({
  trans,
  preview: first,
  offersFiles,
  look,
  onChoose
}: IConfirmOptions & {
  onChoose: (chosen: IConfirmed) => void;
}): JSX.Element {
  const [chosen, setChosen] = React.useState<IConfirmed>({
    keep: true,
    withFiles: false
  });
  const [preview, setPreview] = React.useState(first);
  const [error, setError] = React.useState<ErrorBody | null>(null);
  const newest = React.useRef(chosen);
  const choose = (change: Partial<IConfirmed>) => {
    newest.current = { ...chosen, ...change };
    setChosen(newest.current);
    onChoose(newest.current);
  };
  const chooseKeep = (keep: boolean) => {
    choose({ keep });
    const wanted = newest.current;
    look?.(keep).then(
      seen => {
        if (newest.current === wanted) {
          setPreview(seen);
        }
      },
      (reason: unknown) => setError(asErrorBody(reason))
    );
  };
  return (
    <div className="jp-hdspAgent-changes-preview">
      <ChangePreview
        preview={preview}
        withFiles={chosen.withFiles}
        trans={trans}
      />
      {look && (
        <label>
          <input
            type="checkbox"
            checked={chosen.keep}
            onChange={({ target }) => chooseKeep(target.checked)}
          />
          {trans.__('Keep this message')}
        </label>
      )}
      {offersFiles && preview.files && (
        <label>
          <input
            type="checkbox"
            checked={chosen.withFiles}
            onChange={({ target }) => choose({ withFiles: target.checked })}
          />
          {trans.__('Also restore files to how they were then')}
        </label>
      )}
      {preview.files && (chosen.withFiles || !offersFiles) && (
        <FilesText
          files={preview.files}
          operation={preview.operation}
          trans={trans}
        />
      )}
      {error && <p role="alert">{errorText(trans, error)}</p>}
    </div>
  );
}

import { Dialog, InputDialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * The questions the panel asks before it does something.
 */
export interface IDialogs {
  /**
   * Ask before something is lost or made less safe.
   *
   * @returns Whether to go on.
   */
  confirm(options: IConfirmation): Promise<boolean>;

  /**
   * Ask for a name.
   *
   * @returns The name, or `null` if there is to be none.
   */
  askName(options: INameQuestion): Promise<string | null>;
}

/**
 * What is asked before something is lost.
 */
export interface IConfirmation {
  title: string;
  body: string;

  /**
   * What going on is called.
   */
  accept: string;
}

/**
 * What is asked for a name.
 */
export interface INameQuestion {
  title: string;
  label: string;
  accept: string;

  /**
   * The name to begin with.
   */
  name?: string;
}

/**
 * The questions, asked with JupyterLab's dialogs.
 */
export class LabDialogs implements IDialogs {
  constructor(trans: TranslationBundle) {
    this._trans = trans;
  }

  async confirm(options: IConfirmation): Promise<boolean> {
    const { button } = await showDialog({
      title: options.title,
      body: options.body,
      buttons: [
        Dialog.cancelButton({ label: this._trans.__('Cancel') }),
        Dialog.warnButton({ label: options.accept })
      ],
      // Enter must not lose anything.
      defaultButton: 0
    });
    return button.accept;
  }

  async askName(options: INameQuestion): Promise<string | null> {
    const { button, value } = await InputDialog.getText({
      title: options.title,
      label: options.label,
      text: options.name ?? '',
      required: true,
      okLabel: options.accept,
      cancelLabel: this._trans.__('Cancel')
    });
    const name = value?.trim() ?? '';
    return button.accept && name !== '' ? name : null;
  }

  private readonly _trans: TranslationBundle;
}

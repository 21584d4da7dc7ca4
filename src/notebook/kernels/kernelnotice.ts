import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';

/**
 * A line above a notebook that says its kernel is a new one, until the person
 * closes it.
 */
export class KernelNotice extends Widget {
  constructor(private readonly _trans: TranslationBundle) {
    super();
    this.addClass('jp-hdspAgent-KernelNotice');
    const { node } = this;
    // The keys of the notebook are not those of the buttons.
    node.dataset.lmSuppressShortcuts = 'true';
    const text = document.createElement('span');
    text.className = 'jp-hdspAgent-KernelNotice-text';
    text.setAttribute('role', 'status');
    text.textContent = text.title = _trans.__(
      'The kernel restarted with the server, so its variables are gone.'
    );
    const close = document.createElement('button');
    close.type = 'button';
    close.className = 'jp-hdspAgent-KernelNotice-close';
    close.title = _trans.__('Dismiss');
    close.setAttribute('aria-label', close.title);
    closeIcon.element({ container: close });
    close.addEventListener('click', () => this.dispose());
    node.append(text, close);
  }

  /**
   * Offer to bring the variables back.
   *
   * @param restore - Brings them back, once the person has seen what that does.
   *
   * @returns Whether that was done, so that there is no more to say.
   */
  offer(restore: () => Promise<boolean>): void {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jp-hdspAgent-CellRow-button';
    button.textContent = this._trans.__('Restore variables…');
    button.title = this._trans.__(
      'Restore the variables from the last checkpoint that has them'
    );
    button.addEventListener('click', () => {
      void restore().then(isDone => {
        if (isDone) {
          this.dispose();
        }
      });
    });
    this.node.insertBefore(button, this.node.lastElementChild);
  }
}

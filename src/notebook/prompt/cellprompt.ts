import type { TranslationBundle } from '@jupyterlab/translation';

import { isComposing } from '../../ui/inputmethod';
import { CellRow } from '../cells/cellrow';

/**
 * How far the change is that somebody asks for at a cell.
 */
export type PromptPhase =
  | 'writing'
  | 'working'
  | 'asking'
  | 'changed'
  | 'approved'
  | 'unchanged'
  | 'failed';

/**
 * A field in a cell, in which one writes how the agent should change it.
 */
export class CellPrompt extends CellRow {
  constructor(options: CellPrompt.IOptions) {
    const { actions, label, trans } = options;
    super({
      kind: 'prompt',
      text: '',
      title: label,
      buttons: [
        {
          name: 'send',
          label: trans.__('Send'),
          title: trans.__('Have the agent change this cell (Enter)'),
          onClick: () => this._send()
        },
        {
          name: 'retry',
          label: trans.__('Try again'),
          title: trans.__('Undo the change and have the agent try again'),
          onClick: actions.retry
        },
        {
          name: 'stop',
          label: trans.__('Stop'),
          title: trans.__('Stop the agent'),
          onClick: actions.stop
        },
        {
          name: 'show',
          label: trans.__('Show conversation'),
          title: trans.__('Show the conversation about this change'),
          onClick: actions.show
        },
        {
          name: 'close',
          label: trans.__('Close'),
          title: trans.__('Close this field (Escape)'),
          onClick: actions.close
        }
      ]
    });
    this._options = options;
    this.addClass('jp-hdspAgent-CellPrompt');
    const field = document.createElement('textarea');
    field.className = 'jp-hdspAgent-CellPrompt-field';
    field.rows = 1;
    field.setAttribute('aria-label', label);
    field.addEventListener('keydown', event => this._onKey(event));
    field.addEventListener('input', () => this._fit());
    // The notebook would select cells, or begin to edit a rendered one.
    for (const type of ['mousedown', 'dblclick']) {
      field.addEventListener(type, event => event.stopPropagation());
    }
    this.node.firstElementChild?.after(field);
    this._field = field;
    const preview = document.createElement('pre');
    preview.className = 'jp-hdspAgent-CellPrompt-preview';
    // It changes all the time; what came of it is told.
    preview.setAttribute('aria-hidden', 'true');
    this.node.append(preview);
    this._preview = preview;
    this.setPhase('writing');
  }

  /**
   * Put the cursor into the field.
   */
  focus(): void {
    this._field.focus();
  }

  /**
   * Whether the cursor is in the row.
   */
  get hasFocus(): boolean {
    return this.node.contains(document.activeElement);
  }

  /**
   * What is written in the field.
   */
  get text(): string {
    return this._field.value.trim();
  }

  /**
   * Put words into the field, if there are none.
   */
  offer(text: string): void {
    if (this.text === '') {
      this._field.value = text;
      this._fit();
    }
  }

  /**
   * Show what is written of the change so far.
   *
   * @param diff - Its lines, which begin with `+` or `-`; nothing hides it.
   */
  setPreview(diff: string): void {
    const lines = diff === '' ? [] : diff.split('\n');
    this._preview.replaceChildren(
      ...lines.map(line => {
        const shown = document.createElement('div');
        shown.className = 'jp-hdspAgent-chat-diff-line';
        shown.dataset.kind = line.startsWith('-') ? 'removed' : 'added';
        shown.textContent = line;
        return shown;
      })
    );
    // The newest line is what comes.
    this._preview.scrollTop = this._preview.scrollHeight;
  }

  /**
   * Show how far it is.
   *
   * @param problem - What went wrong, where something did.
   */
  setPhase(phase: PromptPhase, problem = ''): void {
    const { trans, isEmpty } = this._options;
    const isBusy = phase === 'working' || phase === 'asking';
    const isDone = phase === 'changed' || phase === 'approved';
    const { hasFocus } = this;
    this.node.dataset.phase = phase;
    this._preview.replaceChildren();
    this._field.readOnly = isBusy;
    this._field.placeholder =
      phase !== 'writing'
        ? trans.__('What else should change?')
        : isEmpty
          ? trans.__('What should this cell do?')
          : trans.__('What should change in this cell?');
    this.setText(this._textOf(phase, problem));
    this.setVisible('send', !isBusy);
    this.setVisible('retry', phase === 'changed');
    this.setVisible('stop', isBusy);
    this.setVisible('show', phase !== 'writing');
    if (isDone) {
      this._field.value = '';
      this._fit();
    }
    const active = document.activeElement;
    if (hasFocus && active instanceof HTMLElement && active.hidden) {
      // The button that was pressed is gone.
      this._field.focus();
    }
  }

  private _textOf(phase: PromptPhase, problem: string): string {
    const { trans } = this._options;
    switch (phase) {
      case 'writing':
        return '';
      case 'working':
        return trans.__('The agent is changing this cell…');
      case 'asking':
        return trans.__('The agent needs your answer. Show the conversation.');
      case 'changed':
        return trans.__('Changed. You can keep or undo it.');
      case 'approved':
        return trans.__('Changed.');
      case 'unchanged':
        return trans.__('The agent did not change this cell.');
      case 'failed':
        return problem;
    }
  }

  private _send(): void {
    const { text } = this;
    if (text !== '' && !this._field.readOnly) {
      this._options.actions.send(text);
    }
  }

  private _onKey(event: KeyboardEvent): void {
    if (isComposing(event)) {
      return;
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      this._options.actions.close();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      event.stopPropagation();
      this._send();
    }
  }

  /**
   * Make the field as high as what is in it.
   */
  private _fit(): void {
    const { style } = this._field;
    style.height = 'auto';
    style.height = `${this._field.scrollHeight}px`;
  }

  private readonly _options: CellPrompt.IOptions;
  private readonly _field: HTMLTextAreaElement;
  private readonly _preview: HTMLPreElement;
}

/**
 * The namespace for `CellPrompt` statics.
 */
export namespace CellPrompt {
  /**
   * What the buttons do.
   */
  export interface IActions {
    readonly send: (text: string) => void;
    readonly retry: () => void;
    readonly stop: () => void;
    readonly show: () => void;
    readonly close: () => void;
  }

  /**
   * What a field is about.
   */
  export interface IOptions {
    readonly actions: IActions;

    /**
     * Which cell, or lines of it, it is about.
     */
    readonly label: string;

    /**
     * Whether there is nothing in the cell yet.
     */
    readonly isEmpty: boolean;
    readonly trans: TranslationBundle;
  }
}

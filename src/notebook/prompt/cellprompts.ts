import type { Cell } from '@jupyterlab/cells';
import type { NotebookMode } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ISignal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import type { ExtensionMessage } from '../../generated/wire';
import { Listener } from '../../listener';
import type { AgentStore } from '../../state/store';
import { addRow } from '../cells/cellrow';
import type { ICellPlace } from '../cells/cellplace';
import { CellPrompt } from './cellprompt';
import { PromptSession } from './promptsession';

/**
 * The row of a cell that the agent has added.
 */
const ADDED = '.jp-hdspAgent-CellRow[data-kind="inserted"]';

/**
 * The fields in which people write how the agent should change cells, at most
 * one in a cell.
 */
export class CellPrompts extends Listener {
  constructor(options: CellPrompts.IOptions) {
    super();
    this._options = options;
  }

  /**
   * Put a field into a cell, and the cursor into it.
   */
  async open(place: ICellPlace): Promise<void> {
    const { cell, panel } = place;
    if (!cell.inViewport) {
      await panel.content.scrollToCell(cell);
    }
    if (!cell.isDisposed) {
      (this._prompts.get(cell) ?? this._add(place)).focus();
    }
  }

  protected override release(): void {
    this._prompts.forEach(prompt => prompt.dispose());
    this._prompts.clear();
  }

  private _add(place: ICellPlace): CellPrompt {
    const { cell, panel } = place;
    const { trans } = this._options;
    const { mode } = panel.content;
    const session = new PromptSession({ ...this._options, place });
    const prompt: CellPrompt = new CellPrompt({
      trans,
      label: session.label,
      isEmpty: session.isEmpty,
      actions: {
        send: text => void session.send(text),
        retry: () => void session.retry(),
        stop: () => void session.stop(),
        show: () => void session.show(),
        close: () => this._close(place, prompt, mode)
      }
    });
    session.changed.connect(() => {
      prompt.setPhase(session.phase, session.problem);
      // To undo the change of a cell that the agent added would remove it.
      if (cell.node.querySelector(ADDED) !== null) {
        prompt.setVisible('retry', false);
      }
      if (session.phase === 'failed') {
        prompt.offer(session.wish);
      }
    });
    session.previewed.connect((_, diff) => prompt.setPreview(diff));
    session.decided.connect(() => {
      // What is only being written is not to be lost.
      if (['', session.wish].includes(prompt.text)) {
        this._close(place, prompt, mode);
      }
    });
    prompt.disposed.connect(() => {
      session.dispose();
      this._prompts.delete(cell);
    });
    this._prompts.set(cell, prompt);
    addRow(cell, prompt, 'before');
    return prompt;
  }

  /**
   * Take the field away. If the cursor was in it, it goes back to the notebook.
   *
   * @param mode - Whether the person was writing in the cell.
   */
  private _close(
    { panel }: ICellPlace,
    prompt: CellPrompt,
    mode: NotebookMode
  ): void {
    const { hasFocus } = prompt;
    prompt.dispose();
    if (hasFocus && !panel.isDisposed) {
      panel.content.activate();
      panel.content.mode = mode;
    }
  }

  private readonly _options: CellPrompts.IOptions;
  private readonly _prompts = new Map<Cell, CellPrompt>();
}

/**
 * The namespace for `CellPrompts` statics.
 */
export namespace CellPrompts {
  /**
   * Who changes the cells.
   */
  export interface IOptions {
    readonly client: Pick<ChannelClient, 'request'> & {
      readonly messageReceived: ISignal<unknown, ExtensionMessage>;
    };
    readonly commands: CommandRegistry;
    readonly store: AgentStore;
    readonly trans: TranslationBundle;
  }
}

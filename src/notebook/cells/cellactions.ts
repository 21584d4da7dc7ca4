import type { IError } from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';

import type { ChannelClient } from '../../comm/client';
import { alongWith } from '../../state/panel/attachments';
import type { IAttachment } from '../../state/panel/panelstate';
import { CommandIDs } from '../../ui/commandids';
import { asErrorBody, errorText } from '../../errors';
import { showError } from '../../ui/notifications';
import type { IAgentPanel } from '../../tokens';
import { attachmentsOf, takeFromCell } from './cellparts';
import type { ICellPlace } from './cellplace';
import { errorOf, tracebackOf } from './failedcells';

/**
 * What the person has the agent do with a cell.
 */
export class CellActions {
  constructor(options: CellActions.IOptions) {
    this._options = options;
  }

  /**
   * Ask the agent something about a cell.
   *
   * @param place - The cell.
   *
   * @param question - What is asked; without it the cell goes to where the
   * person writes what they want of it.
   */
  async ask(place: ICellPlace, question?: string): Promise<void> {
    const text = question?.trim() ?? '';
    if (text === '') {
      await this._options.commands.execute(CommandIDs.attachCell, {
        path: place.path,
        cellId: place.cell.model.id
      });
      return;
    }
    await this._begin(place, text, []);
  }

  /**
   * Have the agent do with a cell, or those selected with it, what a slash
   * command says.
   *
   * @param place - The cell.
   *
   * @param name - The name of the command.
   */
  async act(place: ICellPlace, name: string): Promise<void> {
    const attachments = attachmentsOf(place, this._options.trans);
    await this._begin(place, `/${name}`, attachments);
  }

  /**
   * Have the agent fix a cell that failed.
   */
  async fix({ panel, path, cell }: ICellPlace): Promise<void> {
    const error = errorOf(cell.model);
    if (!error) {
      return;
    }
    const { client, agent, trans } = this._options;
    agent.open();
    try {
      await client.request({
        type: 'fixCell',
        path,
        cellId: cell.model.id,
        source: cell.model.sharedModel.getSource(),
        traceback: tracebackOf(error),
        label: Private.label(
          panel.content.widgets.indexOf(cell) + 1,
          error,
          trans
        )
      });
    } catch (reason) {
      showError(
        trans.__(
          'The agent could not start fixing the cell. %1',
          errorText(trans, asErrorBody(reason))
        )
      );
    }
  }

  /**
   * Have the agent explain why a cell failed.
   */
  async explainError(place: ICellPlace): Promise<void> {
    const { panel, cell } = place;
    const taken = takeFromCell('error', panel, cell, this._options.trans);
    if (taken) {
      await this._begin(place, '/explain', taken.attachments);
    }
  }

  /**
   * Begin a conversation about a cell.
   */
  private async _begin(
    { path, cell }: ICellPlace,
    text: string,
    attachments: readonly IAttachment[]
  ): Promise<void> {
    const { client, agent, trans } = this._options;
    agent.open();
    try {
      await client.request({
        type: 'newTask',
        text,
        ...alongWith(attachments),
        notebook: { path, cellId: cell.model.id }
      });
    } catch (reason) {
      showError(
        trans.__(
          'The agent could not start. %1',
          errorText(trans, asErrorBody(reason))
        )
      );
    }
  }

  private readonly _options: CellActions.IOptions;
}

/**
 * The namespace for `CellActions` statics.
 */
export namespace CellActions {
  /**
   * Whom to ask, and where the answer is shown.
   */
  export interface IOptions {
    readonly client: Pick<ChannelClient, 'request'>;
    readonly agent: Pick<IAgentPanel, 'open'>;

    /**
     * Those of the panel among them.
     */
    readonly commands: Pick<CommandRegistry, 'execute'>;
    readonly trans: TranslationBundle;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  const MOST_CHARACTERS = 80;

  /**
   * What is asked for, in a line.
   */
  export function label(
    number: number,
    { ename, evalue }: IError,
    trans: TranslationBundle
  ): string {
    const error = `${ename}: ${evalue}`.replace(/\s+/g, ' ').trim();
    return trans.__(
      'Fix cell %1: %2',
      number,
      error.length > MOST_CHARACTERS
        ? `${error.slice(0, MOST_CHARACTERS)}…`
        : error
    );
  }
}

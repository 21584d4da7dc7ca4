import { InputDialog, Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { ChannelClient } from '../comm/client';
import { asErrorBody, errorText } from '../errors';
import type { IAgentPanel } from '../tokens';
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
   * @param question - What is asked; without it the person is asked for it.
   */
  async ask({ path, cell }: ICellPlace, question?: string): Promise<void> {
    const { client, agent, trans } = this._options;
    const cellId = cell.model.id;
    const text = (question ?? (await this._question())).trim();
    if (text === '') {
      return;
    }
    agent.open();
    try {
      await client.request({
        type: 'newTask',
        text,
        notebook: { path, cellId }
      });
    } catch (reason) {
      Notification.error(
        trans.__(
          'The agent could not be asked. %1',
          errorText(trans, asErrorBody(reason))
        )
      );
    }
  }

  /**
   * Have the agent fix a cell that failed.
   */
  async fix({ path, cell }: ICellPlace): Promise<void> {
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
        traceback: tracebackOf(error)
      });
    } catch (reason) {
      Notification.error(
        trans.__(
          'The agent could not begin to fix the cell. %1',
          errorText(trans, asErrorBody(reason))
        )
      );
    }
  }

  private async _question(): Promise<string> {
    const { trans } = this._options;
    const { button, value } = await InputDialog.getText({
      title: trans.__('Ask the agent about this cell'),
      label: trans.__('Question'),
      placeholder: trans.__('What does this cell do?'),
      okLabel: trans.__('Ask')
    });
    return button.accept ? (value ?? '') : '';
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
    readonly trans: TranslationBundle;
  }
}

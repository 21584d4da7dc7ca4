import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import { slashCommandText } from '../../generated/commandText';
import type { Command, ExtensionMessage } from '../../generated/wire';
import { Listener } from '../../listener';

/**
 * Something that the agent can do with a cell.
 */
export interface ICellAction {
  /**
   * The slash command that says what to do.
   */
  readonly name: string;
  readonly label: string;

  /**
   * What it does, in a line; empty where nobody says.
   */
  readonly caption: string;

  /**
   * Whether a person has written it, and not we.
   */
  readonly isOwn: boolean;
}

/**
 * The built-in slash commands that are for cells, as one reads them in a menu.
 */
export function builtInActions(trans: TranslationBundle): ICellAction[] {
  return Object.entries(slashCommandText(trans)).flatMap(([name, text]) =>
    text?.cellLabel
      ? [
          {
            name,
            label: text.cellLabel,
            caption: text.description,
            isOwn: false
          }
        ]
      : []
  );
}

/**
 * What the agent can do with a cell: the built-in slash commands that are for
 * cells, and those a person has written.
 */
export class CellActionList extends Listener {
  constructor({ client, trans }: CellActionList.IOptions) {
    super();
    this._client = client;
    this._trans = trans;
    this._actions = builtInActions(trans);
    client.messageReceived.connect(this._onMessage, this);
    client.statusChanged.connect(this._onStatus, this);
    this._onStatus();
  }

  /**
   * Emitted when there are others than before.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * All of them, the built-in ones first.
   */
  get actions(): readonly ICellAction[] {
    return this._actions;
  }

  /**
   * The one of a name; `null` if there is none.
   */
  find(name: unknown): ICellAction | null {
    return this._actions.find(action => action.name === name) ?? null;
  }

  /**
   * Ask the server what there is now.
   */
  refresh(): void {
    if (this._client.status.phase === 'open') {
      this._client.request({ type: 'requestCommands' }).catch(() => {
        // The built-in ones are known in any case.
      });
    }
  }

  private _onStatus(): void {
    const { phase } = this._client.status;
    if (phase !== this._phase) {
      this._phase = phase;
      this.refresh();
    }
  }

  private _onMessage(_: unknown, message: ExtensionMessage): void {
    if (message.type === 'commands') {
      this._actions = Private.joined(
        builtInActions(this._trans),
        message.commands
      );
      this._changed.emit();
    }
  }

  private readonly _client: CellActionList.IOptions['client'];
  private readonly _trans: TranslationBundle;
  private readonly _changed = new Signal<this, void>(this);
  private _actions: readonly ICellAction[];
  private _phase: string | null = null;
}

/**
 * The namespace for `CellActionList` statics.
 */
export namespace CellActionList {
  /**
   * Whom to ask.
   */
  export interface IOptions {
    readonly client: Pick<
      ChannelClient,
      'messageReceived' | 'request' | 'status' | 'statusChanged'
    >;
    readonly trans: TranslationBundle;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * A file of the name of a built-in command says what that one does; it stays
   * in its place.
   */
  export function joined(
    builtIn: readonly ICellAction[],
    commands: readonly Command[]
  ): ICellAction[] {
    const written = new Map(
      commands
        .filter(({ source }) => source !== 'built-in')
        .map(command => [command.name, command])
    );
    const known = new Set(builtIn.map(({ name }) => name));
    return [
      ...builtIn.map(action => {
        const own = written.get(action.name);
        return own === undefined
          ? action
          : {
              ...action,
              label: own.cellLabel ?? action.label,
              caption: own.description ?? action.caption
            };
      }),
      ...[...written.values()].flatMap(({ name, cellLabel, description }) =>
        cellLabel && !known.has(name)
          ? [
              {
                name,
                label: cellLabel,
                caption: description ?? '',
                isOwn: true
              }
            ]
          : []
      )
    ];
  }
}

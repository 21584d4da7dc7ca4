import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../../comm/client';
import type {
  CommandExecutionStatus,
  CommandStarted,
  ExtensionMessage
} from '../../generated/wire';
import type { AgentStore } from '../../state/store';
import { readJson } from './readjson';

/**
 * How a command fares, as far as this page has heard.
 */
export interface IExecution {
  readonly id: string;
  readonly command: string;
  readonly pid: number | null;

  /**
   * When this page heard that it began, in milliseconds.
   */
  readonly since: number;
  readonly isRunning: boolean;
  readonly hasTimedOut: boolean;

  /**
   * `null` when it runs, or was ended by a signal.
   */
  readonly exitCode: number | null;

  /**
   * How long it ran, in milliseconds, where this page saw all of it.
   */
  readonly duration: number | null;
}

/**
 * How the commands of the conversation on screen fare.
 *
 * #### Notes
 * The server tells of executions by their id and names the command; a message
 * that asked for a command does not know its execution. The newest message
 * with the very words of the command is taken to be it.
 */
export class Executions implements IDisposable {
  constructor({ client, store }: Executions.IOptions) {
    this._store = store;
    this._client = client;
    client.messageReceived.connect(this._onMessage, this);
    store.changed.connect(this._onStore, this);
    this._onStore();
  }

  /**
   * Those of a page. They are remembered as long as its store is there: how a
   * command ended is told once.
   */
  static ofPage(options: Executions.IOptions): Executions {
    const known = Private.OF_STORES.get(options.store);
    if (known && !known.isDisposed) {
      return known;
    }
    const executions = new Executions(options);
    Private.OF_STORES.set(options.store, executions);
    return executions;
  }

  /**
   * Emitted when a command began, or ended.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * Whether this is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Hear of no more.
   */
  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._client.messageReceived.disconnect(this._onMessage, this);
      this._store.changed.disconnect(this._onStore, this);
      Signal.clearData(this);
    }
  }

  /**
   * How the command a message asked for fares; `null` if nobody told.
   */
  of(ts: number): IExecution | null {
    const id = this._byMessage.get(ts);
    return (id && this._known.get(id)) || null;
  }

  private _onMessage(_: ChannelClient, message: ExtensionMessage): void {
    if (message.type !== 'commandExecutionStatus') {
      return;
    }
    const status = readJson<CommandExecutionStatus>(
      message.text
    ) as CommandExecutionStatus | null;
    const task = this._store.state?.currentTaskId;
    if (status && (!message.taskId || !task || message.taskId === task)) {
      this._take(status);
    }
  }

  private _take(status: CommandExecutionStatus): void {
    switch (status.status) {
      case 'started':
        this._begin(status, Date.now());
        break;
      case 'exited':
        this._end(status.executionId, { exitCode: status.exitCode ?? null });
        break;
      case 'timeout':
        this._end(status.executionId, { hasTimedOut: true });
        break;
      default:
        // What it writes is in its messages too.
        return;
    }
    this._changed.emit();
  }

  private _begin(status: CommandStarted, since: number | null): void {
    if (this._known.has(status.executionId)) {
      return;
    }
    this._known.set(status.executionId, {
      id: status.executionId,
      command: status.command,
      pid: status.pid ?? null,
      since: since ?? 0,
      isRunning: true,
      hasTimedOut: false,
      exitCode: null,
      duration: null
    });
    const ts = this._messageOf(status.command);
    if (ts !== undefined) {
      this._byMessage.set(ts, status.executionId);
    }
  }

  private _end(id: string, change: Partial<IExecution>): void {
    const before = this._known.get(id);
    if (before) {
      this._known.set(id, {
        ...before,
        ...change,
        isRunning: false,
        duration: before.since > 0 ? Date.now() - before.since : null
      });
    }
  }

  /**
   * After a reload the state names those that run.
   */
  private _onStore(): void {
    const running = this._store.state?.runningCommands;
    if (!running || running === this._running) {
      return;
    }
    this._running = running;
    for (const started of [...running].reverse()) {
      this._begin(started, null);
    }
    this._changed.emit();
  }

  private _messageOf(command: string): number | undefined {
    return this._store.order
      .filter(ts => {
        const { ask, text } = this._store.message(ts) ?? {};
        return ask === 'command' && text === command;
      })
      .filter(ts => !this._byMessage.has(ts))
      .at(-1);
  }

  private readonly _client: Pick<ChannelClient, 'messageReceived'>;
  private readonly _store: AgentStore;
  private readonly _known = new Map<string, IExecution>();
  private readonly _byMessage = new Map<number, string>();
  private readonly _changed = new Signal<this, void>(this);
  private _running: readonly CommandStarted[] | null = null;
  private _isDisposed = false;
}

/**
 * The namespace for `Executions` statics.
 */
export namespace Executions {
  /**
   * What the executions are heard from.
   */
  export interface IOptions {
    readonly client: Pick<ChannelClient, 'messageReceived'>;
    readonly store: AgentStore;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const OF_STORES = new WeakMap<AgentStore, Executions>();
}

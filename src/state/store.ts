import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { ChannelClient } from '../comm/client';
import type { IConnectionStatus } from '../comm/status';
import type {
  ClineMessage,
  ConversationChangedMessage,
  ExtensionMessage,
  ExtensionState,
  KernelStatusMessage,
  MessageDelta,
  MessagesPage,
  Notice
} from '../generated/wire';
import { Listener } from '../listener';
import { FrameBatch } from './framebatch';
import { MessageWindow } from './messagewindow';
import type { AgentState } from './statechange';
import { stateChange } from './statechange';

export type { AgentState };

/**
 * Whether a conversation can be begun; `unknown` until the server said so.
 * Those it has kept can be read either way.
 */
export type ConversationSupport = 'unknown' | 'supported' | 'unsupported';

/**
 * What the server has told this page, for all views.
 *
 * #### Notes
 * Values are replaced, never changed: as long as a getter returns the same
 * object, nothing in it is different. Listeners are called at most once a
 * frame, however much arrives in between.
 */
export class AgentStore extends Listener {
  constructor({ client, limit }: AgentStore.IOptions) {
    super();
    this._client = client;
    this._messages = new MessageWindow(limit ?? AgentStore.MESSAGE_LIMIT);
    this._connection = client.status;
    client.messageReceived.connect(this._onMessage, this);
    client.statusChanged.connect(this._onStatus, this);
  }

  /**
   * Emitted when anything but the content of single messages changed.
   */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /**
   * How the connection to the server is.
   */
  get connection(): IConnectionStatus {
    return this._connection;
  }

  /**
   * The state as the server told it; `null` before it did.
   */
  get state(): AgentState | null {
    return this._state;
  }

  /**
   * What a person should know.
   */
  get notices(): readonly Notice[] {
    return this._state?.notices ?? Private.NO_NOTICES;
  }

  /**
   * What the kernel of a notebook does; `unknown` before the server told it.
   */
  kernelStatus(path: string): KernelStatusMessage['status'] {
    return this._kernels.get(path) ?? 'unknown';
  }

  /**
   * The identities of the messages, oldest first.
   */
  get order(): readonly number[] {
    return this._messages.order;
  }

  /**
   * Whether the conversation begins before the oldest message here.
   */
  get hasOlderMessages(): boolean {
    return (
      this._messages.isTruncated || (this._state?.hasOlderMessages ?? false)
    );
  }

  /**
   * Whether a conversation can be begun.
   */
  get conversations(): ConversationSupport {
    switch (this._state?.canStartTasks) {
      case undefined:
        return 'unknown';
      case true:
        return 'supported';
      case false:
        return 'unsupported';
    }
  }

  protected override release(): void {
    this._batch.cancel();
    this._listeners.clear();
  }

  /**
   * One message.
   */
  message(ts: number): ClineMessage | undefined {
    return this._messages.get(ts);
  }

  /**
   * Hear of changes of one message.
   *
   * @returns A function that ends it.
   */
  subscribe(ts: number, listener: () => void): () => void {
    const listeners = this._listeners.get(ts) ?? new Set();
    this._listeners.set(ts, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this._listeners.get(ts) === listeners) {
        this._listeners.delete(ts);
      }
    };
  }

  /**
   * Put a notice away, here and on the server.
   */
  async dismissNotice(id: string): Promise<void> {
    this._setState({
      notices: this.notices.filter(notice => notice.id !== id)
    });
    try {
      await this._client.request({ type: 'dismissNotice', id });
    } catch (error) {
      // It is out of sight; should it still hold, the next state brings it back.
      console.warn('The server did not put a notice away', error);
    }
  }

  /**
   * Load messages that are older than all here; nothing if there are none.
   *
   * @param limit - How many at most; without it, as many as the server likes.
   *
   * #### Notes
   * Until `releaseOlder` is called, more messages are kept than otherwise.
   */
  async loadOlder(limit?: number): Promise<void> {
    const [beforeTs] = this.order;
    const taskId = this._taskId;
    if (!this.hasOlderMessages || taskId === null || beforeTs === undefined) {
      return;
    }
    this._messages.keepAll(true);
    await this._client.request({
      type: 'loadMessages',
      taskId,
      beforeTs,
      ...(limit === undefined ? {} : { limit })
    });
  }

  /**
   * Let go of the oldest messages again, beyond those that are always kept.
   */
  releaseOlder(): void {
    const gone = this._messages.keepAll(false);
    if (gone.length > 0) {
      gone.forEach(ts => this._touched.add(ts));
      this._touch();
    }
  }

  /**
   * Take up one message of the server.
   */
  apply(message: ExtensionMessage): void {
    switch (message.type) {
      case 'state':
        this._replaceState(message.state);
        break;
      case 'messageCreated':
        this._adopt(message.taskId);
        this._put(message.taskId, message.message);
        break;
      case 'messageUpdated':
        this._adopt(message.taskId);
        this._put(message.taskId, message.clineMessage);
        break;
      case 'messageDelta':
        this._adopt(message.taskId);
        this._append(message);
        break;
      case 'messagesPage':
        this._putPage(message);
        break;
      case 'conversationChanged':
        this._changeConversation(message);
        break;
      case 'kernelStatus':
        this._kernels.set(message.path, message.status);
        this._touch();
        break;
      default:
        break;
    }
    const change = stateChange(this._state, this._taskId, message);
    if (change !== null) {
      this._setState(change);
    }
  }

  private _onMessage(_: ChannelClient, message: ExtensionMessage): void {
    this.apply(message);
  }

  private _onStatus(_: ChannelClient, status: IConnectionStatus): void {
    if (status.phase === 'open' && this._connection.phase !== 'open') {
      // The server tells all of them to every new connection.
      this._kernels.clear();
    }
    this._connection = status;
    this._touch();
  }

  private _replaceState({ clineMessages, ...state }: ExtensionState): void {
    this._state = state;
    this._taskId = state.currentTaskId ?? null;
    this._reloading.clear();
    for (const ts of this._messages.replace(clineMessages ?? [])) {
      this._touched.add(ts);
    }
    this._touch();
  }

  private _setState(change: Partial<AgentState>): void {
    this._state = { ...this._state, ...change };
    this._touch();
  }

  /**
   * Messages were taken back, or brought back.
   */
  private _changeConversation(change: ConversationChangedMessage): void {
    if (!this._concerns(change.taskId)) {
      return;
    }
    // Between what is older than all that is here and that, there may be others.
    const oldest = this.hasOlderMessages ? (this.order[0] ?? 0) : 0;
    for (const ts of this._messages.remove(change.removed)) {
      this._reloading.delete(ts);
      this._touched.add(ts);
    }
    for (const message of change.restored) {
      if (message.ts >= oldest) {
        this._put(change.taskId, message);
      }
    }
  }

  private _put(taskId: string, message: ClineMessage): void {
    if (!this._concerns(taskId)) {
      return;
    }
    this._reloading.delete(message.ts);
    const { order } = this._messages;
    if (!this._messages.put(message)) {
      return;
    }
    this._touched.add(message.ts);
    if (order === this._messages.order) {
      this._batch.request();
    } else {
      this._touch();
    }
  }

  private _putPage(page: MessagesPage): void {
    for (const message of page.clineMessages) {
      this._put(page.taskId, message);
    }
    const first = page.clineMessages[0]?.ts;
    if (
      this._concerns(page.taskId) &&
      (first ?? this.order[0]) === this.order[0]
    ) {
      this._messages.completed();
      this._setState({ hasOlderMessages: page.hasOlderMessages });
    }
  }

  private _append(delta: MessageDelta): void {
    if (!this._concerns(delta.taskId) || this._reloading.has(delta.ts)) {
      return;
    }
    if (this._messages.append(delta)) {
      this._touched.add(delta.ts);
      this._batch.request();
    } else {
      void this._reload(delta.taskId, delta.ts);
    }
  }

  /**
   * Of a state that named no conversation, the one that is spoken of first is
   * on screen. What was asked for may still come of one that was left.
   */
  private _adopt(taskId: string): void {
    this._taskId ??= taskId;
  }

  private _concerns(taskId: string): boolean {
    return this._taskId === taskId;
  }

  /**
   * Ask for a message that is not what the server believes it is.
   */
  private async _reload(taskId: string, ts: number): Promise<void> {
    this._reloading.add(ts);
    try {
      await this._client.request({
        type: 'loadMessages',
        taskId,
        beforeTs: ts + 1,
        limit: 1
      });
    } catch {
      // What follows is the remedy, whatever the reason.
    }
    // The page with the message came before the answer, or not at all.
    if (this._reloading.has(ts) && !this.isDisposed) {
      this._client.resync();
    }
  }

  private _touch(): void {
    this._isTouched = true;
    this._batch.request();
  }

  private _notify(): void {
    const touched = this._touched;
    this._touched = new Set();
    for (const ts of touched) {
      for (const listener of [...(this._listeners.get(ts) ?? [])]) {
        listener();
      }
    }
    if (this._isTouched) {
      this._isTouched = false;
      this._changed.emit();
    }
  }

  private readonly _client: AgentStore.IClient;
  private readonly _messages: MessageWindow;
  private readonly _listeners = new Map<number, Set<() => void>>();
  private readonly _reloading = new Set<number>();
  private readonly _kernels = new Map<string, KernelStatusMessage['status']>();
  private readonly _batch = new FrameBatch(() => this._notify());
  private readonly _changed = new Signal<this, void>(this);
  private _connection: IConnectionStatus;
  private _state: AgentState | null = null;
  private _taskId: string | null = null;
  private _touched = new Set<number>();
  private _isTouched = false;
}

/**
 * The namespace for `AgentStore` statics.
 */
export namespace AgentStore {
  /**
   * How many messages are kept; older ones are loaded again when wanted.
   */
  export const MESSAGE_LIMIT = 2_000;

  /**
   * The part of the channel's client the store uses.
   */
  export type IClient = Pick<
    ChannelClient,
    'status' | 'statusChanged' | 'messageReceived' | 'request' | 'resync'
  >;

  /**
   * The options of a store.
   */
  export interface IOptions {
    client: IClient;

    /**
     * How many messages are kept.
     */
    limit?: number;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The same empty list each time, so that nothing seems to have changed.
   */
  export const NO_NOTICES: readonly Notice[] = [];
}

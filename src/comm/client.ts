import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type {
  ClientOpen,
  ErrorBody,
  ExtensionMessage,
  ServerAck,
  ServerFrame,
  ServerOpen,
  WebviewMessage
} from '../generated/wire';
import { COMM_TARGET } from '../generated/wire';
import { ServerClock } from './clock';
import { Reconnector } from './reconnect';
import { RequestError } from './requesterror';
import { SocketLink } from './socketlink';
import type { RequestResult } from './requests';
import { PendingRequests } from './requests';
import { Sequence } from './sequence';
import type { ConnectionReason, IConnectionStatus } from './status';
import type { IPage } from './pagewakeup';
import { onPageWakeup } from './pagewakeup';

/**
 * The page's end of the channel: keeps one WebSocket to the server, comes back
 * when it is lost, and sees to it that no message is missed or applied twice
 * and that every request gets its one answer.
 */
export class ChannelClient implements IDisposable {
  constructor(options: ChannelClient.IOptions) {
    this._options = options;
    const { probe, isOnline, random } = options;
    this._redial = new Reconnector({
      dial: () => this._dial(),
      tell: change => this._setStatus(change),
      probe,
      isOnline,
      random
    });
    this._status = {
      phase: 'connecting',
      reason: null,
      retryAt: null,
      attempt: 0,
      pageVersion: options.version,
      serverVersion: null,
      refusal: null
    };
  }

  /**
   * Emitted when the connection's status changes.
   */
  get statusChanged(): ISignal<this, IConnectionStatus> {
    return this._statusChanged;
  }

  /**
   * Emitted for every message of the server, in order and once.
   */
  get messageReceived(): ISignal<this, ExtensionMessage> {
    return this._messageReceived;
  }

  /**
   * Where the connection stands.
   */
  get status(): IConnectionStatus {
    return this._status;
  }

  /**
   * What time it is by the server's clock.
   */
  readonly clock = new ServerClock();

  /**
   * The id of this tab.
   */
  get clientId(): string {
    return this._options.clientId;
  }

  /**
   * Where in the server's stream of messages this page is.
   */
  get place(): Pick<Sequence, 'epoch' | 'last'> {
    return this._sequence;
  }

  /**
   * How large a request may be, in bytes, as the server says.
   */
  get maxFrameBytes(): number {
    return this._maxFrameBytes;
  }

  /**
   * Whether the client is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Disconnect for good; requests without an answer are rejected.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._waker?.dispose();
    this._hangUp('disposed');
    this._requests.rejectAll(
      new RequestError({
        code: 'unavailable',
        message: 'The page closed its connection to the server.'
      })
    );
    Signal.clearData(this);
  }

  /**
   * Connect now: for the first time, or without waiting for the next try.
   */
  connect(): void {
    if (this._isDisposed || this._status.phase === 'open') {
      return;
    }
    const { page } = this._options;
    if (page && !this._waker) {
      this._waker = onPageWakeup(page, () => this._wake());
    }
    this._redial.reset();
    this._hangUp('retry');
    if (this._status.phase === 'refused') {
      this._setStatus({ phase: 'connecting', reason: null, refusal: null });
    }
    this._dial();
  }

  /**
   * Drop what was received so far and ask the server for a fresh `state`.
   */
  resync(): void {
    if (this._isDisposed || this._status.phase === 'refused') {
      return;
    }
    this._sequence.forget();
    this._hangUp('resync');
    this._dial();
  }

  /**
   * Ask the server for something.
   *
   * @returns The server's result.
   *
   * #### Notes
   * The request outlives reconnects: it is sent again until its answer comes.
   * It is rejected with a `RequestError`, and with nothing else.
   */
  async request(message: ChannelClient.Request): Promise<RequestResult> {
    const refused = this._whyNot();
    if (refused) {
      throw refused;
    }
    const requestId = UUID.uuid4();
    const text = JSON.stringify({
      op: 'msg',
      commId: this._commId,
      data: { ...message, requestId }
    });
    const answer = this._requests.add(requestId, text);
    if (this._status.phase === 'open') {
      this._transmit(requestId, text);
    }
    return answer;
  }

  private _transmit(requestId: string, text: string): void {
    const limit = this._maxFrameBytes;
    if (Private.byteLength(text) <= limit) {
      this._link?.sendText(text);
      return;
    }
    this._requests.reject(
      requestId,
      new RequestError({
        code: 'frame_too_large',
        message: `This is larger than the ${limit} bytes the server accepts. Send less at once.`,
        params: { limit }
      })
    );
  }

  private _whyNot(): RequestError | null {
    if (this._isDisposed || this._status.phase === 'refused') {
      return new RequestError(
        this._status.refusal ?? {
          code: 'unavailable',
          message: 'There is no connection to the server.'
        }
      );
    }
    if (this._requests.size >= ChannelClient.MAX_PENDING) {
      return new RequestError({
        code: 'unavailable',
        message:
          'Too many requests wait for the server. Try again when it answers.'
      });
    }
    return null;
  }

  private _dial(): void {
    const { phase } = this._status;
    this._setStatus({
      phase: phase === 'open' ? 'reconnecting' : phase,
      retryAt: null
    });
    let socket: SocketLink.Socket;
    try {
      socket = this._options.openSocket();
    } catch (error) {
      console.warn('HDSP Agent could not open a WebSocket', error);
      this._lost();
      return;
    }
    this._link = new SocketLink({
      socket,
      commId: this._commId,
      greeting: () => this._greeting(),
      newest: () => this._sequence.last ?? 0,
      receive: frame => this._apply(frame),
      lost: () => this._lost()
    });
  }

  private _greeting(): ClientOpen['data'] {
    const { clientId, version, protocol } = this._options;
    const { epoch, last } = this._sequence;
    const place =
      epoch !== null && last !== null ? { epoch, lastSeq: last } : {};
    return { target: COMM_TARGET, clientId, version, protocol, ...place };
  }

  /**
   * Let go of the connection, if there is one, and of the next try.
   */
  private _hangUp(reason: string): void {
    this._redial.cancel();
    const link = this._link;
    this._link = null;
    link?.hangUp(reason);
  }

  private _lost(): void {
    const wasOpen = this._status.phase === 'open';
    this._hangUp('lost');
    this._redial.lost(wasOpen ? Date.now() - this._openedAt : null);
  }

  private _refuse(reason: ConnectionReason, refusal: ErrorBody): void {
    this._hangUp('refused');
    this._redial.reached();
    const { server } = refusal.params;
    this._setStatus({
      phase: 'refused',
      reason,
      retryAt: null,
      refusal,
      serverVersion:
        typeof server === 'string' ? server : this._status.serverVersion
    });
    this._requests.rejectAll(new RequestError(refusal));
  }

  private _apply(frame: ServerFrame): void {
    switch (frame.op) {
      case 'open':
        this._opened(frame);
        break;
      case 'msg':
        this._message(frame.data, frame.seq ?? null);
        break;
      case 'ack':
        this._answered(frame.data);
        break;
      case 'ping':
        this._link?.send('pong');
        break;
      case 'pong':
        break;
      case 'close': {
        const { code, message, params } = frame.data;
        this._refuse(code === 'version_mismatch' ? code : 'closed', {
          code,
          message,
          params: params ?? {}
        });
        break;
      }
    }
  }

  private _opened({ seq, data }: ServerOpen): void {
    this._link?.answered(data.heartbeatSeconds * 1000);
    this._redial.reached();
    this._maxFrameBytes = data.maxFrameBytes;
    this.clock.set(data.now);
    this._sequence.opened(data.epoch, seq, data.resumed);
    this._openedAt = Date.now();
    this._setStatus({
      phase: 'open',
      reason: null,
      retryAt: null,
      attempt: 0,
      serverVersion: data.version,
      refusal: null
    });
    for (const [requestId, text] of this._requests.waiting()) {
      this._transmit(requestId, text);
    }
  }

  private _message(message: ExtensionMessage, seq: number | null): void {
    const before = this._sequence.last;
    switch (this._sequence.accept(seq, message.type === 'state')) {
      case 'apply':
        this._messageReceived.emit(message);
        break;
      case 'duplicate':
        break;
      case 'gap':
        if (before === this._gapAfter) {
          // Asking again did not bring the missing frame.
          this._sequence.forget();
        }
        this._gapAfter = before;
        this._hangUp('gap');
        this._dial();
        break;
    }
  }

  private _answered(answer: ServerAck['data']): void {
    if (answer.ok) {
      this._requests.resolve(answer.requestId, answer.result);
      return;
    }
    const error = new RequestError(answer.error);
    if (answer.requestId) {
      this._requests.reject(answer.requestId, error);
    } else {
      console.warn('The server could not read a frame of this page', error);
    }
  }

  private _setStatus(change: Partial<IConnectionStatus>): void {
    const now: Partial<Record<string, unknown>> = { ...this._status };
    if (Object.entries(change).every(([key, value]) => now[key] === value)) {
      return;
    }
    if (this._status.phase === 'open' && (change.phase ?? 'open') !== 'open') {
      this.clock.stop();
    }
    this._status = { ...this._status, ...change };
    this._statusChanged.emit(this._status);
  }

  private _wake(): void {
    if (this._status.phase === 'open') {
      this._link?.probe();
    } else if (this._status.retryAt !== null) {
      this.connect();
    }
  }

  private readonly _options: ChannelClient.IOptions;
  private readonly _commId = UUID.uuid4();
  private readonly _requests = new PendingRequests();
  private readonly _sequence = new Sequence();
  private readonly _redial: Reconnector;
  private _status: IConnectionStatus;
  private _isDisposed = false;
  private _link: SocketLink | null = null;
  private _waker: IDisposable | null = null;
  private _openedAt = 0;
  private _gapAfter: number | null = null;
  private _maxFrameBytes = Number.POSITIVE_INFINITY;
  private readonly _statusChanged = new Signal<this, IConnectionStatus>(this);
  private readonly _messageReceived = new Signal<this, ExtensionMessage>(this);
}

/**
 * The namespace for `ChannelClient` statics.
 */
export namespace ChannelClient {
  /**
   * How many requests may wait for their answers.
   */
  export const MAX_PENDING = 256;

  /**
   * A message to the server; its id is added when it is sent.
   */
  export type Request = Private.WithoutId<WebviewMessage>;

  /**
   * The options of a channel client.
   */
  export interface IOptions extends Reconnector.ICircumstances {
    /**
     * Open a WebSocket to the server's channel.
     */
    openSocket: () => SocketLink.Socket;

    /**
     * The id of this tab.
     */
    clientId: string;

    /**
     * The version of this page.
     */
    version: string;

    /**
     * The version of the protocol this page speaks.
     */
    protocol: number;

    /**
     * Where waking up is noticed.
     */
    page?: IPage;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * Each member of a union without its request id.
   */
  export type WithoutId<T> = T extends unknown ? Omit<T, 'requestId'> : never;

  /**
   * The size of a text on the wire.
   */
  export function byteLength(text: string): number {
    return new TextEncoder().encode(text).length;
  }
}

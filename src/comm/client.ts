import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type {
  ExtensionMessage,
  ServerAck,
  ServerFrame,
  ServerOpen,
  WebviewMessage
} from '../generated/wire';
import { COMM_TARGET } from '../generated/wire';
import { Backoff } from './backoff';
import { Diagnosis, needsAPerson } from './diagnosis';
import { ChannelError } from './errors';
import { parseFrames } from './frames';
import { Heartbeat } from './heartbeat';
import type { RequestResult } from './requests';
import { PendingRequests } from './requests';
import { Sequence } from './sequence';
import type { ConnectionReason, IConnectionStatus, IRefusal } from './status';
import type { IPage } from './waking';
import { onWaking } from './waking';

/**
 * The page's end of the channel: keeps one WebSocket to the server, comes back
 * when it is lost, and sees to it that no message is missed or applied twice
 * and that every request gets its one answer.
 */
export class ChannelClient implements IDisposable {
  constructor(options: ChannelClient.IOptions) {
    this._options = options;
    this._backoff = new Backoff({ random: options.random });
    this._diagnosis = new Diagnosis(
      options.probe ?? (() => Promise.resolve(null))
    );
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
   * Emitted when the server could not read something this page sent.
   */
  get errorReceived(): ISignal<this, ChannelError> {
    return this._errorReceived;
  }

  /**
   * Where the connection stands.
   */
  get status(): IConnectionStatus {
    return this._status;
  }

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
      new ChannelError({
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
      this._waker = onWaking(page, () => this._wake());
    }
    this._backoff.reset();
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
   * It is rejected with a `ChannelError`, and with nothing else.
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
      this._socket?.send(text);
      return;
    }
    this._requests.reject(
      requestId,
      new ChannelError({
        code: 'frame_too_large',
        message: `This is larger than the ${limit} bytes the server accepts. Send less at once.`,
        params: { limit }
      })
    );
  }

  private _whyNot(): ChannelError | null {
    if (this._isDisposed || this._status.phase === 'refused') {
      return new ChannelError(
        this._status.refusal ?? {
          code: 'unavailable',
          message: 'There is no connection to the server.'
        }
      );
    }
    if (this._requests.size >= ChannelClient.MAX_PENDING) {
      return new ChannelError({
        code: 'unavailable',
        message:
          'Too many requests wait for the server. Try again when it answers.'
      });
    }
    return null;
  }

  private _dial(): void {
    this._dials += 1;
    const { phase } = this._status;
    this._setStatus({
      phase: phase === 'open' ? 'reconnecting' : phase,
      retryAt: null
    });
    let socket: ChannelClient.Socket;
    try {
      socket = this._options.openSocket();
    } catch (error) {
      console.warn('HDSP Agent could not open a WebSocket', error);
      this._lost();
      return;
    }
    this._socket = socket;
    this._patience = setTimeout(
      () => this._lost(),
      ChannelClient.HANDSHAKE_TIMEOUT
    );
    socket.onopen = () => {
      const { clientId, version, protocol } = this._options;
      const { epoch, last } = this._sequence;
      const place =
        epoch !== null && last !== null ? { epoch, lastSeq: last } : {};
      this._send('open', {
        data: { target: COMM_TARGET, clientId, version, protocol, ...place }
      });
    };
    socket.onmessage = event => this._receive(event.data);
    socket.onclose = () => this._lost();
  }

  /**
   * Let go of the socket, if there is one, and of every timer that concerns it.
   */
  private _hangUp(reason: string): void {
    clearTimeout(this._retry);
    clearTimeout(this._patience);
    this._heartbeat.stop();
    const socket = this._socket;
    this._socket = null;
    if (!socket) {
      return;
    }
    socket.onopen = socket.onmessage = socket.onclose = null;
    if (this._status.phase === 'open' && socket.readyState === 1) {
      socket.send(this._frame('close', { data: { reason } }));
    }
    socket.close();
  }

  private _lost(): void {
    const wasOpen = this._status.phase === 'open';
    this._hangUp('lost');
    if (wasOpen && Date.now() - this._openedAt > ChannelClient.STABLE_AFTER) {
      this._backoff.reset();
    }
    this._scheduleRetry(wasOpen ? 'lost' : this._status.reason);
    if (!wasOpen) {
      void this._diagnose();
    }
  }

  private _scheduleRetry(reason: ConnectionReason | null): void {
    clearTimeout(this._retry);
    const stepped = this._backoff.next();
    const { attempt } = this._backoff;
    const slow = needsAPerson(reason);
    const delay = slow ? ChannelClient.SLOW_RETRY : stepped;
    const offline =
      slow ||
      attempt > ChannelClient.OFFLINE_AFTER ||
      this._options.isOnline?.() === false;
    this._retry = setTimeout(() => this._dial(), delay);
    this._setStatus({
      phase: offline ? 'offline' : 'reconnecting',
      reason: reason ?? 'lost',
      retryAt: Date.now() + delay,
      attempt
    });
  }

  private async _diagnose(): Promise<void> {
    const dials = this._dials;
    const reason = await this._diagnosis.find();
    if (this._isDisposed || this._dials !== dials) {
      return;
    }
    if (needsAPerson(reason) !== needsAPerson(this._status.reason)) {
      this._scheduleRetry(reason);
    } else {
      this._setStatus({ reason });
    }
  }

  private _refuse(reason: ConnectionReason, refusal: IRefusal): void {
    this._hangUp('refused');
    const { server } = refusal.params;
    this._setStatus({
      phase: 'refused',
      reason,
      retryAt: null,
      refusal,
      serverVersion:
        typeof server === 'string' ? server : this._status.serverVersion
    });
    this._requests.rejectAll(new ChannelError(refusal));
  }

  private _receive(data: unknown): void {
    this._heartbeat.heard();
    let frames: ServerFrame[];
    try {
      frames = parseFrames(String(data));
    } catch (error) {
      console.warn('HDSP Agent ignored a message it cannot read', error);
      return;
    }
    const socket = this._socket;
    for (const frame of frames) {
      this._apply(frame);
      if (this._socket !== socket) {
        return;
      }
    }
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
        this._send('pong');
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
    clearTimeout(this._patience);
    this._diagnosis.clear();
    this._maxFrameBytes = data.maxFrameBytes;
    this._sequence.opened(data.epoch, seq, data.resumed);
    this._openedAt = Date.now();
    this._heartbeat.start(data.heartbeatSeconds * 1000);
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
    const error = new ChannelError(answer.error);
    if (answer.requestId) {
      this._requests.reject(answer.requestId, error);
    } else {
      console.warn('The server could not read a frame of this page', error);
      this._errorReceived.emit(error);
    }
  }

  private _send(op: 'open' | 'ping' | 'pong', rest: object = {}): void {
    this._socket?.send(this._frame(op, rest));
  }

  private _frame(op: string, rest: object): string {
    return JSON.stringify({ op, commId: this._commId, ...rest });
  }

  private _setStatus(change: Partial<IConnectionStatus>): void {
    const now: Partial<Record<string, unknown>> = { ...this._status };
    if (Object.entries(change).every(([key, value]) => now[key] === value)) {
      return;
    }
    this._status = { ...this._status, ...change };
    this._statusChanged.emit(this._status);
  }

  private _wake(): void {
    if (this._status.phase === 'open') {
      this._heartbeat.probe();
    } else if (this._status.retryAt !== null) {
      this.connect();
    }
  }

  private readonly _options: ChannelClient.IOptions;
  private readonly _commId = UUID.uuid4();
  private readonly _requests = new PendingRequests();
  private readonly _sequence = new Sequence();
  private readonly _backoff: Backoff;
  private readonly _diagnosis: Diagnosis;
  private readonly _heartbeat = new Heartbeat({
    ping: () => this._send('ping', { seq: this._sequence.last ?? 0 }),
    dead: () => this._lost()
  });
  private _status: IConnectionStatus;
  private _isDisposed = false;
  private _socket: ChannelClient.Socket | null = null;
  private _waker: IDisposable | null = null;
  private _retry: ReturnType<typeof setTimeout> | undefined;
  private _patience: ReturnType<typeof setTimeout> | undefined;
  private _dials = 0;
  private _openedAt = 0;
  private _gapAfter: number | null = null;
  private _maxFrameBytes = Number.POSITIVE_INFINITY;
  private readonly _statusChanged = new Signal<this, IConnectionStatus>(this);
  private readonly _messageReceived = new Signal<this, ExtensionMessage>(this);
  private readonly _errorReceived = new Signal<this, ChannelError>(this);
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
   * How long the server may take to answer an `open`, in milliseconds.
   */
  export const HANDSHAKE_TIMEOUT = 10_000;

  /**
   * A connection that lasted this many milliseconds was a good one, and its
   * loss is answered with a quick try.
   */
  export const STABLE_AFTER = 5_000;

  /**
   * After this many failed tries the server is called offline.
   */
  export const OFFLINE_AFTER = 4;

  /**
   * The wait between tries that only a person can make succeed.
   */
  export const SLOW_RETRY = 30_000;

  /**
   * A message to the server; its id is added when it is sent.
   */
  export type Request = Private.WithoutId<WebviewMessage>;

  /**
   * The part of a `WebSocket` the channel uses.
   */
  export type Socket = Pick<
    WebSocket,
    'onopen' | 'onmessage' | 'onclose' | 'readyState' | 'send' | 'close'
  >;

  /**
   * The options of a channel client.
   */
  export interface IOptions {
    /**
     * Open a WebSocket to the server's channel.
     */
    openSocket: () => Socket;

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
     * Ask the server something simple over HTTP: its status, or `null` if
     * nothing answers. It never rejects.
     */
    probe?: () => Promise<number | null>;

    /**
     * Whether the browser believes there is a network.
     */
    isOnline?: () => boolean;

    /**
     * Where waking up is noticed.
     */
    page?: IPage;

    /**
     * The randomness of the backoff.
     */
    random?: () => number;
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

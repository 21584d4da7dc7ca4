import type { ServerFrame } from '../generated/wire';
import { parseFrames } from './frames';
import { Heartbeat } from './heartbeat';

/**
 * One WebSocket, from when it is opened until it is let go of: it greets, reads frames, and notices
 * when the other end is silent.
 */
export class SocketLink {
  constructor(options: SocketLink.IOptions) {
    this._options = options;
    const { socket, commId, greeting, lost } = options;
    this._heartbeat = new Heartbeat({
      ping: () => this.send('ping', { seq: options.newest() }),
      dead: lost
    });
    this._patience = setTimeout(lost, SocketLink.HANDSHAKE_TIMEOUT);
    this._frame = (op, rest) => JSON.stringify({ op, commId, ...rest });
    socket.onopen = () => this.send('open', { data: greeting() });
    socket.onmessage = event => this._receive(event.data);
    socket.onclose = lost;
  }

  /**
   * The server has answered: from now on it is expected to be heard of.
   */
  answered(heartbeatInterval: number): void {
    clearTimeout(this._patience);
    this._isAnswered = true;
    this._heartbeat.start(heartbeatInterval);
  }

  /**
   * See at once whether the server is still there.
   */
  probe(): void {
    this._heartbeat.probe();
  }

  /**
   * Send a frame.
   */
  send(op: 'open' | 'ping' | 'pong', rest: object = {}): void {
    this.sendText(this._frame(op, rest));
  }

  /**
   * Send a frame that is text already.
   */
  sendText(text: string): void {
    this._options.socket.send(text);
  }

  /**
   * Let go of the socket; nothing more is heard of it.
   *
   * @param reason - What the server is told, if it is still there.
   */
  hangUp(reason: string): void {
    const { socket } = this._options;
    this._isOver = true;
    clearTimeout(this._patience);
    this._heartbeat.stop();
    socket.onopen = socket.onmessage = socket.onclose = null;
    if (this._isAnswered && socket.readyState === 1) {
      socket.send(this._frame('close', { data: { reason } }));
    }
    socket.close();
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
    for (const frame of frames) {
      this._options.receive(frame);
      if (this._isOver) {
        return;
      }
    }
  }

  private readonly _options: SocketLink.IOptions;
  private readonly _heartbeat: Heartbeat;
  private readonly _patience: ReturnType<typeof setTimeout>;
  private readonly _frame: (op: string, rest: object) => string;
  private _isAnswered = false;
  private _isOver = false;
}

/**
 * The namespace for `SocketLink` statics.
 */
export namespace SocketLink {
  /**
   * How long the server may take to answer an `open`, in milliseconds.
   */
  export const HANDSHAKE_TIMEOUT = 10_000;

  /**
   * The part of a `WebSocket` the channel uses.
   */
  export type Socket = Pick<
    WebSocket,
    'onopen' | 'onmessage' | 'onclose' | 'readyState' | 'send' | 'close'
  >;

  /**
   * The options of a link.
   */
  export interface IOptions {
    socket: Socket;

    /**
     * What all frames of this page are marked with.
     */
    commId: string;

    /**
     * What to open the channel with.
     */
    greeting: () => object;

    /**
     * The number of the newest frame applied.
     */
    newest: () => number;

    /**
     * Called for each frame of the server.
     */
    receive: (frame: ServerFrame) => void;

    /**
     * Called when the socket is closed, or the server silent for too long.
     */
    lost: () => void;
  }
}

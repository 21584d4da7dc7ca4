import type { SocketLink } from '../socketlink';

/**
 * A frame as the tests read it.
 */
export interface ISentFrame {
  op: string;
  commId: string;
  seq?: number;
  data: Record<string, unknown>;
}

/**
 * One end of a WebSocket whose other end is the test.
 */
export class ScriptedSocket {
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  readyState = 0;
  readonly sent: ISentFrame[] = [];

  send(text: string): void {
    if (this.readyState !== 1) {
      throw new DOMException('Still in CONNECTING state', 'InvalidStateError');
    }
    this.sent.push(JSON.parse(text) as ISentFrame);
  }

  close(): void {
    this.readyState = 3;
  }

  /** The TCP connection and the upgrade succeed. */
  connect(): void {
    this.readyState = 1;
    this.onopen?.(new Event('open'));
  }

  /** The other end goes, without a word. */
  drop(): void {
    this.readyState = 3;
    this.onclose?.(new Event('close') as CloseEvent);
  }

  /** The server says something. */
  say(...frames: object[]): void {
    const data = JSON.stringify(frames.length === 1 ? frames[0] : frames);
    this.hear(data);
  }

  /** Any text arrives. */
  hear(data: string): void {
    this.onmessage?.({ data } as MessageEvent);
  }

  /** The frames the page sent with this verb. */
  sentWith(op: string): ISentFrame[] {
    return this.sent.filter(frame => frame.op === op);
  }
}

/**
 * A server that does what each test tells it.
 */
export class ScriptedServer {
  readonly sockets: ScriptedSocket[] = [];

  /** The socket opened last. */
  get socket(): ScriptedSocket {
    return this.sockets[this.sockets.length - 1];
  }

  readonly open = (): SocketLink.Socket => {
    const socket = new ScriptedSocket();
    this.sockets.push(socket);
    return socket;
  };

  /** Connect the newest socket and answer its `open`. */
  accept(answer: Partial<Record<string, unknown>> = {}, seq = 0): void {
    this.socket.connect();
    this.socket.say({
      op: 'open',
      commId: 'c',
      seq,
      data: {
        epoch: 'e1',
        version: '0.1.0',
        protocol: 1,
        resumed: false,
        heartbeatSeconds: 20,
        maxFrameBytes: 1000,
        now: Date.now(),
        ...answer
      }
    });
  }

  /** A fresh state, and with it the beginning of the numbered stream. */
  state(seq: number): void {
    this.socket.say({ op: 'msg', seq, data: { type: 'state' } });
  }

  /** A message to all tabs. */
  publish(seq: number, name = `m${seq}`): void {
    this.socket.say({ op: 'msg', seq, data: { type: name } });
  }
}

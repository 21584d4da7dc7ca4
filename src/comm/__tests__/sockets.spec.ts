import type { WebSocket as ServerSocket } from 'ws';
import { WebSocketServer } from 'ws';

import { ChannelClient } from '../client';
import type { ISentFrame } from './scriptedserver';

/**
 * A server with real sockets that numbers, remembers and resumes as ours does.
 */
class RealServer {
  private constructor(private readonly _server: WebSocketServer) {
    this.url = `ws://127.0.0.1:${_server.address().port}`;
    _server.on('connection', socket => {
      this._sockets.add(socket);
      socket.on('message', data =>
        this._take(socket, JSON.parse(data.toString()) as ISentFrame)
      );
    });
  }

  readonly url: string;
  readonly handled: string[] = [];
  loseNextAnswer = false;

  static async start(): Promise<RealServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await new Promise<void>(resolve => server.once('listening', resolve));
    return new RealServer(server);
  }

  publish(name: string): void {
    this._ring.push(name);
    const seq = this._ring.length;
    for (const socket of this._sockets) {
      this._say(socket, { op: 'msg', seq, data: { type: name } });
    }
  }

  dropAll(): void {
    for (const socket of this._sockets) {
      socket.terminate();
    }
    this._sockets.clear();
  }

  stop(): Promise<void> {
    this.dropAll();
    return new Promise(resolve => this._server.close(resolve));
  }

  private _take(socket: ServerSocket, { op, data }: ISentFrame): void {
    if (op === 'open') {
      const lastSeq = data.lastSeq as number | undefined;
      this._say(socket, {
        op: 'open',
        seq: this._ring.length,
        data: {
          epoch: 'e',
          version: '0.1.0',
          protocol: 1,
          resumed: lastSeq !== undefined,
          heartbeatSeconds: 20,
          maxFrameBytes: 4096
        }
      });
      if (lastSeq === undefined) {
        const seq = this._ring.length;
        this._say(socket, { op: 'msg', seq, data: { type: 'state' } });
      } else {
        const missed = this._ring.slice(lastSeq).map((type, index) => ({
          op: 'msg',
          seq: lastSeq + index + 1,
          data: { type }
        }));
        socket.send(JSON.stringify(missed));
      }
    } else if (op === 'msg') {
      const requestId = data.requestId as string;
      if (!this.handled.includes(requestId)) {
        this.handled.push(requestId);
      }
      if (this.loseNextAnswer) {
        this.loseNextAnswer = false;
        socket.terminate();
        this._sockets.delete(socket);
      } else {
        this._say(socket, { op: 'ack', data: { requestId, ok: true } });
      }
    }
  }

  private _say(socket: ServerSocket, frame: object): void {
    socket.send(JSON.stringify({ commId: 'c', ...frame }));
  }

  private readonly _sockets = new Set<ServerSocket>();
  private readonly _ring: string[] = [];
}

describe('ChannelClient on real sockets', () => {
  let server: RealServer;
  let client: ChannelClient;
  let received: string[];

  beforeEach(async () => {
    server = await RealServer.start();
    received = [];
    client = new ChannelClient({
      openSocket: () => new WebSocket(server.url),
      clientId: 'tab',
      version: '0.1.0',
      protocol: 1,
      random: () => 0
    });
    client.messageReceived.connect((_, { type }) => {
      received.push(type);
    });
    client.connect();
  });

  afterEach(async () => {
    client.dispose();
    await server.stop();
  });

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise(resolve => setTimeout(resolve, 5));
    }
  }

  it('should lose and repeat nothing while the socket is dropped again and again', async () => {
    await until(() => received.includes('state'));
    const expected: string[] = [];
    for (let number = 0; number < 200; number++) {
      const name = `m${number}`;
      expected.push(name);
      server.publish(name);
      if (number % 40 === 39) {
        server.dropAll();
        await until(() => client.status.phase === 'reconnecting');
        client.connect();
      }
    }
    await until(() => received.includes('m199'));
    expect(received).toEqual(['state', ...expected]);
  });

  it('should get its answer when the first one was lost with the connection', async () => {
    await until(() => client.status.phase === 'open');
    server.loseNextAnswer = true;
    await client.request({ type: 'clearTask' });
    expect(server.handled).toHaveLength(1);
  });

  it('should notice that nobody is there', async () => {
    await until(() => client.status.phase === 'open');
    await server.stop();
    await until(() => client.status.attempt > 1);
    expect(client.status.phase).toBe('reconnecting');
    server = await RealServer.start();
  });
});

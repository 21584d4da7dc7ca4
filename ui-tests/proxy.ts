import { once } from 'events';
import type { AddressInfo, Server, Socket } from 'net';
import { connect, createServer } from 'net';

/**
 * A line between a browser and a server that a test can cut: it forwards bytes
 * and knows nothing of what they mean.
 */
export class CuttableLine {
  private constructor(
    private readonly _server: Server,
    private readonly _target: number
  ) {
    _server.on('connection', socket => this._forward(socket));
  }

  /**
   * Lay a line to a port of the loopback interface.
   */
  static async to(target: number): Promise<CuttableLine> {
    const server = createServer();
    const line = new CuttableLine(server, target);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return line;
  }

  /**
   * The browser's end.
   */
  get port(): number {
    return (this._server.address() as AddressInfo).port;
  }

  /**
   * Cut every connection; new ones work.
   */
  drop(): void {
    for (const socket of this._sockets) {
      socket.destroy();
    }
  }

  /**
   * Cut every connection and refuse new ones, as when the network is gone.
   */
  refuse(): void {
    this._refusing = true;
    this.drop();
  }

  /**
   * Let connections through again.
   */
  accept(): void {
    this._refusing = false;
  }

  /**
   * Swallow whatever is sent from now on over connections that exist, and say
   * nothing about it, as a sleeping router does.
   */
  silence(): void {
    for (const socket of this._sockets) {
      socket.unpipe();
      socket.resume();
    }
  }

  /**
   * Cut everything for good.
   */
  async dispose(): Promise<void> {
    const closed = once(this._server, 'close');
    this._server.close();
    this.drop();
    await closed;
  }

  private _forward(near: Socket): void {
    if (this._refusing) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(this._target, '127.0.0.1');
    near.setNoDelay(true);
    far.setNoDelay(true);
    this._tie(near, far);
    this._tie(far, near);
  }

  private _tie(from: Socket, to: Socket): void {
    this._sockets.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this._sockets.delete(from);
      to.destroy();
    });
  }

  private readonly _sockets = new Set<Socket>();
  private _refusing = false;
}

import { createServer } from 'http';
import type { Server } from 'http';
import type { AddressInfo } from 'net';

import type { Page, Request } from '@playwright/test';

/**
 * A server on this machine that should never hear from a page, and what the
 * page asks for by its browser's account.
 */
export class Listener {
  private constructor(private readonly _server: Server) {}

  /**
   * Where it is, without a slash at the end.
   */
  url = '';

  /**
   * Listen on a free port.
   */
  static async start(): Promise<Listener> {
    const server = createServer();
    const listener = new Listener(server);
    server.on('request', ({ url = '' }, answer) => {
      listener.heard.push(url);
      answer.setHeader('Access-Control-Allow-Origin', '*');
      answer.end();
    });
    server.on('connection', () => listener._connections++);
    await new Promise<void>(resolve => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    listener.url = `http://127.0.0.1:${port}`;
    return listener;
  }

  /**
   * The paths it was asked for.
   */
  readonly heard: string[] = [];

  /**
   * What pages asked it for that their own policy did not forbid.
   */
  readonly sent: string[] = [];

  /**
   * How often anybody connected, whether they asked for anything or not.
   */
  get connections(): number {
    return this._connections;
  }

  /**
   * Look at what a page asks for, too: a browser may forbid it late.
   */
  watch(page: Page): void {
    const isHere = (request: Request) => request.url().startsWith(this.url);
    page.on('requestfinished', request => {
      if (isHere(request)) {
        this.sent.push(request.url());
      }
    });
    page.on('requestfailed', request => {
      if (isHere(request) && request.failure()?.errorText !== 'csp') {
        this.sent.push(request.url());
      }
    });
  }

  /**
   * Listen no more.
   */
  async stop(): Promise<void> {
    this._server.closeAllConnections();
    await new Promise(resolve => this._server.close(resolve));
  }

  private _connections = 0;
}

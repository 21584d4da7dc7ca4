import type { AddressInfo } from 'net';
import * as http from 'http';

interface IGap {
  readonly prompt: string;
  readonly suffix: string;
}

/**
 * A model server on this machine that fills gaps, as OpenAI's completions do.
 */
export class FillInServer {
  /**
   * Begin to listen.
   */
  static async start(): Promise<FillInServer> {
    const server = new FillInServer();
    await new Promise<void>(resolve =>
      server._server.listen(0, '127.0.0.1', resolve)
    );
    return server;
  }

  /**
   * Where it is.
   */
  get url(): string {
    const { port } = this._server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/v1`;
  }

  /**
   * What was asked.
   */
  readonly asked: IGap[] = [];

  /**
   * What it writes behind a text that ends so: one after the other, the last
   * one again and again.
   */
  answers: Record<string, string[]> = {};

  /**
   * Listen no more.
   */
  async stop(): Promise<void> {
    this._server.closeAllConnections();
    await new Promise(resolve => this._server.close(resolve));
  }

  private readonly _server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const asked = JSON.parse(Buffer.concat(parts).toString()) as IGap;
      this.asked.push(asked);
      const [, texts = ['']] =
        Object.entries(this.answers).find(([end]) =>
          asked.prompt.endsWith(end)
        ) ?? [];
      const text = texts.length > 1 ? texts.shift() : texts[0];
      response.setHeader('Content-Type', 'application/json');
      response.end(
        JSON.stringify({ choices: [{ text, finish_reason: 'stop' }] })
      );
    });
  });
}

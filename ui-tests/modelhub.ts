import { once } from 'events';
import { createReadStream } from 'fs';
import { stat } from 'fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'http';
import { createServer } from 'http';
import type { AddressInfo } from 'net';
import { pipeline, Readable, Transform } from 'stream';
import { setTimeout as sleep } from 'timers/promises';

/**
 * A hub on this machine that gives a model away, as fast as a test wants it.
 */
export class ModelHub {
  private constructor(private readonly _server: Server) {}

  /**
   * Listen on a free port.
   *
   * @param weights - The file, or its bytes.
   */
  static async start(weights: string | Buffer): Promise<ModelHub> {
    const server = createServer();
    const hub = new ModelHub(server);
    hub.weights = weights;
    server.on(
      'request',
      (question, answer) => void hub._answer(question, answer)
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return hub;
  }

  /**
   * What it gives away.
   */
  weights: string | Buffer = '';

  /**
   * How many bytes a second; all at once if there is no limit.
   */
  speed = Infinity;

  /**
   * After how many bytes the next answers break off.
   */
  readonly cuts: number[] = [];

  /**
   * The ranges that were asked for; empty for the whole.
   */
  readonly asked: string[] = [];

  /**
   * What it declares of repositories, by their names.
   */
  readonly repositories = new Map<string, object>();

  /**
   * Where it is, without a slash at the end.
   */
  get url(): string {
    const { port } = this._server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  dispose(): void {
    this._server.closeAllConnections();
    this._server.close();
  }

  private async _answer(
    question: IncomingMessage,
    answer: ServerResponse
  ): Promise<void> {
    const name = /^\/api\/models\/([^?]+)/.exec(question.url ?? '')?.[1];
    if (name !== undefined) {
      const told = this.repositories.get(name);
      answer.writeHead(told ? 200 : 404).end(JSON.stringify(told ?? {}));
      return;
    }
    const { weights } = this;
    const range = question.headers.range ?? '';
    this.asked.push(range);
    const begin = Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0);
    const size =
      typeof weights === 'string'
        ? (await stat(weights)).size
        : weights.byteLength;
    answer.writeHead(begin > 0 ? 206 : 200, {
      'Content-Length': size - begin,
      ...(begin > 0 && {
        'Content-Range': `bytes ${begin}-${size - 1}/${size}`
      })
    });
    const bytes =
      typeof weights === 'string'
        ? createReadStream(weights, { start: begin })
        : Readable.from(pieces(weights.subarray(begin)));
    // Whoever stops listening, and a cut, are no faults here.
    pipeline(bytes, this._tap(), answer, () => answer.destroy());
  }

  private _tap(): Transform {
    const cut = this.cuts.shift() ?? Infinity;
    const began = Date.now();
    let sent = 0;
    const pace = () => this.speed;
    return new Transform({
      transform(chunk: Buffer, _, done) {
        const left = Math.max(0, cut - sent);
        sent += chunk.byteLength;
        if (left < chunk.byteLength) {
          done(new Error('cut'));
          return;
        }
        const due = began + (sent / pace()) * 1000;
        void sleep(Math.max(0, due - Date.now())).then(() => done(null, chunk));
      }
    });
  }
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  const size = 65_536;
  for (let begin = 0; begin < bytes.byteLength; begin += size) {
    yield bytes.subarray(begin, begin + size);
  }
}

import { ServerConnection } from '@jupyterlab/services';

/** What was asked of the server's REST interface. */
export interface IAsked {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly body: unknown;
}

/** Answers REST requests as a test says. */
export class RestServer {
  constructor() {
    this._spy = jest
      .spyOn(ServerConnection, 'makeRequest')
      .mockImplementation((url, init) => this._answer(url, init));
  }

  readonly asked: IAsked[] = [];

  /** What ends the newest request. */
  signal: AbortSignal | null = null;

  /** By method and path below the API's own. */
  readonly answers = new Map<string, (asked: IAsked) => unknown>();

  /** The requests of this kind, oldest first. */
  of(what: string): IAsked[] {
    return this.asked.filter(
      ({ method, path }) => `${method} ${path}` === what
    );
  }

  dispose(): void {
    this._spy.mockRestore();
  }

  private async _answer(url: string, init: RequestInit): Promise<Response> {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const asked = {
      method: init.method ?? 'GET',
      path: decodeURIComponent(pathname.replace('/hdsp-agent/api/', '')),
      query: Object.fromEntries(searchParams),
      body:
        typeof init.body === 'string'
          ? (JSON.parse(init.body) as unknown)
          : null
    };
    this.asked.push(asked);
    this.signal = init.signal ?? null;
    const answer = this.answers.get(`${asked.method} ${asked.path}`);
    const told = answer?.(asked);
    // One that is not promised is there at once.
    const body: unknown = told instanceof Promise ? await told : told;
    if (body instanceof Response) {
      return body;
    }
    return body === undefined
      ? refusal('not_found', 'Nothing is here.', 404)
      : new Response(JSON.stringify(body));
  }

  private readonly _spy: jest.SpyInstance;
}

/** An answer that something cannot be done. */
export function refusal(code: string, message: string, status = 400): Response {
  return new Response(JSON.stringify({ code, message, params: {} }), {
    status
  });
}

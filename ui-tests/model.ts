import type {
  ChatCompletionRequest,
  ChatMessage,
  Fixture
} from '@copilotkit/aimock';
import { LLMock } from '@copilotkit/aimock';

/**
 * How long the agent may take from an answer to its next question: a tool of it
 * may run a whole notebook.
 */
const PATIENCE = 90_000;

type Answer =
  | { content: string }
  | { toolCalls: IToolCall[] }
  | {
      error: { message: string; code?: string };
      status: number;
      retryAfter?: number;
    };

/**
 * How fast a text comes, if one can watch it come: this many characters at a
 * time, and so many milliseconds between them.
 */
export interface IPace {
  readonly characters: number;
  readonly delay: number;
}

/**
 * Slow enough to watch a text come.
 */
export const WATCHABLE: IPace = { characters: 12, delay: 60 };

/**
 * A text that takes a while, of sentences that are told apart by their numbers.
 */
export function sentences(count: number): string {
  return Array.from({ length: count }, (_, at) => `Sentence ${at}.`).join(' ');
}

/**
 * A model whose every answer the test gives, at the time it gives it.
 *
 * #### Notes
 * It speaks Chat Completions over a real socket. One task is expected at a time.
 */
export class PlayedModel {
  private constructor(private readonly _server: LLMock) {
    _server.addFixture(this._fixture);
  }

  /**
   * Listen on a port of this machine, or on a free one.
   */
  static async start(port = 0): Promise<PlayedModel> {
    const server = new LLMock({ port, host: '127.0.0.1' });
    const model = new PlayedModel(server);
    await server.start();
    return model;
  }

  /**
   * Where it is, without a slash at the end.
   */
  get url(): string {
    return this._server.url;
  }

  /**
   * The settings of a profile that speaks to this model.
   */
  get profile(): Record<string, unknown> {
    return {
      apiProvider: 'lmstudio',
      lmStudioModelId: 'played',
      lmStudioBaseUrl: this._server.url,
      modelSupportsImages: true
    };
  }

  /**
   * Wait until the model is asked.
   */
  async asked(): Promise<void> {
    const deadline = Date.now() + PATIENCE;
    while (this._waiting === null) {
      const left = deadline - Date.now();
      if (left <= 0) {
        throw new Error('The agent did not ask the model anything.');
      }
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, left);
        this._wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /**
   * Have the agent call a tool, and wait for what the tool says.
   */
  async call(name: string, args: object): Promise<string> {
    return this.resultOf(await this.order(name, args));
  }

  /**
   * Wait for what a tool says whose call was ordered. To be asked for when
   * nothing is in its way any more: no story may look at pictures meanwhile.
   *
   * @param id - The call's id.
   */
  async resultOf(id: string): Promise<string> {
    await this.asked();
    const result = this.messages.find(
      message => message.role === 'tool' && message.tool_call_id === id
    );
    if (result === undefined) {
      throw new Error(`The agent asked again without a result of ${id}.`);
    }
    return textOf(result);
  }

  /**
   * Have the agent call a tool, whatever comes of it; the call's id.
   */
  async order(
    name: string,
    args: object,
    pace: IPace | null = null
  ): Promise<string> {
    await this.asked();
    const id = `call_${++this._calls}`;
    this._answer(
      { toolCalls: [{ id, name, arguments: JSON.stringify(args) }] },
      pace
    );
    return id;
  }

  /**
   * Have the agent call several tools, and wait for nothing.
   */
  async beginAll(
    calls: readonly { name: string; args: object }[]
  ): Promise<void> {
    await this.asked();
    this._answer({
      toolCalls: calls.map(({ name, args }) => ({
        id: `call_${++this._calls}`,
        name,
        arguments: JSON.stringify(args)
      }))
    });
  }

  /**
   * Have the agent say that it is done.
   */
  async finish(result = 'Done.'): Promise<void> {
    await this.order('attempt_completion', { result });
  }

  /**
   * Answer in words, and call no tool.
   */
  async say(content: string, pace: IPace | null = null): Promise<void> {
    await this.asked();
    this._answer({ content }, pace);
  }

  /**
   * Answer with an error, as a provider does.
   */
  async fail(
    status: number,
    message: string,
    more: { code?: string; retryAfter?: number } = {}
  ): Promise<void> {
    await this.asked();
    const { code, retryAfter } = more;
    this._answer({ error: { message, code }, status, retryAfter });
  }

  /**
   * What the model was told last.
   */
  get messages(): ChatMessage[] {
    return this._last?.messages ?? [];
  }

  /**
   * All the words of what it was told last, its own among them.
   */
  get told(): string {
    return this.messages
      .flatMap(message => [
        textOf(message),
        ...(message.tool_calls ?? []).map(call => call.function.arguments)
      ])
      .join('\n');
  }

  /**
   * The images in what it was told last, as data URLs.
   */
  get images(): string[] {
    return this.messages.flatMap(({ content }) =>
      Array.isArray(content)
        ? content.flatMap(part =>
            part.type === 'image_url'
              ? [(part.image_url as { url: string }).url]
              : []
          )
        : []
    );
  }

  /**
   * Forget whoever waits for an answer: its task is over.
   */
  forget(): void {
    this._answer({ content: 'That was all.' });
  }

  /**
   * Stop listening.
   */
  async dispose(): Promise<void> {
    this._isOver = true;
    this.forget();
    await this._server.stop();
  }

  private _asked(request: ChatCompletionRequest): Promise<Answer> {
    if (this._isOver) {
      // The task of a story that failed goes on asking, and the server would wait.
      return Promise.resolve({
        error: { message: 'The story is over.' },
        status: 401
      });
    }
    return new Promise(resolve => {
      // A question that was asked again leaves nobody behind who waits.
      this._last = request;
      this._waiting = resolve;
      this._wake?.();
      this._wake = null;
    });
  }

  private _answer(answer: Answer, pace: IPace | null = null): void {
    const waiting = this._waiting;
    this._waiting = null;
    // It is looked up when the answer is there.
    this._fixture.chunkSize = pace?.characters;
    this._fixture.latency = pace?.delay;
    waiting?.(answer);
  }

  private readonly _fixture: Fixture = {
    match: { endpoint: 'chat', predicate: () => true },
    response: request => this._asked(request)
  };

  private _isOver = false;
  private _waiting: ((answer: Answer) => void) | null = null;
  private _wake: (() => void) | null = null;
  private _last: ChatCompletionRequest | null = null;
  private _calls = 0;
}

interface IToolCall {
  id: string;
  name: string;
  arguments: string;
}

function textOf({ content }: ChatMessage): string {
  return Array.isArray(content)
    ? content.map(part => part.text ?? '').join('')
    : (content ?? '');
}

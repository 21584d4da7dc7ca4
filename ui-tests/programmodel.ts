import type { ChatCompletionRequest, ChatMessage } from '@copilotkit/aimock';
import { LLMock } from '@copilotkit/aimock';
import type { IncomingMessage, ServerResponse } from 'http';

/**
 * What programs ask their model for; whatever else they ask it is not for us.
 */
export const WISH = 'Add a cell with the total, please.';

const DONE = 'All is done.';

/**
 * A call of one of our tools.
 */
export interface ICall {
  readonly tool: string;
  readonly args: object;
}

/**
 * The model behind a program of another maker. It calls our tools one after
 * another, whatever comes of each, and keeps what it is told.
 *
 * #### Notes
 * It speaks the makers' own protocols over a real socket.
 */
export class ProgramModel {
  private constructor(
    private readonly _calls: readonly ICall[],
    private readonly _server: LLMock
  ) {
    _server.addFixture({
      match: { predicate: () => true },
      response: request => this._answer(request)
    });
    _server.mount(NAMESPACED, {
      handleRequest: (request, response) => this._respond(request, response)
    });
  }

  /**
   * Listen on a free port.
   */
  static async start(calls: readonly ICall[]): Promise<ProgramModel> {
    const server = new LLMock({ port: 0, host: '127.0.0.1' });
    const model = new ProgramModel(calls, server);
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
   * Where it speaks OpenAI's Responses with the tools of a server under one
   * name, which the library does not do.
   */
  get namespacedUrl(): string {
    return `${this.url}${NAMESPACED}`;
  }

  /**
   * What the tools said, in order.
   */
  get results(): readonly string[] {
    return this._results;
  }

  /**
   * What its program calls a tool of ours.
   */
  nameOf: (tool: string) => string = tool => tool;

  /**
   * Listen no more.
   */
  async dispose(): Promise<void> {
    await this._server.stop();
  }

  private _answer({ messages, tools }: ChatCompletionRequest) {
    const isAsked = messages.some(
      message => message.role === 'user' && textOf(message).includes(WISH)
    );
    const call = this._next(
      messages.filter(({ role }) => role === 'tool').map(textOf)
    );
    // Programs ask for a title, too, and whether they are done.
    return isAsked && tools?.length && call
      ? {
          toolCalls: [
            {
              name: this.nameOf(call.tool),
              arguments: JSON.stringify(call.args)
            }
          ]
        }
      : { content: DONE };
  }

  private async _respond(
    request: IncomingMessage,
    response: ServerResponse
  ): Promise<boolean> {
    if (request.method !== 'POST') {
      return false;
    }
    const { input } = JSON.parse(await bodyOf(request)) as {
      input: { type: string; output?: unknown }[];
    };
    const call = this._next(
      input
        .filter(({ type }) => type === 'function_call_output')
        .map(({ output }) => JSON.stringify(output))
    );
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const event of events(call)) {
      response.write(
        `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
      );
    }
    response.end();
    return true;
  }

  private _next(results: readonly string[]): ICall | undefined {
    if (results.length > this._results.length) {
      this._results = results;
    }
    return this._calls[results.length];
  }

  private _results: readonly string[] = [];
}

const NAMESPACED = '/namespaced';

function events(call: ICall | undefined): readonly { type: string }[] {
  const id = 'one';
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const item = call
    ? {
        type: 'function_call',
        id,
        call_id: `call_${call.tool}_${Math.random()}`,
        namespace: 'mcp__hdsp_agent',
        name: call.tool,
        arguments: JSON.stringify(call.args)
      }
    : {
        type: 'message',
        id,
        role: 'assistant',
        content: [{ type: 'output_text', text: DONE }]
      };
  return [
    { type: 'response.created', response: { id } } as { type: string },
    { type: 'response.output_item.done', output_index: 0, item } as {
      type: string;
    },
    { type: 'response.completed', response: { id, usage } } as { type: string }
  ];
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) {
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString();
}

function textOf({ content }: ChatMessage): string {
  return Array.isArray(content)
    ? content.map(part => part.text ?? '').join('')
    : (content ?? '');
}

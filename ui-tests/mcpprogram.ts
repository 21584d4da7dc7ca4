import type { ChildProcess } from 'child_process';
import { spawn } from 'child_process';
import { once } from 'events';
import * as path from 'path';
import { createInterface } from 'readline';

import { test as chatTest } from './chat';

export { expect } from './chat';

const ROOT = path.resolve(__dirname, '..');
const PYTHON = path.join(ROOT, '.venv/bin/python');
const PROGRAM = path.join(__dirname, 'mcp_program.py');

/**
 * What came of a call.
 */
export interface ICalled {
  readonly text: string;
  readonly isError: boolean;
}

/**
 * A program of another maker that works in the notebooks by MCP; see
 * `mcp_program.py`.
 */
export class McpProgram {
  private constructor(private readonly _process: ChildProcess) {
    const { stdout } = _process;
    if (stdout) {
      createInterface(stdout).on('line', line => this._hear(line));
    }
    _process.stderr?.on('data', (data: Buffer) => {
      this._errors += data.toString();
    });
    this._over = once(_process, 'exit').then(() => {
      const reason = new Error(`The program ended. It said: ${this._errors}`);
      this._waiting.forEach(({ reject }) => reject(reason));
      this._waiting.clear();
    });
  }

  /**
   * Start it, and wait until it is connected.
   *
   * @param where - The address of the MCP server, or the command that leads to it.
   */
  static async start(
    name: string,
    where: string | McpProgram.ICommand
  ): Promise<McpProgram> {
    const target =
      typeof where === 'string'
        ? [where]
        : ['--', where.command, ...where.args];
    const program = new McpProgram(
      spawn(PYTHON, [PROGRAM, name, ...target], {
        stdio: ['pipe', 'pipe', 'pipe'],
        ...(typeof where === 'string'
          ? {}
          : { cwd: where.cwd, env: { ...process.env, ...where.env } })
      })
    );
    await program._expect(CONNECTED);
    return program;
  }

  /**
   * The names of the tools it may call.
   */
  tools: readonly string[] = [];

  /**
   * Have it call a tool, and wait for what comes of it.
   */
  call(tool: string, args: object): Promise<ICalled> {
    const id = ++this._calls;
    const done = this._expect(id);
    this._process.stdin?.write(
      `${JSON.stringify({ id, tool, arguments: args })}\n`
    );
    return done;
  }

  /**
   * End it, as somebody does who closes its window.
   */
  async dispose(): Promise<void> {
    this._process.kill('SIGKILL');
    await this._over;
  }

  private _expect(id: number): Promise<ICalled> {
    const done = new Promise<ICalled>((resolve, reject) => {
      this._waiting.set(id, { resolve, reject });
    });
    // It may be waited for only after the program has ended.
    done.catch(() => undefined);
    return done;
  }

  private _hear(line: string): void {
    const {
      id = CONNECTED,
      tools,
      ...called
    } = JSON.parse(line) as ICalled & {
      id?: number;
      tools?: string[];
    };
    this.tools = tools ?? this.tools;
    this._waiting.get(id)?.resolve(called);
    this._waiting.delete(id);
  }

  private readonly _over: Promise<void>;
  private readonly _waiting = new Map<
    number,
    { resolve: (called: ICalled) => void; reject: (reason: Error) => void }
  >();
  private _calls = CONNECTED;
  private _errors = '';
}

/**
 * The namespace for `McpProgram` statics.
 */
export namespace McpProgram {
  /**
   * What leads to the server.
   */
  export interface ICommand {
    readonly command: string;
    readonly args: readonly string[];

    /**
     * The folder in which it starts.
     */
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
  }
}

/**
 * What stands in place of a call's number when it has connected.
 */
const CONNECTED = 0;

interface IFixtures {
  /**
   * Starts programs that last as long as the test.
   */
  startProgram: typeof McpProgram.start;
}

/**
 * A test of other agents.
 */
export const test = chatTest.extend<IFixtures>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads from the pattern what a fixture needs.
  startProgram: async ({}, use) => {
    const programs: McpProgram[] = [];
    await use(async (...args) => {
      const program = await McpProgram.start(...args);
      programs.push(program);
      return program;
    });
    await Promise.all(programs.map(program => program.dispose()));
  }
});

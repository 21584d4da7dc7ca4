import { spawn } from 'child_process';
import { once } from 'events';
import { mkdirSync, writeFileSync } from 'fs';
import * as path from 'path';

import type { ProgramModel } from './programmodel';
import { WISH } from './programmodel';

const PROGRAMS = path.resolve(__dirname, '../.programs/node_modules/.bin');

/**
 * What the page says is to be pasted.
 */
export interface ISnippet {
  /**
   * The file that it goes into, or what else it is.
   */
  readonly label: string;
  readonly text: string;
}

/**
 * Somebody's home and folder, in which programs of other makers run.
 */
export class Place {
  /**
   * @param folder - The folder in which they are started.
   */
  constructor(
    private readonly _home: string,
    private readonly _folder: string
  ) {
    mkdirSync(_home, { recursive: true });
  }

  /**
   * Write a file where its label says.
   */
  write(file: string, text: string): void {
    const where = file.startsWith('~/')
      ? path.join(this._home, file.slice(2))
      : path.join(this._folder, file);
    mkdirSync(path.dirname(where), { recursive: true });
    writeFileSync(where, text);
  }

  /**
   * Run a program to its end; what it said.
   */
  async run(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {}
  ): Promise<string> {
    const child = spawn(command, args, {
      cwd: this._folder,
      env: { ...this._environment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe']
    });
    const end = () => child.kill('SIGKILL');
    this._ends.add(end);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        said += data.toString();
      });
    }
    await once(child, 'close');
    this._ends.delete(end);
    return said;
  }

  /**
   * End what still runs.
   */
  dispose(): void {
    this._ends.forEach(end => end());
  }

  private _environment(): Record<string, string> {
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(JUPYTER|XDG)/.test(name)
    );
    return {
      ...(Object.fromEntries(own) as Record<string, string>),
      HOME: this._home,
      // Some go by what a shell would say, not by where they are.
      PWD: this._folder,
      PATH: [PROGRAMS, path.dirname(process.execPath), process.env.PATH].join(
        path.delimiter
      )
    };
  }

  private readonly _ends = new Set<() => boolean>();
}

/**
 * A program of another maker.
 */
export interface IOtherProgram {
  /**
   * What the page and the panel call it.
   */
  readonly name: string;

  /**
   * What it calls a tool of ours to its model.
   */
  readonly toolName: (tool: string) => string;

  /**
   * Set it up with what the page says and a model, and have it do what is
   * wished; what it said.
   */
  readonly use: (
    place: Place,
    snippet: ISnippet,
    model: ProgramModel
  ) => Promise<string>;
}

/**
 * What a test adds to a file that the page says: a person has that already.
 */
function withModel({ text }: ISnippet, more: object): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), ...more });
}

/**
 * The programs that run with a model that is not their maker's.
 */
export const OTHER_PROGRAMS: readonly IOtherProgram[] = [
  {
    name: 'Claude Code',
    toolName: tool => `mcp__hdsp-agent__${tool}`,
    use: async (place, { text }, model) => {
      const env = {
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'sk-ant-none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        // A played answer has no thoughts to go on from.
        MAX_THINKING_TOKENS: '0'
      };
      const added = await place.run('sh', ['-c', text], env);
      const allowed = ['--allowedTools', 'mcp__hdsp-agent'];
      const asked = ['-p', WISH, '--model', 'claude-sonnet-4-5', ...allowed];
      return added + (await place.run('claude', asked, env));
    }
  },
  {
    name: 'Codex',
    toolName: tool => tool,
    use: (place, { label, text }, model) => {
      const config = [
        'model = "gpt-5"',
        'model_provider = "played"',
        text,
        // Its first request does not wait for others, which a person's typing
        // gives time for.
        'required = true',
        'startup_timeout_sec = 120',
        // Nobody is there whom it could ask on its side; the panel asks.
        'default_tools_approval_mode = "approve"',
        '[model_providers.played]',
        'name = "played"',
        `base_url = "${model.namespacedUrl}"`,
        'wire_api = "responses"'
      ];
      place.write(label, config.join('\n'));
      return place.run('codex', ['exec', '--skip-git-repo-check', WISH]);
    }
  },
  {
    name: 'Gemini CLI',
    toolName: tool => `mcp_hdsp-agent_${tool}`,
    use: (place, snippet, model) => {
      const auth = { selectedType: 'gemini-api-key' };
      place.write(snippet.label, withModel(snippet, { security: { auth } }));
      const how = ['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo'];
      return place.run('gemini', [...how, '-p', WISH], {
        GEMINI_API_KEY: 'none',
        GOOGLE_GEMINI_BASE_URL: model.url,
        GEMINI_CLI_TRUST_WORKSPACE: 'true'
      });
    }
  },
  {
    name: 'opencode',
    toolName: tool => `hdsp-agent_${tool}`,
    use: (place, snippet, model) => {
      const played = {
        npm: '@ai-sdk/openai-compatible',
        name: 'played',
        options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
        models: { one: { name: 'one' } }
      };
      const more = {
        provider: { played },
        model: 'played/one',
        permission: { '*': 'allow' }
      };
      place.write(snippet.label, withModel(snippet, more));
      return place.run('opencode', ['run', WISH]);
    }
  }
];

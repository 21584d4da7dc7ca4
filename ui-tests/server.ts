import type { ChildProcess } from 'child_process';
import { spawn } from 'child_process';
import { randomInt } from 'crypto';
import { once } from 'events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync
} from 'fs';
import { createServer } from 'net';
import { tmpdir } from 'os';
import * as path from 'path';
import { setTimeout as sleep } from 'timers/promises';

const ROOT = path.resolve(__dirname, '..');
const CONFIG = path.join(__dirname, 'jupyter_server_test_config.py');
// Only what hangs takes that long; a crowded machine starts one in half a minute.
const START_TIMEOUT = 120_000;
const STOP_TIMEOUT = 30_000;

// Below those that the system gives away itself, for each of eight workers.
const WORKER = Number(process.env.TEST_PARALLEL_INDEX ?? 0) % 8;
const FIRST_PORT = 7_000;
const PORTS = 375;
const FIRST_KERNEL_PORT = 16_000;
const PORTS_OF_KERNELS = 200;
const SERVERS = 10;

/**
 * Every server of the tests runs below it, as behind a hub.
 */
export const BASE_PATH = '/user/anna';

/**
 * What starts a server of the tests.
 */
function command(
  port: number,
  { args = [], installedIn = '.venv' }: JupyterServer.IOptions
): string[] {
  return [
    path.join(ROOT, installedIn, 'bin/jupyter'),
    'lab',
    `--config=${CONFIG}`,
    `--ServerApp.port=${port}`,
    `--ServerApp.base_url=${BASE_PATH}/`,
    ...args
  ];
}

/**
 * The environment of a server of the tests: nothing in a person's own
 * configuration or keyring takes part.
 *
 * @param folder - Where Jupyter keeps what it would keep in the home folder.
 */
function environment(folder: string): Record<string, string> {
  return {
    HDSP_AGENT_PASSPHRASE: 'for the tests in the browser',
    PYTHON_KEYRING_BACKEND: 'keyring.backends.fail.Keyring',
    JUPYTER_CONFIG_DIR: path.join(folder, 'config'),
    JUPYTER_DATA_DIR: path.join(folder, 'data'),
    JUPYTER_RUNTIME_DIR: path.join(folder, 'runtime'),
    IPYTHONDIR: path.join(folder, 'ipython'),
    // What a person has fetched for themselves is not there for the stories.
    HDSP_AGENT_MODELS: path.join(folder, 'models'),
    HF_HOME: path.join(folder, 'hub')
  };
}

/**
 * What switches jupyter-collaboration on for one server; `make collaboration`
 * puts it where this looks.
 */
export function collaboration(): Record<string, string> {
  const folder = path.join(ROOT, '.collaboration');
  if (!existsSync(folder)) {
    throw new Error('Run `make collaboration` first.');
  }
  return {
    PYTHONPATH: folder,
    JUPYTER_PATH: path.join(folder, 'share/jupyter'),
    JUPYTER_CONFIG_PATH: path.join(folder, 'etc/jupyter')
  };
}

/**
 * A real server in a process of its own, which a test may stop and start again
 * on the same port with the same files.
 */
export class JupyterServer {
  private constructor(
    readonly port: number,
    private readonly _options: JupyterServer.IOptions
  ) {
    this.folder = mkdtempSync(path.join(tmpdir(), 'hdsp-ui-server-'));
    // Where jupyter-collaboration keeps its files it makes no folder.
    for (const made of [this.home, this.root, path.join(this.folder, 'data')]) {
      mkdirSync(made);
    }
  }

  /**
   * Start a server on a free port.
   */
  static async start(
    options: JupyterServer.IOptions = {}
  ): Promise<JupyterServer> {
    const server = new JupyterServer(await freePort(), options);
    try {
      options.prepare?.(server);
      await server.start();
    } catch (error) {
      await server.dispose();
      throw error;
    }
    return server;
  }

  /**
   * Holds everything the server writes.
   */
  readonly folder: string;

  /**
   * Where the page is, without a slash at the end.
   */
  get url(): string {
    return `http://127.0.0.1:${this.port}${BASE_PATH}`;
  }

  /**
   * The agent's storage folder.
   */
  get home(): string {
    return path.join(this.folder, 'agent-home');
  }

  /**
   * The folder of notebooks.
   */
  get root(): string {
    return path.join(this.folder, 'root');
  }

  /**
   * What all runs of the server printed.
   */
  get log(): string {
    return path.join(this.folder, 'server.log');
  }

  /**
   * Start, and wait until the agent answers.
   */
  async start(): Promise<void> {
    const [program, ...args] = command(this.port, this._options);
    const log = openSync(this.log, 'a');
    const child = spawn(program, args, {
      // jupyter-collaboration writes where it is started.
      cwd: this.folder,
      env: {
        ...process.env,
        ...environment(this.folder),
        HDSP_UI_HOME: this.home,
        HDSP_UI_KERNEL_PORTS: String(this._kernelPorts),
        JUPYTERLAB_GALATA_ROOT_DIR: this.root,
        ...this._options.env
      },
      stdio: ['ignore', log, log]
    });
    closeSync(log);
    this._process = child;
    // A test that is cut short must not leave a server behind.
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const deadline = Date.now() + START_TIMEOUT;
    while (!(await this._answers())) {
      if (child.exitCode !== null || Date.now() > deadline) {
        const said = readFileSync(this.log, 'utf8').slice(-4000);
        throw new Error(`The server did not start. It said:\n${said}`);
      }
      await sleep(50);
    }
  }

  /**
   * Ask the server to end, and wait until it has.
   */
  async stop(): Promise<void> {
    const child = this._process;
    this._process = null;
    if (!child || child.exitCode !== null) {
      return;
    }
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
    await ended;
    clearTimeout(killer);
  }

  /**
   * End the server where it is, with no time to put anything in order. Its
   * kernels see that it is gone, and end.
   */
  async kill(): Promise<void> {
    const child = this._process;
    this._process = null;
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }

  /**
   * End the server where it is, and remove what was written.
   */
  async dispose(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }

  private async _answers(): Promise<boolean> {
    try {
      const { status } = await fetch(`${this.url}/hdsp-agent/api/health`);
      // Whoever has to log in first is told so by the agent itself.
      return status === 200 || status === 403;
    } catch {
      return false;
    }
  }

  private readonly _kernelPorts = kernelPorts();
  private _process: ChildProcess | null = null;
}

/**
 * The namespace for `JupyterServer` statics.
 */
export namespace JupyterServer {
  /**
   * The options of a server.
   */
  export interface IOptions {
    /**
     * Further arguments of the command line.
     */
    args?: readonly string[];

    /**
     * The Python environment it is started from, if not the tests' own.
     */
    installedIn?: string;

    /**
     * Variables on top of the tests' own; an empty one is as good as none.
     */
    env?: Readonly<Record<string, string>>;

    /**
     * Called before the first start, when the folders are there.
     */
    prepare?: (server: JupyterServer) => void;
  }
}

/**
 * A port of the loopback interface that nothing listens on, and that neither
 * the system nor another worker gives away while the server that is to have it
 * starts, or is stopped.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < 10 * PORTS; tried++) {
    const port = FIRST_PORT + WORKER * PORTS + randomInt(PORTS);
    if (given.has(port)) {
      continue;
    }
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    given.add(port);
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('All ports are taken.');
}

/**
 * The first of the ports that a server has for its kernels.
 */
function kernelPorts(): number {
  const own = servers++ % SERVERS;
  return FIRST_KERNEL_PORT + (WORKER * SERVERS + own) * PORTS_OF_KERNELS;
}

const given = new Set<number>();
let servers = 0;

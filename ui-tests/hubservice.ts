import type { ChildProcess } from 'child_process';
import { spawn } from 'child_process';
import { once } from 'events';
import * as path from 'path';
import { createInterface } from 'readline';

const ROOT = path.resolve(__dirname, '..');
const PYTHON = path.join(ROOT, '.venv/bin/python');

/**
 * The hub service with a month of use, in a process of its own. The hub in front
 * of it lets the browser in as an administrator; see `hub_service.py`.
 */
export class HubService {
  private constructor(
    private readonly _program: ChildProcess,
    readonly url: string
  ) {}

  /**
   * Start it.
   *
   * @param model - Where the model is that everybody uses, without a slash at the
   * end, if a story plays one.
   */
  static async start(model?: string): Promise<HubService> {
    const program = spawn(
      PYTHON,
      [
        path.join(ROOT, 'ui-tests/hub_service.py'),
        ...(model === undefined ? [] : [model])
      ],
      {
        cwd: ROOT,
        env: { ...process.env, PYTHONPATH: ROOT },
        stdio: ['pipe', 'pipe', 'inherit']
      }
    );
    const [url] = await Promise.race([
      once(createInterface(program.stdout), 'line'),
      once(program, 'exit').then(() => {
        throw new Error('The hub service did not start');
      })
    ]);
    return new HubService(program, String(url));
  }

  /**
   * End it, and wait until it has.
   */
  async dispose(): Promise<void> {
    const ended = once(this._program, 'exit');
    this._program.stdin?.end();
    await ended;
  }
}

import type { McpServerTest, McpServerView } from '../generated/rest';

import type { AgentPreset, McpApi } from './mcpapi';
import { RemoteData } from './remotedata';

/**
 * The other agents that work here, and how they connect.
 */
export class OtherAgentsData extends RemoteData<McpServerView> {
  /**
   * @param origin - Where the page is from.
   */
  constructor(
    private readonly _api: McpApi,
    private readonly _origin: string
  ) {
    super();
  }

  /**
   * What the last test found; `null` before one was made, and while one goes on.
   */
  get test(): McpServerTest | null {
    return this._test;
  }

  /**
   * Whether the connection is being tested.
   */
  get isTesting(): boolean {
    return this._isTesting;
  }

  /**
   * Let other agents in, or no longer.
   */
  letIn(enabled: boolean): Promise<boolean> {
    this._test = null;
    return this._change(() => this._api.letOthersIn(enabled));
  }

  /**
   * Choose what an agent may do without asking.
   */
  allow(key: string, preset: AgentPreset): Promise<boolean> {
    return this._change(() => this._api.allowAgent(key, preset));
  }

  /**
   * Choose whether an agent may also ask in its own window.
   */
  letAsk(key: string, mayAsk: boolean): Promise<boolean> {
    return this._change(() => this._api.letAgentAsk(key, mayAsk));
  }

  disconnect(key: string): Promise<boolean> {
    return this._change(() => this._api.disconnectAgent(key));
  }

  /**
   * Try whether another agent could connect.
   */
  async tryConnection(): Promise<boolean> {
    if (this._isTesting) {
      return false;
    }
    this._isTesting = true;
    this._test = null;
    const done = await this.act(async () => {
      this._test = await this._api.testConnection();
    });
    this._isTesting = false;
    this.emitChanged();
    return done;
  }

  protected fetch(): Promise<McpServerView> {
    return this._api.otherAgents(this._origin);
  }

  /**
   * Change something, and see how all of it is then: the texts to paste follow
   * the address of the page, which only a question for them names.
   */
  private async _change(change: () => Promise<unknown>): Promise<boolean> {
    const done = await this.act(async () => {
      await change();
    });
    await this.refresh();
    return done;
  }

  private _test: McpServerTest | null = null;
  private _isTesting = false;
}

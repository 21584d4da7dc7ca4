import type { ChannelClient } from '../../comm/client';
import type {
  McpImportBody,
  McpImportView,
  McpLogView,
  McpServersView
} from '../../generated/rest';
import type { McpServer, McpTool } from '../../generated/wire';
import type { McpApi, McpServerKey } from '../../rest/mcpapi';
import { RemoteData } from '../../rest/remotedata';

/**
 * Sends what is changed about MCP servers.
 */
export type McpClient = Pick<ChannelClient, 'request'>;

/**
 * The MCP servers whose tools the agent uses.
 *
 * #### Notes
 * What is changed goes over the channel, as from any other page.
 */
export class McpServersData extends RemoteData<McpServersView> {
  /**
   * @param signedInUrl - Where one comes back to who has signed in to a server.
   */
  constructor(
    private readonly _api: McpApi,
    private readonly _client: McpClient,
    private readonly _signedInUrl: string
  ) {
    super();
  }

  /**
   * Connect to the servers that are switched on.
   */
  async connect(): Promise<void> {
    const done = await this.act(async () => {
      this.accept(await this._api.connectServers());
    });
    if (!done) {
      await this.refresh();
    }
  }

  /**
   * Take over the states of all servers, and ask for the rest.
   */
  follow(servers: readonly McpServer[]): void {
    if (this.value === null) {
      return;
    }
    const { value } = this;
    const before = new Map(value.servers.map(one => [keyOf(one), one]));
    this.accept({
      ...value,
      servers: servers.map(server => ({
        ...before.get(keyOf(server)),
        ...server
      }))
    });
    void this.refresh();
  }

  toggle(server: McpServerKey, disabled: boolean): Promise<boolean> {
    return this._change({ type: 'toggleMcpServer', ...at(server), disabled });
  }

  restart({ name, source }: McpServerKey): Promise<boolean> {
    return this._change({ type: 'restartMcpServer', text: name, source });
  }

  remove(server: McpServerKey): Promise<boolean> {
    return this._change({ type: 'deleteMcpServer', ...at(server) });
  }

  /**
   * Give the calls of a server another limit.
   *
   * @param timeout - In seconds.
   */
  limit(server: McpServerKey, timeout: number): Promise<boolean> {
    return this._change({ type: 'updateMcpTimeout', ...at(server), timeout });
  }

  offerTool(
    server: McpServerKey,
    toolName: string,
    isEnabled: boolean
  ): Promise<boolean> {
    return this._change({
      type: 'toggleToolEnabledForPrompt',
      ...at(server),
      toolName,
      isEnabled
    });
  }

  /**
   * Allow a tool as it is shown, or ask about it again.
   */
  allowTool(
    server: McpServerKey,
    { name, fingerprint }: McpTool,
    alwaysAllow: boolean
  ): Promise<boolean> {
    return this._change({
      type: 'toggleToolAlwaysAllow',
      ...at(server),
      toolName: name,
      alwaysAllow,
      fingerprint
    });
  }

  /**
   * Read the files again, and connect to all servers anew.
   */
  readAgain(): Promise<boolean> {
    return this._change({ type: 'refreshAllMcpServers' });
  }

  /**
   * Add servers; `null` if that was refused.
   */
  async add(body: McpImportBody): Promise<McpImportView | null> {
    let added: McpImportView | null = null;
    await this.act(async () => {
      added = await this._api.addServers(body);
    });
    await this.refresh();
    return added;
  }

  /**
   * What a server wrote; `null` if that was refused.
   */
  async log(server: McpServerKey): Promise<McpLogView | null> {
    let log: McpLogView | null = null;
    await this.act(async () => {
      log = await this._api.serverLog(server);
    });
    return log;
  }

  /**
   * Begin to sign in.
   *
   * @returns The page on which one does; `null` if that was refused.
   */
  async signIn(server: McpServerKey): Promise<string | null> {
    let url: string | null = null;
    await this.act(async () => {
      ({ url } = await this._api.signIn(server, this._signedInUrl));
    });
    return url;
  }

  async signOut(server: McpServerKey): Promise<boolean> {
    const done = await this.act(async () => {
      await this._api.signOut(server);
    });
    await this.refresh();
    return done;
  }

  protected fetch(): Promise<McpServersView> {
    return this._api.servers();
  }

  private async _change(request: ChannelClient.Request): Promise<boolean> {
    const done = await this.act(async () => {
      await this._client.request(request);
    });
    await this.refresh();
    return done;
  }
}

/**
 * What tells servers apart.
 */
export function keyOf({ name, source }: McpServerKey): string {
  return `${source}:${name}`;
}

function at({ name, source }: McpServerKey) {
  return { serverName: name, source };
}

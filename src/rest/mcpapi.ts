import type {
  ExternalAgentBody,
  McpImportBody,
  McpImportView,
  McpLoginView,
  McpLogView,
  McpServersView,
  McpServerTest,
  McpServerView
} from '../generated/rest';
import type { McpServer } from '../generated/wire';

import { SettingsApi } from './settingsapi';

/**
 * Names one of the MCP servers: a folder may have one of the same name.
 */
export type McpServerKey = Pick<McpServer, 'name' | 'source'>;

/**
 * What a connected agent may do without asking.
 */
export type AgentPreset = NonNullable<ExternalAgentBody['approvals']>;

/**
 * The part of the server's REST interface that is about MCP: other agents that
 * work here, and servers whose tools the agent uses.
 */
export class McpApi extends SettingsApi {
  /**
   * How other agents connect, and which are connected.
   *
   * @param origin - Where the page is from; the addresses to paste begin with it.
   */
  otherAgents(origin: string | null = null): Promise<McpServerView> {
    const query = origin === null ? {} : { origin };
    return this._request('GET /mcp/server', { query });
  }

  letOthersIn(enabled: boolean): Promise<McpServerView> {
    return this._request('PUT /mcp/server', { body: { enabled } });
  }

  testConnection(): Promise<McpServerTest> {
    return this._request('POST /mcp/server/test', { body: {} });
  }

  /**
   * Let all programs of an agent's name do so much without asking.
   */
  allowAgent(agent: string, approvals: AgentPreset): Promise<McpServerView> {
    return this._request('PATCH /mcp/server/agents/{agent}', {
      path: { agent },
      body: { approvals }
    });
  }

  /**
   * Let all programs of an agent's name ask in their own window, too, or only here.
   */
  letAgentAsk(agent: string, mayAsk: boolean): Promise<McpServerView> {
    return this._request('PATCH /mcp/server/agents/{agent}', {
      path: { agent },
      body: { mayAsk }
    });
  }

  disconnectAgent(agent: string): Promise<McpServerView> {
    return this._request('DELETE /mcp/server/agents/{agent}', {
      path: { agent }
    });
  }

  /**
   * The MCP servers with their tools, as far as they are known; none is started.
   */
  servers(): Promise<McpServersView> {
    return this._request('GET /mcp/servers', {});
  }

  /**
   * Connect to the servers that are switched on. How they are then is told later.
   */
  connectServers(): Promise<McpServersView> {
    return this._request('POST /mcp/servers/connect', {});
  }

  addServers(body: McpImportBody): Promise<McpImportView> {
    return this._request('POST /mcp/servers', { body });
  }

  serverLog({ name, source }: McpServerKey): Promise<McpLogView> {
    return this._request('GET /mcp/servers/{server}/log', {
      path: { server: name },
      query: { source }
    });
  }

  /**
   * Begin to sign in to a server.
   *
   * @param redirectUri - Where one comes back to afterwards.
   */
  signIn(
    { name, source }: McpServerKey,
    redirectUri: string
  ): Promise<McpLoginView> {
    return this._request('POST /mcp/servers/{server}/login', {
      path: { server: name },
      query: { source },
      body: { redirectUri }
    });
  }

  signOut({ name, source }: McpServerKey): Promise<unknown> {
    return this._request('DELETE /mcp/servers/{server}/login', {
      path: { server: name },
      query: { source }
    });
  }
}

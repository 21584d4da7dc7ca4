import { RequestError } from '../../../comm/requesterror';
import type { ConnectedAgentView } from '../../../generated/rest';
import { externalAgent } from '../../../state/externalagent';
import type { IPanelServices } from '../../../ui/services';

/**
 * Let the other agent whose conversation is on screen, and all of its name, do so
 * much without asking.
 */
export async function allowAgent(
  { serverSettings, store }: Pick<IPanelServices, 'serverSettings' | 'store'>,
  approvals: ConnectedAgentView['approvals']
): Promise<void> {
  const { McpApi } = await import('../../../rest/mcpapi');
  const api = new McpApi(serverSettings);
  const taskId = store.state?.currentTaskId;
  const name = externalAgent(store);
  const { agents } = await api.otherAgents();
  const agent =
    agents.find(one => one.taskId === taskId) ??
    agents.find(one => one.name === name);
  if (agent === undefined) {
    throw new RequestError({ code: 'not_found', message: name ?? '' });
  }
  await api.allowAgent(agent.key, approvals);
}

import type { ServerConnection } from '@jupyterlab/services';
import * as React from 'react';

import { settingsText } from '../../generated/settingsText';
import type { GlobalSettings, McpServer } from '../../generated/wire';
import { McpApi } from '../../rest/mcpapi';
import type { AskMessage } from '../../state/pendingask';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { plainName } from '../../ui/texts/visibletext';
import { useAction } from '../../ui/useaction';
import { mcpUseOf } from './askcontent';

/**
 * The settings that have to be on for a tool that is allowed without asking.
 */
const NEEDED = [
  'autoApprovalEnabled',
  'alwaysAllowMcp'
] as const satisfies readonly (keyof GlobalSettings)[];

/**
 * Where the server of a name is from that is used; a folder may have one of the
 * same name as the person.
 */
async function sourceOf(
  server: string,
  settings: ServerConnection.ISettings
): Promise<McpServer['source']> {
  const { servers } = await new McpApi(settings).servers();
  const used = servers.find(
    ({ name, status }) => name === server && status === 'connected'
  );
  return used?.source ?? 'global';
}

/**
 * Lets the agent use one tool of an MCP server without asking.
 */
export default function ToolRuleBody({
  ask,
  onDone
}: {
  ask: AskMessage;
  onDone: () => void;
}): JSX.Element {
  const { answers, client, openSettings, serverSettings, store, trans } =
    usePanel();
  const settings = useStore(store, ({ state }) => state?.settings);
  const fixed = useStore(store, ({ state }) => state?.fixed);
  const words = React.useMemo(() => settingsText(trans), [trans]);
  const { isBusy, error, run } = useAction();
  const { serverName = '', toolName = '', fingerprint } = mcpUseOf(ask) ?? {};
  const missing = NEEDED.filter(name => settings?.[name] !== true);
  const isForbidden = missing.some(name => fixed?.includes(name));
  const allow = () =>
    void run(async () => {
      await client.request({
        type: 'toggleToolAlwaysAllow',
        serverName,
        source: await sourceOf(serverName, serverSettings),
        toolName,
        alwaysAllow: true,
        // The tool that is asked about, not what became of it.
        ...(fingerprint !== undefined && { fingerprint })
      });
      if (missing.length > 0) {
        await client.request({
          type: 'updateSettings',
          updatedSettings: Object.fromEntries(missing.map(name => [name, true]))
        });
      }
      onDone();
      await answers.approve(ask);
    });
  return (
    <>
      <h3 className="jp-hdspAgent-ask-popover-title">
        {trans.__('Always allow')}
      </h3>
      {isForbidden ? (
        <p role="status">
          {trans.__('No rule can allow this. The agent asks each time.')}
        </p>
      ) : (
        <form
          className="jp-hdspAgent-ask-rules"
          onSubmit={event => {
            event.preventDefault();
            allow();
          }}
        >
          <p>
            {trans.__(
              'The agent uses the tool “%1” of “%2” without asking, whatever it sends to it.',
              plainName(toolName),
              plainName(serverName)
            )}
          </p>
          {missing.length > 0 && (
            <>
              <p>{trans.__('This will turn on, for all conversations:')}</p>
              <ul>
                {missing.map(name => (
                  <li key={name} title={words[name]?.description}>
                    {words[name]?.title ?? name}
                  </li>
                ))}
              </ul>
            </>
          )}
          <button
            type="submit"
            className="jp-hdspAgent-button jp-mod-accept"
            aria-disabled={isBusy}
          >
            {isBusy ? trans.__('Saving…') : trans.__('Allow and approve')}
          </button>
          <ProblemNote error={error} />
        </form>
      )}
      <button
        type="button"
        className="jp-hdspAgent-ask-link"
        onClick={() => {
          onDone();
          openSettings('mcpServers');
        }}
      >
        {trans.__('MCP servers')}
      </button>
    </>
  );
}

import * as React from 'react';

import type { McpServer, McpTool } from '../../generated/wire';
import type { McpServersData } from '../data/mcpserversdata';
import { useSettings } from '../settingscontext';
import { usePages } from '../memory/manylines';
import { claimText } from './mcpserverstexts';

/**
 * The tools of a server: which the agent gets, and which it uses without asking.
 */
export function ServerTools({
  server,
  servers
}: {
  server: McpServer;
  servers: McpServersData;
}): JSX.Element {
  const { model, trans } = useSettings();
  const { prompts = [], resources = [], resourceTemplates = [] } = server;
  const { shown, more } = usePages(server.tools ?? []);
  const { settings } = model.settings.value ?? {};
  const isAskedAnyway =
    settings !== undefined &&
    !(settings.autoApprovalEnabled && settings.alwaysAllowMcp);
  return (
    <div className="jp-hdspSettings-serverParts">
      {shown.length === 0 && <p>{trans.__('It offers no tools.')}</p>}
      {isAskedAnyway && shown.some(({ alwaysAllow }) => alwaysAllow) && (
        <p className="jp-hdspSettings-description">
          {trans.__(
            'The agent still asks: “MCP tools” is off under Approvals.'
          )}
        </p>
      )}
      <ul>
        {shown.map(tool => (
          <Tool key={tool.name} tool={tool} server={server} servers={servers} />
        ))}
      </ul>
      {more}
      <Names
        label={trans.__('Resources (type @ in a message)')}
        names={[
          ...resources.map(({ name, uri }) => name || uri),
          ...resourceTemplates.map(
            ({ name, uriTemplate }) => name || uriTemplate
          )
        ]}
      />
      <Names
        label={trans.__('Prompts (type / in a message)')}
        names={prompts.map(({ command }) => command)}
      />
    </div>
  );
}

function Tool({
  tool,
  server,
  servers
}: {
  tool: McpTool;
  server: McpServer;
  servers: McpServersData;
}): JSX.Element {
  const { trans } = useSettings();
  const { alwaysAllow, changed, description, enabledForPrompt, name } = tool;
  const claim = claimText(tool, trans);
  return (
    <li className="jp-hdspSettings-serverTool" data-tool={name}>
      <div className="jp-hdspSettings-toolHead">
        <input
          type="checkbox"
          role="switch"
          className="jp-hdspSettings-switch"
          aria-label={trans.__('Offer the tool %1 to the agent', name)}
          checked={enabledForPrompt}
          onChange={event =>
            void servers.offerTool(server, name, event.target.checked)
          }
        />
        <code>{name}</code>
        {claim && <span className="jp-hdspSettings-about">{claim}</span>}
        <label className="jp-hdspSettings-check">
          <input
            type="checkbox"
            aria-label={trans.__('Without asking: %1', name)}
            checked={alwaysAllow}
            disabled={!enabledForPrompt}
            onChange={event =>
              void servers.allowTool(server, tool, event.target.checked)
            }
          />
          <span>{trans.__('Without asking')}</span>
        </label>
      </div>
      {changed && (
        <p className="jp-hdspSettings-warning">
          {trans.__(
            'This tool changed since you allowed it. The agent asks again.'
          )}
        </p>
      )}
      {description && <Description text={description} />}
    </li>
  );
}

/**
 * What a tool does in the words of its server, of which many are for the model.
 */
function Description({ text }: { text: string }): JSX.Element {
  const line = text.trim().split('\n', 1)[0].slice(0, LONGEST);
  return line === text.trim() ? (
    <p className="jp-hdspSettings-toolText" dir="auto">
      {line}
    </p>
  ) : (
    <details className="jp-hdspSettings-toolText" aria-label={line} dir="auto">
      <summary>{line}…</summary>
      {text}
    </details>
  );
}

const LONGEST = 160;

function Names({
  label,
  names
}: {
  label: string;
  names: readonly string[];
}): JSX.Element | null {
  return names.length === 0 ? null : (
    <details className="jp-hdspSettings-advanced" aria-label={label}>
      <summary>{label}</summary>
      <ul>
        {names.map((name, index) => (
          <li key={index}>
            <code>{name}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

import * as React from 'react';

import type { McpServersView } from '../../generated/rest';
import { SettingField } from '../fields/settingfield';
import type { McpServersData } from '../data/mcpserversdata';
import { keyOf } from '../data/mcpserversdata';
import { SectionProblem } from '../sections/sectionproblem';
import { useSettings } from '../settingscontext';
import { AddServer } from './addserver';
import { ServerItem } from './serveritem';

/**
 * The setting that lets the agent use MCP servers.
 */
export const MCP_KEY = 'mcpEnabled';

/**
 * The MCP servers: which there are, how they are, and what the agent gets of them.
 */
export function McpServersSection({
  servers
}: {
  servers: McpServersData;
}): JSX.Element {
  const { trans } = useSettings();
  React.useEffect(() => void servers.connect(), [servers]);
  const { error, loadError, value } = servers;
  return (
    <div className="jp-hdspSettings-servers">
      <p className="jp-hdspSettings-description jp-hdspSettings-lead">
        {trans.__(
          'MCP servers give the agent more tools, such as a database or an issue tracker.'
        )}
      </p>
      <SettingField name={MCP_KEY} scope="mcp" />
      <SectionProblem error={error ?? loadError} />
      {value && <Notes view={value} />}
      {value && <Servers view={value} servers={servers} />}
    </div>
  );
}

/**
 * What there is to know about all of them.
 */
function Notes({ view }: { view: McpServersView }): JSX.Element {
  const { trans } = useSettings();
  const { files, folderTrusted, offeredAtMost, operatorLimits, toolCount } =
    view;
  return (
    <>
      {operatorLimits && (
        <p>{trans.__('Your administrator allows only some servers.')}</p>
      )}
      {!folderTrusted && (
        <p className="jp-hdspSettings-description">
          {trans.__(
            'Servers that this folder brings are used once you trust it. Choose “Trust This Folder” in the Agent menu.'
          )}
        </p>
      )}
      {files.map(
        ({ error, path }) =>
          error && (
            <p key={path} className="jp-hdspSettings-error">
              {trans.__('%1 cannot be read: %2', path, error)}
            </p>
          )
      )}
      {toolCount > offeredAtMost && (
        <p className="jp-hdspSettings-description">
          {trans.__(
            '%1 tools are on, and the model gets %2 at a time. The agent searches for the others.',
            toolCount,
            offeredAtMost
          )}
        </p>
      )}
    </>
  );
}

function Servers({
  view,
  servers
}: {
  view: McpServersView;
  servers: McpServersData;
}): JSX.Element {
  const { trans } = useSettings();
  const [isAdding, setAdding] = React.useState(false);
  const button = React.useRef<HTMLButtonElement>(null);
  const hasAdded = React.useRef(false);
  React.useEffect(() => {
    if (!isAdding && hasAdded.current) {
      button.current?.focus();
    }
    hasAdded.current = isAdding;
  }, [isAdding]);
  return (
    <>
      {view.servers.length === 0 ? (
        <p>{trans.__('There are no servers yet.')}</p>
      ) : (
        <ul className="jp-hdspSettings-embedded">
          {view.servers.map(server => (
            <ServerItem
              key={keyOf(server)}
              server={server}
              servers={servers}
              onGone={() => button.current?.focus()}
            />
          ))}
        </ul>
      )}
      {isAdding ? (
        <AddServer servers={servers} onClose={() => setAdding(false)} />
      ) : (
        <div className="jp-hdspSettings-actions">
          <button
            ref={button}
            type="button"
            className="jp-hdspSettings-button"
            onClick={() => setAdding(true)}
          >
            {trans.__('Add a server…')}
          </button>
          <button
            type="button"
            className="jp-hdspSettings-button"
            onClick={() => void servers.readAgain()}
          >
            {trans.__('Read the files again')}
          </button>
        </div>
      )}
    </>
  );
}

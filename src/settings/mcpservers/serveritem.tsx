import * as React from 'react';

import type { McpServer } from '../../generated/wire';
import type { McpServersData } from '../data/mcpserversdata';
import { ItemAction, ItemActions } from '../sections/itemactions';
import { useSettings } from '../settingscontext';
import { stateText } from './mcpserverstexts';
import { ServerLog } from './serverlog';
import { ServerTools } from './servertools';
import { SignIn } from './signin';
import { TimeLimit } from './timelimit';

/**
 * What of a server is unfolded.
 */
type Part = 'tools' | 'log';

/**
 * One server: how it is, what it offers, and what can be done about it.
 */
export function ServerItem({
  server,
  servers,
  onGone
}: {
  server: McpServer;
  servers: McpServersData;

  /**
   * Called when it is no longer there, and the focus would be lost.
   */
  onGone: () => void;
}): JSX.Element {
  const { trans } = useSettings();
  const { address, error, name, needsApproval } = server;
  const [part, setPart] = React.useState<Part | null>(null);
  return (
    <li aria-label={name} data-server={name} data-source={server.source}>
      <Head server={server} servers={servers} />
      <p className="jp-hdspSettings-about">
        <code>{address}</code>
      </p>
      {needsApproval && (
        <p className="jp-hdspSettings-warning">
          {trans.__(
            'This folder brings the server. It runs what stands above on your machine. Turn it on only if you trust it.'
          )}
        </p>
      )}
      {error && <p className="jp-hdspSettings-error">{error}</p>}
      <Actions
        server={server}
        servers={servers}
        part={part}
        onPart={setPart}
        onGone={onGone}
      />
      {part === 'tools' && (
        <>
          <TimeLimit server={server} servers={servers} />
          <ServerTools server={server} servers={servers} />
        </>
      )}
      {part === 'log' && <ServerLog server={server} servers={servers} />}
    </li>
  );
}

function Head({
  server,
  servers
}: {
  server: McpServer;
  servers: McpServersData;
}): JSX.Element {
  const { trans } = useSettings();
  const { disabled, forbidden, name, source, unusable } = server;
  return (
    <div className="jp-hdspSettings-embeddedHead">
      {!forbidden && !unusable && (
        <input
          type="checkbox"
          role="switch"
          className="jp-hdspSettings-switch"
          aria-label={trans.__('Use the server %1', name)}
          checked={!disabled}
          onChange={event => void servers.toggle(server, !event.target.checked)}
        />
      )}
      <span className="jp-hdspSettings-label">{name}</span>
      <span className="jp-hdspSettings-badge" data-status={server.status}>
        {stateText(server, trans)}
      </span>
      {source === 'project' && (
        <span className="jp-hdspSettings-badge">
          {trans.__('From this folder')}
        </span>
      )}
    </div>
  );
}

function Actions({
  server,
  servers,
  part,
  onPart,
  onGone
}: {
  server: McpServer;
  servers: McpServersData;
  part: Part | null;
  onPart: (part: Part | null) => void;
  onGone: () => void;
}): JSX.Element {
  const { trans, dialogs, announce } = useSettings();
  const { disabled, forbidden, name, toolCount, unusable } = server;
  const isUsed = !disabled && !forbidden && !unusable;
  const remove = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Remove the server %1?', name),
      body: trans.__(
        'It is stopped and taken out of its file, and its keys are deleted. This cannot be undone.'
      ),
      accept: trans.__('Remove')
    });
    if (sure && (await servers.remove(server))) {
      onGone();
      announce(trans.__('%1 was removed.', name));
    }
  };
  const restart = async () => {
    if (await servers.restart(server)) {
      announce(trans.__('%1 was restarted.', name));
    }
  };
  const toggle = (one: Part) => onPart(part === one ? null : one);
  return (
    <ItemActions name={name}>
      {isUsed && (
        <ItemAction
          label={trans._n('%1 tool', '%1 tools', toolCount)}
          about={trans._n('%1 tool of %2', '%1 tools of %2', toolCount, name)}
          isExpanded={part === 'tools'}
          onClick={() => toggle('tools')}
        />
      )}
      <SignIn server={server} servers={servers} />
      {isUsed && (
        <ItemAction
          label={trans.__('Restart')}
          about={trans.__('Restart %1', name)}
          onClick={restart}
        />
      )}
      <ItemAction
        label={trans.__('Log')}
        about={trans.__('Log of %1', name)}
        isExpanded={part === 'log'}
        onClick={() => toggle('log')}
      />
      <ItemAction
        label={trans.__('Remove…')}
        about={trans.__('Remove… %1', name)}
        onClick={remove}
      />
    </ItemActions>
  );
}

import * as React from 'react';

import type { McpLogView } from '../../generated/rest';
import type { McpServer } from '../../generated/wire';
import { dateTimeText } from '../../ui/texts/formats';
import type { McpServersData } from '../data/mcpserversdata';
import { useSettings } from '../settingscontext';

/**
 * What a server wrote, and what was noted about it.
 */
export function ServerLog({
  server,
  servers
}: {
  server: McpServer;
  servers: McpServersData;
}): JSX.Element {
  const { trans } = useSettings();
  const { name, source, status } = server;
  const [log, setLog] = React.useState<McpLogView | null>(null);
  const read = React.useCallback(async () => {
    setLog(await servers.log({ name, source }));
  }, [servers, name, source]);
  // What it wrote last tells why it is as it is now.
  React.useEffect(() => void read(), [read, status]);
  return (
    <div className="jp-hdspSettings-serverParts">
      {log && log.dropped > 0 && (
        <p className="jp-hdspSettings-description">
          {trans._n(
            '%1 older line is left out.',
            '%1 older lines are left out.',
            log.dropped
          )}
        </p>
      )}
      {log &&
        (log.lines.length === 0 ? (
          <p>{trans.__('Nothing was written yet.')}</p>
        ) : (
          <pre
            className="jp-hdspSettings-prompt"
            tabIndex={0}
            role="group"
            aria-label={trans.__('Log of %1', name)}
          >
            {log.lines
              .map(({ ts, text }) => `${dateTimeText(ts)}  ${text}`)
              .join('\n')}
          </pre>
        ))}
      <button
        type="button"
        className="jp-hdspSettings-button"
        onClick={() => void read()}
      >
        {trans.__('Read the log again')}
      </button>
    </div>
  );
}

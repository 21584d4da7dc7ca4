import * as React from 'react';

import { isComposing } from '../../ui/inputmethod';
import type { McpServer } from '../../generated/wire';
import type { McpServersData } from '../data/mcpserversdata';
import { useSettings } from '../settingscontext';

/**
 * How long a call may take, in seconds.
 */
const SHORTEST = 1;
const LONGEST = 3600;

/**
 * How long a call of a server may take.
 */
export function TimeLimit({
  server,
  servers
}: {
  server: McpServer;
  servers: McpServersData;
}): JSX.Element {
  const { trans, announce } = useSettings();
  const { name, timeout } = server;
  const id = React.useId();
  const [typed, setTyped] = React.useState<string | null>(null);
  const wanted = Number(typed ?? timeout);
  const isWrong =
    !Number.isInteger(wanted) || wanted < SHORTEST || wanted > LONGEST;
  const commit = async () => {
    if (isWrong) {
      return;
    }
    setTyped(null);
    if (wanted !== timeout && (await servers.limit(server, wanted))) {
      announce(trans.__('Saved'));
    }
  };
  return (
    <div className="jp-hdspSettings-mode">
      <label htmlFor={id}>{trans.__('Time limit of a call (s)')}</label>
      <input
        id={id}
        type="number"
        className="jp-hdspSettings-input"
        aria-label={trans.__('Time limit of a call (s): %1', name)}
        aria-invalid={isWrong || undefined}
        aria-describedby={isWrong ? `${id}-error` : undefined}
        min={SHORTEST}
        max={LONGEST}
        value={typed ?? timeout}
        onChange={event => setTyped(event.target.value)}
        onBlur={() => void commit()}
        onKeyDown={({ key, nativeEvent }) => {
          if (key === 'Enter' && !isComposing(nativeEvent)) {
            void commit();
          }
        }}
      />
      {isWrong && (
        <span id={`${id}-error`} className="jp-hdspSettings-error" role="alert">
          {trans.__('A whole number from %1 to %2.', SHORTEST, LONGEST)}
        </span>
      )}
    </div>
  );
}

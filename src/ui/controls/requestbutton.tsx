import * as React from 'react';

import type { ChannelClient } from '../../comm/client';
import { asErrorBody, errorText } from '../../errors';
import { usePanel } from '../services';

/**
 * A button that asks the server for something. While it waits it cannot be
 * pressed again, and what went wrong is said beside it.
 */
export function RequestButton({
  label,
  title,
  request,
  className = 'jp-hdspAgent-button'
}: {
  label: string;
  title?: string;
  request: ChannelClient.Request;
  className?: string;
}): JSX.Element {
  const { client, trans } = usePanel();
  const [isWaiting, setWaiting] = React.useState(false);
  const [problem, setProblem] = React.useState<string | null>(null);
  const send = async () => {
    setWaiting(true);
    setProblem(null);
    try {
      await client.request(request);
    } catch (reason) {
      setProblem(errorText(trans, asErrorBody(reason)));
    }
    setWaiting(false);
  };
  return (
    <>
      <button
        className={className}
        title={title}
        aria-disabled={isWaiting}
        aria-busy={isWaiting}
        onClick={isWaiting ? undefined : () => void send()}
      >
        {isWaiting ? trans.__('One moment…') : label}
      </button>
      {problem && (
        <span className="jp-hdspAgent-chat-trouble" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}

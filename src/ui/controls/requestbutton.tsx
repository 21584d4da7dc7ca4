import * as React from 'react';

import type { ChannelClient } from '../../comm/client';
import { errorText } from '../../errors';
import { usePanel } from '../services';
import { useAction } from '../useaction';

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
  const { isBusy, error, run } = useAction();
  return (
    <>
      <button
        className={className}
        title={title}
        aria-disabled={isBusy}
        aria-busy={isBusy}
        onClick={() => void run(() => client.request(request))}
      >
        {isBusy ? trans.__('One moment…') : label}
      </button>
      {error && (
        <span className="jp-hdspAgent-chat-trouble" role="alert">
          {errorText(trans, error)}
        </span>
      )}
    </>
  );
}

import * as React from 'react';

import type { ClineMessage } from '../../../generated/wire';
import { pendingAsk } from '../../../state/pendingask';
import { useStore } from '../../hooks';
import { usePanel } from '../../services';

/**
 * What became of something the agent wants to do.
 */
export type AskState = 'preparing' | 'waiting' | 'done' | 'refused' | 'unknown';

/**
 * What became of what a message asks for.
 */
export function useAskState(message: ClineMessage): AskState {
  const { store } = usePanel();
  const isPending = useStore(
    store,
    store => pendingAsk(store)?.ts === message.ts
  );
  if (message.type === 'say') {
    return 'done';
  }
  if (message.partial) {
    return 'preparing';
  }
  if (message.isAnswered !== undefined) {
    return message.isAnswered ? 'done' : 'refused';
  }
  return isPending ? 'waiting' : 'unknown';
}

/**
 * The state in words, where it says something.
 */
export function AskBadge({ state }: { state: AskState }): JSX.Element | null {
  const { trans } = usePanel();
  const labels: Readonly<Partial<Record<AskState, string>>> = {
    preparing: trans.__('Preparing…'),
    waiting: trans.__('Waits for you'),
    refused: trans.__('Not done')
  };
  const label = labels[state];
  return label ? (
    <span className="jp-hdspAgent-chat-badge" data-state={state}>
      {label}
    </span>
  ) : null;
}

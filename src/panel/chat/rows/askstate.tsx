import * as React from 'react';

import type { ClineMessage } from '../../../generated/wire';
import { pendingAsk } from '../../../state/pendingask';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { plainName, VisibleText } from '../../../ui/texts/visibletext';

/**
 * What became of something the agent wants to do.
 */
export type AskState =
  | 'preparing'
  | 'waiting'
  | 'done'
  | 'denied'
  | 'failed'
  | 'refused'
  | 'unknown';

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
    return message.isAnswered && !message.failure
      ? 'done'
      : stateOfRefused(message);
  }
  return isPending ? 'waiting' : 'unknown';
}

/**
 * The state in words, where it says something.
 *
 * @param waiting - What is said while it waits, if not that it needs approval.
 */
export function AskBadge({
  state,
  waiting
}: {
  state: AskState;
  waiting?: string;
}): JSX.Element | null {
  const { trans } = usePanel();
  const labels: Readonly<Partial<Record<AskState, string>>> = {
    preparing: trans.__('Preparing…'),
    waiting: waiting ?? trans.__('Needs approval'),
    denied: trans.__('Denied'),
    failed: trans.__('Failed'),
    refused: trans.__('Not done')
  };
  const label = labels[state];
  return label ? (
    <span className="jp-hdspAgent-chat-badge" data-state={state}>
      {label}
    </span>
  ) : null;
}

/**
 * Why something failed, before anybody could be asked about it or afterwards.
 */
export function AskFailure({
  message: { failure }
}: {
  message: ClineMessage;
}): JSX.Element | null {
  return failure ? (
    <p className="jp-hdspAgent-chat-failure">
      <VisibleText text={failure.split(NEXT_SENTENCE)[0]} />
    </p>
  ) : null;
}

/**
 * Where it was answered, if that was in another agent's own window.
 */
export function AskedElsewhere({
  message: { answeredIn }
}: {
  message: ClineMessage;
}): JSX.Element | null {
  const { trans } = usePanel();
  return answeredIn ? (
    <p className="jp-hdspAgent-chat-quiet">
      {trans.__('Answered in %1', plainName(answeredIn))}
    </p>
  ) : null;
}

/**
 * What comes after the first sentence tells the model what to do about it.
 */
const NEXT_SENTENCE = /(?<=[.!?])\s+(?=\p{Lu})/u;

/**
 * Who or what it was that something was not done for; older conversations do
 * not tell.
 */
function stateOfRefused({ denied, failure }: ClineMessage): AskState {
  return denied ? 'denied' : failure ? 'failed' : 'refused';
}

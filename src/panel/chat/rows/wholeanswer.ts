import type { AgentStore } from '../../../state/store';

/**
 * What a model says in one answer.
 */
const ANSWERED: ReadonlySet<string> = new Set([
  'text',
  'reasoning',
  'tool',
  'command',
  'use_mcp_server',
  'followup',
  'completion_result'
]);

/**
 * What tells why there is no answer.
 */
const FAILURES: ReadonlySet<string> = new Set([
  'api_req_failed',
  'api_req_retry_delayed'
]);

/**
 * Whether a model has said anything when it was asked.
 *
 * @param request - The message that it was asked.
 */
export function hasAnswered(store: AgentStore, request: number): boolean {
  return ANSWERED.has(kindAt(store, store.order.indexOf(request) + 1));
}

/**
 * Whether a later message tells why there is no answer, or not all of it.
 *
 * @param request - The message that the model was asked.
 */
export function isFailureShown(store: AgentStore, request: number): boolean {
  let at = store.order.indexOf(request) + 1;
  while (ANSWERED.has(kindAt(store, at)) || kindAt(store, at) === 'error') {
    at += 1;
  }
  return FAILURES.has(kindAt(store, at));
}

/**
 * The message that the model was asked, if its answer ends with this message.
 */
export function requestBefore(store: AgentStore, ts: number): number | null {
  const last = store.order.indexOf(ts);
  if (
    !ANSWERED.has(kindAt(store, last)) ||
    ANSWERED.has(kindAt(store, last + 1))
  ) {
    return null;
  }
  let at = last - 1;
  while (ANSWERED.has(kindAt(store, at))) {
    at -= 1;
  }
  return kindAt(store, at) === 'api_req_started' ? store.order[at] : null;
}

function kindAt(store: AgentStore, index: number): string {
  const message = store.message(store.order[index]);
  if (message?.ending && message.say === 'text') {
    // Ours, about work that was stopped.
    return '';
  }
  return message?.ask ?? message?.say ?? '';
}

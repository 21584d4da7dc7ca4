import type { AgentStore } from './store';

/**
 * The name of the other program whose conversation is on screen, such as Claude
 * Code; `null` for one of our own agent.
 */
export function externalAgent({
  state
}: Pick<AgentStore, 'state'>): string | null {
  return state?.currentTaskItem?.externalAgent ?? null;
}

/**
 * Whether that program is connected, so that it hears what one writes.
 */
export function isConnected({ state }: Pick<AgentStore, 'state'>): boolean {
  switch (state?.currentTaskStatus) {
    case 'running':
    case 'interactive':
    case 'idle':
      return true;
    default:
      return false;
  }
}

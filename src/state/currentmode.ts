import type { AgentState } from './store';

/**
 * The mode of the conversation on screen, or of the one that is to begin.
 */
export function currentMode(state: AgentState | null): string | undefined {
  return state?.currentTaskItem?.mode ?? state?.settings?.mode ?? state?.mode;
}

/**
 * The profile of the conversation on screen, or of the one that is to begin.
 */
export function currentProfile(state: AgentState | null): string | undefined {
  return state?.currentTaskItem?.apiConfigName ?? state?.currentApiConfigName;
}

import type { SecretStorageStatus } from '../generated/wire';
import type { AgentState } from './store';

/**
 * What is known of the model the agent would use.
 */
export type ModelSetup =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'chosen';
      readonly profile: string;
      readonly provider: string;
      readonly model: string | null;

      /**
       * Whether the operator lets the provider be used.
       */
      readonly allowed: boolean;

      /**
       * The last characters of the keys there are for it; empty for a short key.
       */
      readonly keys: readonly string[];
    };

/**
 * The model of the current profile.
 */
export function modelSetup(state: AgentState): ModelSetup {
  const profile = state.listApiConfigMeta?.find(
    ({ name }) => name === state.currentApiConfigName
  );
  if (!profile?.apiProvider) {
    return { kind: 'none' };
  }
  const keys = (state.secretStatus?.secrets ?? []).filter(
    ({ profileId, present }) => present && profileId === profile.id
  );
  return {
    kind: 'chosen',
    profile: profile.name,
    provider: profile.apiProvider,
    model: profile.modelId ?? null,
    allowed: profile.allowed,
    keys: keys.map(({ last4 }) => last4 ?? '')
  };
}

/**
 * What hinders keys from being kept; `null` if nothing does, or nobody knows yet.
 */
export function keyTrouble(state: AgentState): SecretStorageStatus | null {
  const storage = state.secretStatus?.storage;
  return storage && !storage.available && storage.code !== 'checking'
    ? storage
    : null;
}

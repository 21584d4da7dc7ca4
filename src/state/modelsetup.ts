import type { SecretStorageStatus } from '../generated/wire';
import { PROVIDERS } from '../generated/wire';
import type { AgentState } from './store';

/**
 * What is known of the model the agent would use.
 */
export type ModelSetup =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'chosen';
      readonly profile: string;

      /**
       * What people call the provider.
       */
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

      /**
       * Whether the provider needs a key and there is none.
       */
      readonly isKeyMissing: boolean;
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
  const provider = PROVIDERS[profile.apiProvider];
  const keys = (state.secretStatus?.secrets ?? []).filter(
    ({ profileId, present }) => present && profileId === profile.id
  );
  return {
    kind: 'chosen',
    profile: profile.name,
    provider: provider?.name ?? profile.apiProvider,
    model: profile.modelId ?? null,
    allowed: profile.allowed,
    keys: keys.map(({ last4 }) => last4 ?? ''),
    isKeyMissing:
      keys.length === 0 && provider?.keyRequired === true && areKeysKnown(state)
  };
}

function areKeysKnown({ secretStatus }: AgentState): boolean {
  return secretStatus !== undefined && secretStatus.storage.code !== 'checking';
}

/**
 * What hinders keys from being kept; `null` if nothing does, or nobody knows yet.
 */
export function keyProblem(state: AgentState): SecretStorageStatus | null {
  const storage = state.secretStatus?.storage;
  return storage && !storage.available && storage.code !== 'checking'
    ? storage
    : null;
}

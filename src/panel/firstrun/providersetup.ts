import type {
  KeyCheckView,
  ProfileList,
  ProviderInfo,
  SetupCandidateView
} from '../../generated/rest';
import type { ProfileEntry } from '../../generated/wire';
import type { HistoryApi } from '../../rest/historyapi';

/**
 * Where a model is to come from.
 */
export type ModelSource =
  | { readonly kind: 'candidate'; readonly candidate: SetupCandidateView }
  | {
      readonly kind: 'profile';

      /**
       * The name of the profile that has the provider, and its key, already.
       */
      readonly profile: string;
      readonly provider: ProviderInfo;
    };

/**
 * What a person says of a provider.
 */
export interface IProviderChoice {
  readonly provider: ProviderInfo;

  /**
   * Empty where none is needed, or the one that is kept stays.
   */
  readonly key: string;

  /**
   * Empty means where the provider usually is; `null` where the operator decides
   * it.
   */
  readonly address: string | null;
}

/**
 * The providers that a key and an address are enough for. The others have
 * more to say, for which the settings have room.
 */
export function simpleProviders(
  providers: readonly ProviderInfo[]
): ProviderInfo[] {
  return providers.filter(
    ({ hidden, protocol }) =>
      !hidden &&
      (protocol === 'anthropic' ||
        protocol === 'openai-chat' ||
        protocol === 'openai-responses')
  );
}

/**
 * Whether it must be said where the provider is, as there may be many of it.
 */
export function asksAddress(provider: ProviderInfo): boolean {
  return !provider.keyRequired && provider.baseUrlField !== undefined;
}

/**
 * Try a provider with its key, before anything is kept.
 */
export function tryProvider(
  api: HistoryApi,
  { provider, key, address }: IProviderChoice
): Promise<KeyCheckView> {
  return api.checkKey({
    provider: provider.id,
    ...(key !== '' && { key }),
    // Said even if nobody was asked for it: the key goes where this form says,
    // and not where a profile happens to be.
    ...(provider.baseUrlField !== undefined &&
      address !== null && { baseUrl: address })
  });
}

/**
 * Keep a provider and its key in a profile. One that has a provider of its
 * own already stays as it is.
 */
export async function saveProvider(
  api: HistoryApi,
  { provider, key, address }: IProviderChoice
): Promise<ModelSource> {
  const profile = await profileFor(api, await api.profiles(), provider);
  // All at once: a key is kept for the address that comes with it, and one that
  // cannot be kept changes nothing.
  await api.changeProfile(profile, {
    settings: {
      apiProvider: provider.id,
      ...(provider.baseUrlField !== undefined &&
        address !== null && {
          [provider.baseUrlField]: address === '' ? null : address
        }),
      ...(key !== '' &&
        provider.keyField !== undefined && { [provider.keyField]: key })
    }
  });
  return { kind: 'profile', profile, provider };
}

/**
 * The models a source has, as far as it tells.
 */
export async function modelsOf(
  api: HistoryApi,
  source: ModelSource
): Promise<readonly string[]> {
  if (source.kind === 'candidate' && source.candidate.models.length > 0) {
    return source.candidate.models;
  }
  const provider =
    source.kind === 'candidate'
      ? source.candidate.provider
      : source.provider.id;
  const models = await api.models(
    provider,
    source.kind === 'profile' ? source.profile : null
  );
  return models.filter(({ deprecated }) => !deprecated).map(({ id }) => id);
}

/**
 * Use a model of a source from now on.
 */
export async function chooseModel(
  api: HistoryApi,
  source: ModelSource,
  model: string
): Promise<void> {
  if (source.kind === 'candidate') {
    await api.useCandidate({ id: source.candidate.id, model });
    return;
  }
  const { profile, provider } = source;
  await api.changeProfile(profile, {
    settings: { [provider.modelField]: model }
  });
  await api.activateProfile(profile);
}

async function profileFor(
  api: HistoryApi,
  { current, profiles }: ProfileList,
  provider: ProviderInfo
): Promise<string> {
  const isFree = ({ apiProvider }: ProfileEntry) =>
    apiProvider === undefined || apiProvider === provider.id;
  const mine = profiles.find(({ name }) => name === current);
  const known =
    mine && isFree(mine)
      ? mine
      : profiles.find(({ apiProvider }) => apiProvider === provider.id);
  if (known !== undefined) {
    return known.name;
  }
  const taken = new Set(profiles.map(({ name }) => name));
  let name = provider.name;
  for (let number = 2; taken.has(name); number++) {
    name = `${provider.name} ${number}`;
  }
  return (await api.createProfile(name)).name;
}

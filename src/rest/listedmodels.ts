import type { ServerConnection } from '@jupyterlab/services';

import type { ModelEntry } from '../generated/rest';

/**
 * The models a provider lists.
 */
export type ListedModels = readonly ModelEntry[];

/**
 * Whose models are wanted.
 */
export interface IModelSource {
  readonly provider: string;

  /**
   * The profile whose key and address the provider is asked with.
   */
  readonly profile: string;
}

/**
 * What the provider said when it was asked last in the life of this page;
 * `null` if it was not.
 */
export function knownModels(
  settings: ServerConnection.ISettings,
  source: IModelSource
): ListedModels | null {
  return Private.entryOf(settings, source).known;
}

/**
 * Ask a provider for its models. Who asks meanwhile gets the same answer.
 */
export function askForModels(
  settings: ServerConnection.ISettings,
  { provider, profile }: IModelSource
): Promise<ListedModels> {
  const entry = Private.entryOf(settings, { provider, profile });
  const ask = async () => {
    try {
      const { SettingsApi } = await import('./settingsapi');
      entry.known = await new SettingsApi(settings).models(provider, profile);
      return entry.known;
    } finally {
      entry.pending = null;
    }
  };
  entry.pending ??= ask();
  return entry.pending;
}

/**
 * A namespace for private data.
 */
namespace Private {
  interface IEntry {
    known: ListedModels | null;
    pending: Promise<ListedModels> | null;
  }

  const entries = new WeakMap<object, Map<string, IEntry>>();

  export function entryOf(
    settings: ServerConnection.ISettings,
    { provider, profile }: IModelSource
  ): IEntry {
    const all = entries.get(settings) ?? new Map<string, IEntry>();
    entries.set(settings, all);
    const key = JSON.stringify([provider, profile]);
    const entry = all.get(key) ?? { known: null, pending: null };
    all.set(key, entry);
    return entry;
  }
}

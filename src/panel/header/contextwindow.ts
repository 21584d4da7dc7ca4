import * as React from 'react';

import type { IModelSource } from '../../rest/listedmodels';
import { askForModels, knownModels } from '../../rest/listedmodels';
import type { AgentState } from '../../state/store';
import { useStore } from '../../ui/hooks';
import type { IPanelServices } from '../../ui/services';
import { usePanel } from '../../ui/services';

/**
 * How much the model of a conversation can take in.
 */
export interface IContextWindow {
  /**
   * The tokens of its window; `null` if nobody knows.
   */
  readonly window: number | null;

  /**
   * How many of them are kept free for the answer; `null` if nobody knows.
   */
  readonly reserved: number | null;

  /**
   * At how many the conversation is condensed; `null` if it is not, or nobody knows.
   */
  readonly condenseAt: number | null;
}

/**
 * The room of the model that the profile of this name uses.
 */
export function useContextWindow(
  profileName: string | undefined
): IContextWindow {
  const services = usePanel();
  const { store } = services;
  const known = useStore(store, ({ state }) => state);
  const name = profileName ?? known?.currentApiConfigName;
  const profile = known?.listApiConfigMeta?.find(one => one.name === name);
  const own = ownWindow(known, name);
  const provider = profile?.apiProvider;
  const profileId = profile?.id;
  const modelId = profile?.modelId;
  const [listed, setListed] = React.useState<number | null>(null);
  // The server says it once the model was asked.
  const isAsked =
    known !== null && own.window === null && !known.modelRoom?.contextWindow;
  React.useEffect(() => {
    setListed(null);
    if (
      !isAsked ||
      provider === undefined ||
      profileId === undefined ||
      modelId === undefined
    ) {
      return;
    }
    let isWanted = true;
    const source = { provider, profile: profileId };
    void listedWindow(services, source, modelId).then(window => {
      if (isWanted) {
        setListed(window);
      }
    });
    return () => {
      isWanted = false;
    };
  }, [services, isAsked, provider, profileId, modelId]);
  const told = known?.modelRoom;
  return {
    window: told?.contextWindow ?? own.window ?? listed,
    reserved: told?.reserved ?? told?.maxOutput ?? own.reserved,
    condenseAt: told?.condenseAt ?? null
  };
}

/**
 * What a person set for the current profile; those of others the page does not have.
 */
function ownWindow(
  state: AgentState | null,
  name: string | undefined
): IContextWindow {
  const isCurrent = name === state?.currentApiConfigName;
  const settings = isCurrent ? state?.apiConfiguration : undefined;
  return {
    window: settings?.modelContextWindow ?? null,
    reserved: settings?.modelMaxTokens ?? null,
    condenseAt: null
  };
}

/**
 * The window of a model as the provider's list has it.
 */
async function listedWindow(
  { serverSettings }: IPanelServices,
  source: IModelSource,
  modelId: string
): Promise<number | null> {
  try {
    const models =
      knownModels(serverSettings, source) ??
      (await askForModels(serverSettings, source));
    return models.find(({ id }) => id === modelId)?.contextWindow ?? null;
  } catch {
    // The meter does without it, and another conversation asks again.
    return null;
  }
}

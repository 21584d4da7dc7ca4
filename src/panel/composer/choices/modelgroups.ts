import type { TranslationBundle } from '@jupyterlab/translation';

import type { ListedModels } from '../../../rest/listedmodels';
import type { IRecentModel } from '../../../state/recentmodels';
import type { AgentState } from '../../../state/store';
import type { IChoice, IChoiceGroup } from '../../../ui/controls/choicelist';
import type { ModelFigures } from '../../../ui/texts/modeltexts';
import { fullFigures, shortFigures } from '../../../ui/texts/modeltexts';
import { providerName } from '../../../ui/texts/providernames';

/**
 * A profile as the panel knows it.
 */
export type Profile = NonNullable<AgentState['listApiConfigMeta']>[number];

/**
 * A model that can be chosen.
 */
export interface IModelChoice extends IChoice {
  /**
   * The profile it is used with.
   */
  readonly profile: Profile;

  /**
   * Its id; `null` is the one the profile has.
   */
  readonly model: string | null;
}

/**
 * What there is to choose from.
 */
export interface IModelOffer {
  readonly profiles: readonly Profile[];

  /**
   * The profile that is used now.
   */
  readonly current: Profile | undefined;

  /**
   * The models its provider lists.
   */
  readonly listed: ListedModels;

  /**
   * What a person says of the current model, which goes before what is listed.
   */
  readonly own: ModelFigures;

  /**
   * The models used last, newest first.
   */
  readonly recent: readonly IRecentModel[];

  /**
   * What is searched for; empty if nothing is.
   */
  readonly query: string;
}

/**
 * How many models of a provider are shown at most; a search finds the others.
 */
const MOST_LISTED = 100;

/**
 * The models used last, those of the current provider, and the other profiles,
 * as far as they match the search.
 *
 * @returns The groups that have something in them, and how many models are not
 * shown.
 */
export function modelGroups(
  trans: TranslationBundle,
  offer: IModelOffer
): { groups: IChoiceGroup<IModelChoice>[]; hiddenCount: number } {
  const matches = Private.matcher(offer.query);
  const models = Private.ofProvider(trans, offer).filter(matches);
  const groups: IChoiceGroup<Private.IFound>[] = [
    {
      label: trans.__('Recent'),
      choices: Private.recent(trans, offer).filter(matches)
    },
    {
      label: Private.providerLabel(trans, offer),
      choices: models.slice(0, MOST_LISTED)
    },
    {
      label: trans.__('Other profiles'),
      choices: Private.others(trans, offer).filter(matches)
    },
    { label: trans.__('Other model'), choices: Private.typed(trans, offer) }
  ];
  return {
    groups: groups.filter(({ choices }) => choices.length > 0),
    hiddenCount: Math.max(0, models.length - MOST_LISTED)
  };
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * A choice with the words it is found by.
   */
  export interface IFound extends IModelChoice {
    readonly words: string;
  }

  export function matcher(query: string): (found: IFound) => boolean {
    const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
    return ({ words }) =>
      parts.every(part => words.toLowerCase().includes(part));
  }

  export function providerLabel(
    trans: TranslationBundle,
    { current, profiles }: IModelOffer
  ): string {
    const name = nameOf(trans, current);
    return current && profiles.length > 1
      ? trans.__('%1 (profile %2)', name, current.name)
      : name;
  }

  export function recent(
    trans: TranslationBundle,
    offer: IModelOffer
  ): IFound[] {
    const { current, listed, profiles, recent } = offer;
    return recent.flatMap(({ profile: id, provider, model }) => {
      const profile = profiles.find(one => one.id === id);
      const isCurrent = profile !== undefined && id === current?.id;
      if (
        !profile?.allowed ||
        // A model of one provider is none of another.
        profile.apiProvider !== provider ||
        (isCurrent && model === profile.modelId)
      ) {
        return [];
      }
      const known = isCurrent && listed.find(one => one.id === model);
      return [
        {
          key: `recent:${id}:${model}`,
          label: model,
          detail: known
            ? shortFigures(trans, known)
            : isCurrent
              ? nameOf(trans, profile)
              : profile.name,
          ...(known && { hint: fullFigures(trans, known) }),
          isChosen: false,
          isEnabled: true,
          profile,
          model,
          words: `${model} ${profile.name} ${nameOf(trans, profile)}`
        }
      ];
    });
  }

  export function ofProvider(
    trans: TranslationBundle,
    { current, listed, own }: IModelOffer
  ): IFound[] {
    if (current?.apiProvider === undefined) {
      return [];
    }
    const { modelId } = current;
    const isListed = listed.some(({ id }) => id === modelId);
    const unlisted =
      modelId === undefined || isListed
        ? []
        : [{ id: modelId, name: undefined }];
    return [...unlisted, ...listed].map(model => {
      const isChosen = model.id === modelId;
      const figures = { ...model, ...(isChosen && own) };
      const name = model.name ?? '';
      return {
        key: `model:${model.id}`,
        label: model.id,
        detail: shortFigures(trans, figures),
        hint: [name, fullFigures(trans, figures)].filter(Boolean).join('. '),
        isChosen,
        isEnabled: current.allowed,
        profile: current,
        model: model.id,
        words: `${model.id} ${name}`
      };
    });
  }

  export function others(
    trans: TranslationBundle,
    { current, profiles }: IModelOffer
  ): IFound[] {
    const rest = profiles.filter(({ id }) => id !== current?.id);
    const ordered = [
      ...rest.filter(({ pinned }) => pinned),
      ...rest.filter(({ pinned }) => !pinned)
    ];
    return ordered.map(profile => ({
      key: `profile:${profile.id}`,
      label: profile.name,
      detail: profile.modelId ?? nameOf(trans, profile),
      hint: profile.allowed
        ? nameOf(trans, profile)
        : trans.__('Provider not allowed by your administrator'),
      isChosen: false,
      isEnabled: profile.allowed,
      profile,
      model: null,
      words: `${profile.name} ${profile.modelId ?? ''} ${nameOf(trans, profile)}`
    }));
  }

  /**
   * A model that nobody lists, by its id.
   */
  export function typed(
    trans: TranslationBundle,
    { current, listed, query }: IModelOffer
  ): IFound[] {
    const model = query.trim();
    if (
      model === '' ||
      !current?.allowed ||
      current.apiProvider === undefined ||
      // An embedded model is one that is there.
      current.apiProvider === 'local' ||
      [current.modelId, ...listed.map(({ id }) => id)].includes(model)
    ) {
      return [];
    }
    return [
      {
        key: 'typed',
        label: trans.__('Use “%1”', model),
        detail: trans.__('Model ID'),
        isChosen: false,
        isEnabled: true,
        profile: current,
        model,
        words: model
      }
    ];
  }

  function nameOf(
    trans: TranslationBundle,
    profile: Profile | undefined
  ): string {
    const id = profile?.apiProvider;
    return id === undefined ? '' : providerName(id, trans);
  }
}

import * as React from 'react';

import type { ChannelClient } from '../../../comm/client';
import { asErrorBody } from '../../../errors';
import type { ErrorBody } from '../../../generated/wire';
import { PROVIDERS } from '../../../generated/wire';
import type { ListedModels } from '../../../rest/listedmodels';
import { askForModels, knownModels } from '../../../rest/listedmodels';
import { SettingsApi } from '../../../rest/settingsapi';
import { currentProfile } from '../../../state/currentmode';
import { RecentModels, browserStorage } from '../../../state/recentmodels';
import {
  ChoiceList,
  choiceId,
  useChoiceKeys
} from '../../../ui/controls/choicelist';
import { ProblemNote } from '../../../ui/controls/problemnote';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import type { ModelFigures } from '../../../ui/texts/modeltexts';
import { useAnswer } from '../../../ui/useanswer';
import type { IModelChoice, Profile } from './modelgroups';
import { modelGroups } from './modelgroups';

const NO_PROFILES: readonly Profile[] = [];

/**
 * The models one can choose from, with a search, and what else there is to say
 * about the choice.
 */
export default function ModelChoices({
  close,
  onFailed
}: {
  readonly close: () => void;
  readonly onFailed: (error: ErrorBody) => void;
}): JSX.Element {
  const { store, trans } = usePanel();
  const profiles =
    useStore(store, ({ state }) => state?.listApiConfigMeta) ?? NO_PROFILES;
  const name = useStore(store, ({ state }) => currentProfile(state));
  const current = profiles.find(one => one.name === name);
  const { listed, error, isLoading } = useListed(current);
  const own = useOwnFigures(name);
  const [query, setQuery] = React.useState('');
  const { choose, recent } = useModelChange(current, onFailed);
  const { groups, hiddenCount } = React.useMemo(
    () => modelGroups(trans, { profiles, current, listed, own, recent, query }),
    [trans, profiles, current, listed, own, recent, query]
  );
  const chosen = groups
    .flatMap(({ choices }) => choices)
    .find(({ isChosen }) => isChosen);
  const first = groups.at(0)?.choices.find(({ isEnabled }) => isEnabled);
  const take = (choice: IModelChoice) => {
    close();
    void choose(choice);
  };
  const keys = useChoiceKeys(
    groups,
    (query === '' ? chosen : first)?.key ?? null,
    take
  );
  const id = React.useId();
  const search = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => search.current?.focus(), []);
  return (
    <div className="jp-hdspAgent-modelChoices">
      <input
        ref={search}
        type="search"
        className="jp-hdspAgent-input"
        role="combobox"
        aria-label={trans.__('Search models')}
        aria-autocomplete="list"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={choiceId(id, keys.activeKey)}
        autoComplete="off"
        spellCheck={false}
        placeholder={trans.__('Search models')}
        value={query}
        onChange={event => {
          setQuery(event.currentTarget.value);
          keys.setActive(null);
        }}
        onKeyDown={keys.onKeyDown}
      />
      <ChoiceList
        id={id}
        label={trans.__('Models')}
        groups={groups}
        activeKey={keys.activeKey}
        onChoose={take}
      />
      <div role="status" className="jp-hdspAgent-hint">
        {isLoading
          ? trans.__('Loading models…')
          : groups.length === 0
            ? trans.__('No model found.')
            : hiddenCount > 0
              ? trans._n(
                  '%1 more model. Type to find it.',
                  '%1 more models. Type to find them.',
                  hiddenCount
                )
              : ''}
      </div>
      {/* An id can be typed where the list does not come. */}
      <ProblemNote error={error} />
      <ChoiceSettings profiles={profiles} close={close} onFailed={onFailed} />
    </div>
  );
}

/**
 * Whether the model is for every mode, which profiles come first, and the way to
 * the settings.
 */
function ChoiceSettings({
  profiles,
  close,
  onFailed
}: {
  readonly profiles: readonly Profile[];
  readonly close: () => void;
  readonly onFailed: (error: ErrorBody) => void;
}): JSX.Element {
  const { client, openSettings, store, trans } = usePanel();
  const isLocked = useStore(
    store,
    ({ state }) => state?.lockApiConfigAcrossModes ?? false
  );
  const ask = (request: ChannelClient.Request) =>
    void client
      .request(request)
      .catch((reason: unknown) => onFailed(asErrorBody(reason)));
  return (
    <div className="jp-hdspAgent-modelChoices-settings">
      <label>
        <input
          type="checkbox"
          checked={isLocked}
          onChange={() =>
            ask({ type: 'lockApiConfigAcrossModes', bool: !isLocked })
          }
        />
        {trans.__('Use this model in every mode')}
      </label>
      {profiles.length > 1 && (
        <details>
          <summary>{trans.__('Pin profiles to the top')}</summary>
          {profiles.map(({ id, name, pinned }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={pinned}
                onChange={() => ask({ type: 'toggleApiConfigPin', text: id })}
              />
              <span dir="auto">{name}</span>
            </label>
          ))}
        </details>
      )}
      <button
        type="button"
        className="jp-hdspAgent-link"
        onClick={() => {
          close();
          openSettings('models');
        }}
      >
        {trans.__('Set up models…')}
      </button>
    </div>
  );
}

/**
 * The models the provider of a profile lists: at once those it listed before.
 */
function useListed(profile: Profile | undefined): {
  listed: ListedModels;
  error: ErrorBody | null;
  isLoading: boolean;
} {
  const { serverSettings } = usePanel();
  const { id, apiProvider } = profile ?? {};
  const source = React.useMemo(
    () =>
      id !== undefined && apiProvider !== undefined
        ? { profile: id, provider: apiProvider }
        : null,
    [id, apiProvider]
  );
  const ask = React.useMemo(
    () => source && (() => askForModels(serverSettings, source)),
    [serverSettings, source]
  );
  const { answer, error } = useAnswer(ask);
  const known =
    answer ?? (source === null ? null : knownModels(serverSettings, source));
  return {
    listed: known ?? NO_MODELS,
    error,
    isLoading: source !== null && known === null && error === null
  };
}

const NO_MODELS: ListedModels = [];

/**
 * What a person set for the current profile's model; the page does not have that
 * of others.
 */
function useOwnFigures(profile: string | undefined): ModelFigures {
  const { store } = usePanel();
  const settings = useStore(store, ({ state }) =>
    state?.currentApiConfigName === profile
      ? state?.apiConfiguration
      : undefined
  );
  return React.useMemo(() => {
    const { modelContextWindow, modelInputPrice, modelOutputPrice } =
      settings ?? {};
    return {
      ...(modelContextWindow !== undefined && {
        contextWindow: modelContextWindow
      }),
      ...(modelInputPrice !== undefined && { inputPrice: modelInputPrice }),
      ...(modelOutputPrice !== undefined && { outputPrice: modelOutputPrice })
    };
  }, [settings]);
}

/**
 * What makes a model the one that answers, and those that were before.
 */
function useModelChange(
  current: Profile | undefined,
  onFailed: (error: ErrorBody) => void
): {
  choose: (choice: IModelChoice) => Promise<void>;
  recent: ReturnType<RecentModels['list']>;
} {
  const { client, serverSettings } = usePanel();
  const memory = React.useMemo(
    () =>
      new RecentModels({
        storage: browserStorage(window),
        key: `hdsp-agent:recent-models:${serverSettings.baseUrl}`
      }),
    [serverSettings]
  );
  const recent = React.useMemo(() => memory.list(), [memory]);
  const remember = (
    profile: Profile | undefined,
    model: string | undefined
  ) => {
    if (profile?.apiProvider !== undefined && model !== undefined) {
      const { id, apiProvider: provider } = profile;
      memory.add({ profile: id, provider, model });
    }
  };
  const choose = async ({ profile, model }: IModelChoice) => {
    // Before the server answers: the list may be opened again by then.
    remember(current, current?.modelId);
    try {
      const { apiProvider, id, modelId, name } = profile;
      if (model !== null && model !== modelId && apiProvider !== undefined) {
        await new SettingsApi(serverSettings).changeProfile(name, {
          settings: {
            [PROVIDERS[apiProvider]?.modelField ?? 'apiModelId']: model,
            // A file of one's own goes before the model that is named.
            ...(apiProvider === 'local' && { localModelPath: null })
          }
        });
      }
      if (id !== current?.id) {
        await client.request({ type: 'loadApiConfiguration', text: name });
      }
      remember(profile, model ?? modelId);
    } catch (reason) {
      onFailed(asErrorBody(reason));
    }
  };
  return { choose, recent };
}

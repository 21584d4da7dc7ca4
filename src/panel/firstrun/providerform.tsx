import * as React from 'react';

import type { KeyCheckView, ProviderInfo } from '../../generated/rest';
import { keyProblem } from '../../state/modelsetup';
import { ProblemNote } from '../../ui/controls/problemnote';
import { Select } from '../../ui/controls/select';
import { useStore } from '../../ui/hooks';
import { useAction } from '../../ui/useaction';
import { HistoryApi } from '../../rest/historyapi';
import { usePanel } from '../../ui/services';
import { providerName } from '../../ui/texts/providernames';
import { KeyNote } from './keynote';
import type { KeyPlace } from './keystorage';
import { KeyStorage } from './keystorage';
import type { ModelSource } from './providersetup';
import {
  asksAddress,
  saveProvider,
  simpleProviders,
  tryProvider
} from './providersetup';

/**
 * A provider, its key, and where it is.
 */
export function ProviderForm({
  suggested,
  onBusy,
  onDone
}: {
  /**
   * The provider to begin with.
   */
  suggested: string | null;
  onBusy: (isBusy: boolean) => void;
  onDone: (source: ModelSource) => void;
}): JSX.Element {
  const { serverSettings, store, trans } = usePanel();
  const trouble = useStore(store, ({ state }) => state && keyProblem(state));
  const loading = useAction();
  const { run } = loading;
  const [providers, setProviders] = React.useState<readonly ProviderInfo[]>([]);
  const [fixed, setFixed] = React.useState<readonly string[]>([]);
  const [chosen, setChosen] = React.useState('');
  const [key, setKey] = React.useState('');
  const [address, setAddress] = React.useState('');
  const [check, setCheck] = React.useState<KeyCheckView | null>(null);
  // What is saved nowhere needs nobody's consent.
  const [place, setPlace] = React.useState<KeyPlace>('memory');
  const saving = useAction();
  const load = React.useCallback(
    () =>
      void run(async () => {
        const api = new HistoryApi(serverSettings);
        const [schema, settings] = await Promise.all([
          api.schema(),
          api.settings()
        ]);
        setFixed(settings.fixed);
        const simple = simpleProviders(schema.providers);
        setProviders(simple);
        if (simple.some(({ id }) => id === suggested)) {
          setChosen(suggested ?? '');
        }
      }),
    [run, serverSettings, suggested]
  );
  React.useEffect(() => load(), [load]);
  const provider = providers.find(({ id }) => id === chosen);
  const isAddressFixed =
    provider?.baseUrlField !== undefined &&
    fixed.includes(provider.baseUrlField);
  const isAddressAsked =
    provider !== undefined && asksAddress(provider) && !isAddressFixed;
  const asksPlace =
    provider?.keyField !== undefined &&
    (provider.keyRequired || key.trim() !== '');

  const save = async (isTried: boolean) => {
    if (provider === undefined) {
      return;
    }
    onBusy(true);
    setCheck(null);
    const api = new HistoryApi(serverSettings);
    const choice = {
      provider,
      // Nobody sees what an input that is not shown holds.
      key: provider.keyField === undefined ? '' : key.trim(),
      address: isAddressFixed ? null : isAddressAsked ? address.trim() : ''
    };
    await saving.run(async () => {
      const tried = isTried ? null : await tryProvider(api, choice);
      if (tried?.verdict === 'refused' || tried?.verdict === 'unreachable') {
        setCheck(tried);
        return;
      }
      if (trouble !== null && asksPlace) {
        await api.useStorage(place);
      }
      onDone(await saveProvider(api, choice));
    });
  };
  // What was tried is not what is written any more.
  const forgetCheck = () => {
    setCheck(null);
    saving.clear();
  };
  // A key was typed for one provider at one address, and goes to no other.
  const forgetKey = () => {
    setKey('');
    forgetCheck();
  };
  const actions = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (check !== null) {
      // What was said and what can be done may be out of sight. Not every
      // environment lays anything out.
      actions.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [check]);
  if (loading.error !== null) {
    return (
      <>
        <ProblemNote error={loading.error} />
        <button type="button" className="jp-hdspAgent-button" onClick={load}>
          {trans.__('Try again')}
        </button>
      </>
    );
  }
  return (
    <form
      className="jp-hdspAgent-setup-form"
      autoComplete="off"
      onSubmit={event => {
        event.preventDefault();
        void save(false);
      }}
    >
      <label>
        {trans.__('Provider')}
        <Select
          required
          value={chosen}
          disabled={loading.isBusy}
          onChange={event => {
            setChosen(event.currentTarget.value);
            setAddress('');
            forgetKey();
          }}
        >
          <option value="">{trans.__('Choose a provider')}</option>
          {providers.map(({ id }) => (
            <option key={id} value={id}>
              {providerName(id, trans)}
            </option>
          ))}
        </Select>
      </label>
      {isAddressAsked && (
        <label>
          {trans.__('Address')}
          <input
            type="url"
            className="jp-hdspAgent-input"
            required={provider.defaultBaseUrl === undefined}
            placeholder={provider.defaultBaseUrl}
            value={address}
            onChange={event => {
              setAddress(event.currentTarget.value);
              forgetKey();
            }}
          />
        </label>
      )}
      {provider?.keyField !== undefined && (
        <label>
          {provider.keyRequired
            ? trans.__('Key')
            : trans.__('Key (if it needs one)')}
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            className="jp-hdspAgent-input"
            required={provider.keyRequired}
            value={key}
            onChange={event => {
              setKey(event.currentTarget.value);
              forgetCheck();
            }}
          />
        </label>
      )}
      {trouble !== null && asksPlace && (
        <KeyStorage
          trouble={trouble}
          place={place}
          onChange={next => {
            setPlace(next);
            saving.clear();
          }}
        />
      )}
      <ProblemNote error={saving.error} />
      <KeyNote
        check={check}
        provider={provider ? providerName(provider.id, trans) : ''}
        tried={{ kind: key.trim() === '' ? 'none' : 'typed' }}
      />
      <div ref={actions} className="jp-hdspAgent-actions">
        <button
          type="submit"
          className="jp-hdspAgent-button jp-mod-accept"
          disabled={saving.isBusy}
        >
          {saving.isBusy
            ? trans.__('Checking…')
            : check === null
              ? trans.__('Next')
              : trans.__('Try again')}
        </button>
        {check?.verdict === 'unreachable' && (
          <button
            type="button"
            className="jp-hdspAgent-button"
            disabled={saving.isBusy}
            onClick={() => void save(true)}
          >
            {trans.__('Save anyway')}
          </button>
        )}
      </div>
    </form>
  );
}

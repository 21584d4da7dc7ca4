import * as React from 'react';

import type { ProviderInfo } from '../../generated/rest';
import { Problem } from '../header/problem';
import { useAction } from '../header/useaction';
import { PanelApi } from '../history/api';
import { usePanel } from '../services';
import type { ModelSource } from './steps';
import { asksAddress, saveProvider, simpleProviders } from './steps';

/**
 * A provider, its key, and where it is.
 */
export function ProviderForm({
  onBusy,
  onDone
}: {
  onBusy: (isBusy: boolean) => void;
  onDone: (source: ModelSource) => void;
}): JSX.Element {
  const { serverSettings, trans } = usePanel();
  const loading = useAction();
  const { run } = loading;
  const [providers, setProviders] = React.useState<readonly ProviderInfo[]>([]);
  const [chosen, setChosen] = React.useState('');
  const [key, setKey] = React.useState('');
  const [address, setAddress] = React.useState('');
  const saving = useAction();
  const load = React.useCallback(
    () =>
      void run(async () => {
        const schema = await new PanelApi(serverSettings).schema();
        setProviders(simpleProviders(schema.providers));
      }),
    [run, serverSettings]
  );
  React.useEffect(() => load(), [load]);
  const provider = providers.find(({ id }) => id === chosen);

  const save = async () => {
    if (provider === undefined) {
      return;
    }
    onBusy(true);
    const api = new PanelApi(serverSettings);
    const choice = { provider, key: key.trim(), address: address.trim() };
    await saving.run(async () => onDone(await saveProvider(api, choice)));
  };
  if (loading.error !== null) {
    return (
      <>
        <Problem error={loading.error} />
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
        void save();
      }}
    >
      <label>
        {trans.__('Provider')}
        <select
          required
          className="jp-hdspAgent-select"
          value={chosen}
          disabled={loading.isBusy}
          onChange={event => setChosen(event.currentTarget.value)}
        >
          <option value="">{trans.__('Choose a provider')}</option>
          {providers.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {provider !== undefined && asksAddress(provider) && (
        <label>
          {trans.__('Address')}
          <input
            type="url"
            className="jp-hdspAgent-input"
            required={provider.defaultBaseUrl === undefined}
            placeholder={provider.defaultBaseUrl}
            value={address}
            onChange={event => setAddress(event.currentTarget.value)}
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
            onChange={event => setKey(event.currentTarget.value)}
          />
        </label>
      )}
      <Problem error={saving.error} />
      <button
        type="submit"
        className="jp-hdspAgent-button jp-mod-accept"
        disabled={saving.isBusy}
      >
        {saving.isBusy ? trans.__('Saving…') : trans.__('Next')}
      </button>
    </form>
  );
}

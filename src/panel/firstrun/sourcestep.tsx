import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { SetupCandidates, SetupCandidateView } from '../../generated/rest';
import { PROVIDERS } from '../../generated/wire';
import { Problem } from '../header/problem';
import { useAction } from '../header/useaction';
import { PanelApi } from '../history/api';
import { usePanel } from '../services';
import { ProviderForm } from './providerform';
import type { ModelSource } from './steps';

/**
 * The first step: what was found, or a provider with a key.
 */
export function SourceStep({
  onBusy,
  onDone
}: {
  onBusy: (isBusy: boolean) => void;
  onDone: (source: ModelSource) => void;
}): JSX.Element {
  const { serverSettings, trans } = usePanel();
  const [found, setFound] = React.useState<SetupCandidates | null>(null);
  const [isOther, setOther] = React.useState(false);
  const { run, error, isBusy } = useAction();
  const look = React.useCallback(
    () =>
      void run(async () =>
        setFound(await new PanelApi(serverSettings).setupCandidates())
      ),
    [run, serverSettings]
  );
  React.useEffect(() => look(), [look]);
  const isNothing = found !== null && found.candidates.length === 0;
  return (
    <>
      <p>
        {trans.__(
          'The agent needs a language model: one of a provider for which you have a key, or one that runs on this machine.'
        )}
      </p>
      <h4>{trans.__('Step 1 of 2: where the model comes from')}</h4>
      <div role="status">
        {isBusy && (
          <p>
            {trans.__('Looking for keys and model servers on this machine…')}
          </p>
        )}
        {isNothing && (
          <p>
            {trans.__('No key and no model server was found on this machine.')}
          </p>
        )}
      </div>
      <Problem error={error} />
      {found !== null && (
        <ul className="jp-hdspAgent-setup-found">
          {found.candidates.map(candidate => (
            <li key={candidate.id}>
              <button
                type="button"
                className="jp-hdspAgent-button jp-mod-accept"
                onClick={() => {
                  onBusy(true);
                  onDone({ kind: 'candidate', candidate });
                }}
              >
                {trans.__('Use %1', candidate.name)}
              </button>
              <span>{originText(candidate, trans)}</span>
            </li>
          ))}
        </ul>
      )}
      {found !== null && found.refused.length > 0 && (
        <p>
          {trans.__(
            'Found too, but not allowed on this server: %1.',
            found.refused.map(id => PROVIDERS[id]?.name ?? id).join(', ')
          )}
        </p>
      )}
      {!isBusy && (
        <button type="button" className="jp-hdspAgent-link" onClick={look}>
          {trans.__('Look again')}
        </button>
      )}
      {isOther || isNothing || error !== null ? (
        <ProviderForm onBusy={onBusy} onDone={onDone} />
      ) : (
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => setOther(true)}
        >
          {trans.__('Use another provider…')}
        </button>
      )}
    </>
  );
}

/**
 * Where a candidate was found.
 */
function originText(
  candidate: SetupCandidateView,
  trans: TranslationBundle
): string {
  switch (candidate.kind) {
    case 'environment':
      return trans.__(
        'with the key in the environment variable %1',
        candidate.variable ?? ''
      );
    case 'operator':
      return trans.__('with the key of whoever runs this server');
    case 'local':
      return trans._n(
        'on this machine, with %1 model',
        'on this machine, with %1 models',
        candidate.models.length
      );
  }
}

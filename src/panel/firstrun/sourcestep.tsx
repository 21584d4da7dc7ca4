import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type {
  LocalModelList,
  SetupCandidates,
  SetupCandidateView
} from '../../generated/rest';
import { errorText } from '../../errors';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { HistoryApi } from '../../rest/historyapi';
import { usePanel } from '../../ui/services';
import { listText } from '../../ui/texts/listtext';
import { providerName } from '../../ui/texts/providernames';
import { abilityText, bytesText } from '../localmodel/localmodeltexts';
import { ProviderForm } from './providerform';
import type { ModelSource } from './providersetup';

/**
 * The first step: what was found, the embedded model, or a provider with a key.
 */
export function SourceStep({
  heading,
  keyOf,
  onBusy,
  onDone
}: {
  /**
   * Where whoever hears the page goes on.
   */
  readonly heading: React.RefObject<HTMLHeadingElement>;

  /**
   * The provider of which nothing but the key is missing.
   */
  readonly keyOf: string | null;
  readonly onBusy: (isBusy: boolean) => void;
  readonly onDone: (source: ModelSource | 'embedded') => void;
}): JSX.Element {
  const { serverSettings, trans } = usePanel();
  const [found, setFound] = React.useState<SetupCandidates | null>(null);
  const [local, setLocal] = React.useState<LocalModelList | null>(null);
  const [isOther, setOther] = React.useState(false);
  const { run, error, isBusy } = useAction();
  const look = React.useCallback(
    () =>
      void run(async () => {
        const api = new HistoryApi(serverSettings);
        // Each is shown though the other cannot be had.
        await Promise.all([
          api.setupCandidates().then(setFound),
          api.localModels().then(setLocal)
        ]);
      }),
    [run, serverSettings]
  );
  React.useEffect(() => look(), [look]);
  const isNothing = found !== null && found.candidates.length === 0;
  const form = (
    <ProviderForm suggested={keyOf} onBusy={onBusy} onDone={onDone} />
  );
  return (
    <>
      <p>
        {trans.__(
          'The agent needs a language model: from a provider for which you have a key, or one that runs on this machine.'
        )}
      </p>
      <h4 ref={heading} tabIndex={-1}>
        {trans.__('1 of 2: Choose a provider')}
      </h4>
      {keyOf !== null && form}
      <div role="status">
        {isBusy && (
          <p>
            {trans.__('Looking for keys and model servers on this machine…')}
          </p>
        )}
        {isNothing && (
          <p>{trans.__('No key or model server was found on this machine.')}</p>
        )}
      </div>
      <ProblemNote error={error} />
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
          {local !== null && (
            <EmbeddedOffer
              list={local}
              isOnly={isNothing}
              onChoose={() => {
                onBusy(true);
                onDone('embedded');
              }}
            />
          )}
        </ul>
      )}
      {found !== null && found.refused.length > 0 && (
        <p>
          {trans.__(
            'Also found, but not allowed on this server: %1.',
            listText(
              found.refused.map(id => providerName(id, trans)),
              trans
            )
          )}
        </p>
      )}
      {!isBusy && (
        <button type="button" className="jp-hdspAgent-link" onClick={look}>
          {trans.__('Look again')}
        </button>
      )}
      {keyOf === null &&
        (isOther || isNothing || error !== null ? (
          form
        ) : (
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={() => setOther(true)}
          >
            {trans.__('Use another provider…')}
          </button>
        ))}
    </>
  );
}

/**
 * The embedded model among the places a model can come from; nothing where the
 * operator does not want it.
 */
function EmbeddedOffer({
  list,
  isOnly,
  onChoose
}: {
  list: LocalModelList;

  /**
   * Whether nothing better was found.
   */
  isOnly: boolean;
  onChoose: () => void;
}): JSX.Element | null {
  const { trans } = usePanel();
  const model = list.models.find(({ isOffered }) => isOffered);
  if (!list.allowed || !model) {
    return null;
  }
  const state = {
    ready: trans.__('it is on this machine already'),
    getting: trans.__('it is downloading'),
    partial: trans.__('%1 to download once', bytesText(model.size, trans)),
    absent: trans.__('%1 to download once', bytesText(model.size, trans))
  }[model.state];
  return (
    <li>
      {list.installed ? (
        <button
          type="button"
          className={`jp-hdspAgent-button${isOnly ? ' jp-mod-accept' : ''}`}
          onClick={onChoose}
        >
          {trans.__('Use the embedded model')}
        </button>
      ) : (
        <strong>{trans.__('The embedded model')}</strong>
      )}
      <span>
        {list.installed
          ? trans.__('private and free of charge; %1', state)
          : errorText(trans, { code: 'local_runtime_missing', message: '' })}
      </span>
      {list.installed && <span>{abilityText(model, trans)}</span>}
    </li>
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
      return trans.__("with your administrator's key");
    case 'local':
      return trans._n(
        'on this machine, with %1 model',
        'on this machine, with %1 models',
        candidate.models.length
      );
  }
}

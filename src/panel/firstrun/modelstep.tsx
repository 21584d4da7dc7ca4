import * as React from 'react';

import type { KeyCheckView } from '../../generated/rest';
import { focusComposer } from '../../ui/focuscomposer';
import { ProblemNote } from '../../ui/controls/problemnote';
import { Select } from '../../ui/controls/select';
import { useAction } from '../../ui/useaction';
import { HistoryApi } from '../../rest/historyapi';
import { usePanel } from '../../ui/services';
import { providerName } from '../../ui/texts/providernames';
import { KeyNote, keyOf } from './keynote';
import type { ModelSource } from './providersetup';
import { modelsOf, chooseModel } from './providersetup';

/**
 * The choice that is none of those listed.
 */
const TYPED = '';

/**
 * The second step: which model it is; then all is done.
 */
export function ModelStep({
  heading,
  source,
  onBack,
  onDone
}: {
  /**
   * Where whoever hears the page goes on.
   */
  readonly heading: React.RefObject<HTMLHeadingElement>;
  readonly source: ModelSource;
  readonly onBack: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  const { node, serverSettings, trans } = usePanel();
  const suggested =
    source.kind === 'candidate' ? source.candidate.suggestedModel : undefined;
  const [models, setModels] = React.useState<readonly string[] | null>(null);
  const [chosen, setChosen] = React.useState(suggested ?? TYPED);
  const [typed, setTyped] = React.useState('');
  const { run, error } = useAction();
  const using = useAction();
  React.useEffect(() => {
    void run(async () => {
      const found = await modelsOf(new HistoryApi(serverSettings), source);
      setModels(found);
      if (suggested === undefined && found.length > 0) {
        setChosen(found[0]);
      }
    });
  }, [run, serverSettings, source, suggested]);
  const listed =
    suggested !== undefined && !models?.includes(suggested)
      ? [suggested, ...(models ?? [])]
      : (models ?? []);
  const model = (chosen === TYPED ? typed : chosen).trim();
  const start = async () => {
    const isDone = await using.run(() =>
      chooseModel(new HistoryApi(serverSettings), source, model)
    );
    if (isDone) {
      onDone();
      focusComposer(node);
    }
  };
  const name =
    source.kind === 'candidate'
      ? source.candidate.name
      : providerName(source.provider.id, trans);
  return (
    <form
      className="jp-hdspAgent-setup-form"
      onSubmit={event => {
        event.preventDefault();
        void start();
      }}
    >
      <h4 ref={heading} tabIndex={-1}>
        {trans.__('2 of 2: Choose a model from %1', name)}
      </h4>
      {models === null && error === null && (
        <p role="status">{trans.__('Loading models…')}</p>
      )}
      {/* The id can be typed where the list does not come. */}
      <ProblemNote error={error} />
      {listed.length > 0 && (
        <label>
          {trans.__('Model')}
          <Select
            value={chosen}
            onChange={event => setChosen(event.currentTarget.value)}
          >
            {listed.map(id => (
              <option key={id} value={id}>
                {id === suggested ? trans.__('%1 (suggested)', id) : id}
              </option>
            ))}
            <option value={TYPED}>{trans.__('Other model…')}</option>
          </Select>
        </label>
      )}
      {chosen === TYPED && (models !== null || error !== null) && (
        <label>
          {trans.__('Model ID')}
          <input
            required
            type="text"
            spellCheck={false}
            className="jp-hdspAgent-input"
            value={typed}
            onChange={event => setTyped(event.currentTarget.value)}
          />
        </label>
      )}
      <CandidateKey source={source} />
      <ProblemNote error={using.error} />
      <div className="jp-hdspAgent-actions">
        <button
          type="submit"
          className="jp-hdspAgent-button jp-mod-accept"
          disabled={using.isBusy || model === ''}
        >
          {using.isBusy ? trans.__('Setting up…') : trans.__('Start')}
        </button>
        <button
          type="button"
          className="jp-hdspAgent-button"
          disabled={using.isBusy}
          onClick={onBack}
        >
          {trans.__('Back')}
        </button>
      </div>
    </form>
  );
}

/**
 * Says if the key that was found does not work. One that was typed has been
 * tried by now.
 */
function CandidateKey({ source }: { source: ModelSource }): JSX.Element | null {
  const { serverSettings } = usePanel();
  const [check, setCheck] = React.useState<KeyCheckView | null>(null);
  const { run, error } = useAction();
  const candidate = source.kind === 'candidate' ? source.candidate : null;
  const tried = candidate && keyOf(candidate);
  const provider = tried && candidate.provider;
  React.useEffect(() => {
    if (provider !== null) {
      void run(async () =>
        setCheck(await new HistoryApi(serverSettings).checkKey({ provider }))
      );
    }
  }, [provider, run, serverSettings]);
  return (
    tried && (
      <>
        <KeyNote check={check} provider={candidate.name} tried={tried} />
        <ProblemNote error={error} />
      </>
    )
  );
}

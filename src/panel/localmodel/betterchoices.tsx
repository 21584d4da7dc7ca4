import * as React from 'react';

import type { SetupCandidateView } from '../../generated/rest';
import { ProblemNote } from '../../ui/controls/problemnote';
import { Select } from '../../ui/controls/select';
import { useAction } from '../../ui/useaction';
import { HistoryApi } from '../../rest/historyapi';
import { usePanel } from '../../ui/services';

/**
 * What answers better than the embedded model: what is there already, and a key.
 */
export function BetterChoices({
  onClose
}: {
  onClose: () => void;
}): JSX.Element {
  const { openSettings, serverSettings, trans } = usePanel();
  const [found, setFound] = React.useState<
    readonly SetupCandidateView[] | null
  >(null);
  const { run, error } = useAction();
  React.useEffect(() => {
    void run(async () => {
      const { candidates } = await new HistoryApi(
        serverSettings
      ).setupCandidates();
      setFound(candidates);
    });
  }, [run, serverSettings]);
  return (
    <section aria-label={trans.__('Better models')}>
      <h4>{trans.__('Better models')}</h4>
      <ProblemNote error={error} />
      {found === null && error === null && (
        <p role="status">
          {trans.__('Looking for keys and model servers on this machine…')}
        </p>
      )}
      {found?.map(candidate => (
        <Choice key={candidate.id} candidate={candidate} onClose={onClose} />
      ))}
      <p>
        {found?.length === 0 &&
          trans.__(
            'Larger models from a model server such as Ollama or LM Studio would be listed here. None runs on this machine.'
          )}{' '}
        {trans.__('A model from a provider for which you have a key is best.')}{' '}
        <button
          type="button"
          className="jp-hdspAgent-link"
          onClick={() => {
            onClose();
            openSettings('models');
          }}
        >
          {trans.__('Set up a model')}
        </button>
      </p>
    </section>
  );
}

/**
 * A way to another model, taken at once.
 */
function Choice({
  candidate,
  onClose
}: {
  candidate: SetupCandidateView;
  onClose: () => void;
}): JSX.Element {
  const { openSettings, serverSettings, trans } = usePanel();
  const { id, models, name, suggestedModel } = candidate;
  const [model, setModel] = React.useState(suggestedModel ?? models[0] ?? '');
  const { run, error, isBusy } = useAction();
  const use = async () => {
    if (model === '') {
      // Which models there are, is told by its settings.
      onClose();
      openSettings('models');
      return;
    }
    const isDone = await run(() =>
      new HistoryApi(serverSettings).useCandidate({ id, model })
    );
    if (isDone) {
      onClose();
    }
  };
  return (
    <div className="jp-hdspAgent-honesty-choice">
      {models.length > 1 && (
        <Select
          aria-label={trans.__('Model of %1', name)}
          value={model}
          onChange={event => setModel(event.currentTarget.value)}
        >
          {models.map(one => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </Select>
      )}
      <button
        type="button"
        className="jp-hdspAgent-button"
        disabled={isBusy}
        onClick={() => void use()}
      >
        {trans.__('Use %1', name)}
      </button>
      <ProblemNote error={error} />
    </div>
  );
}

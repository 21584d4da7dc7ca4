import * as React from 'react';

import { focusComposer } from '../../ui/focuscomposer';
import { ProblemNote } from '../../ui/controls/problemnote';
import { Select } from '../../ui/controls/select';
import { ModelCard } from '../localmodel/modelcard';
import { useEmbedded } from '../localmodel/useembedded';
import { choiceText, privacyText } from '../localmodel/localmodeltexts';
import { usePanel } from '../../ui/services';

/**
 * The second step with an embedded model: choose and agree to it, watch it come, and go.
 */
export function EmbeddedStep({
  heading,
  onBusy,
  onBack,
  onDone
}: {
  /**
   * Where whoever hears the page goes on.
   */
  readonly heading: React.RefObject<HTMLHeadingElement>;
  readonly onBusy: (isBusy: boolean) => void;
  readonly onBack: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  const { node, trans } = usePanel();
  const embedded = useEmbedded();
  const { models } = embedded;
  // What is offered changes with the free memory; what a person looks at stays.
  const [chosen, setChosen] = React.useState<string | null>(null);
  const suggested =
    models.find(({ state }) => state === 'getting') ?? embedded.offered;
  const model = models.find(({ id }) => id === chosen) ?? suggested;
  const [isStarting, setStarting] = React.useState(false);
  // Somebody waits here until it has come.
  const isWanted = React.useRef(false);
  const id = model?.id;
  const state = model?.state;
  const start = React.useCallback(async () => {
    isWanted.current = false;
    setStarting(true);
    const choice = { model: id };
    const isDone = (await embedded.try(choice)) && (await embedded.use(choice));
    setStarting(false);
    if (isDone) {
      onDone();
      focusComposer(node);
    }
  }, [embedded, id, node, onDone]);
  React.useEffect(() => {
    if (id !== undefined) {
      setChosen(id);
    }
    if (state === 'getting') {
      isWanted.current = true;
      onBusy(true);
    }
    if (state === 'ready' && isWanted.current) {
      void start();
    }
  }, [id, state, onBusy, start]);
  return (
    <div className="jp-hdspAgent-setup-form">
      <h4 ref={heading} tabIndex={-1}>
        {trans.__('2 of 2: The embedded model')}
      </h4>
      <ProblemNote error={embedded.loadError} />
      <p role="status">
        {isStarting && model
          ? trans.__('Starting %1 to see whether it runs here…', model.name)
          : state === 'getting'
            ? trans.__(
                'You can keep working. The download continues if you close this.'
              )
            : privacyText(trans)}
      </p>
      {model && !isStarting && (
        <>
          {models.length > 1 && state !== 'getting' && (
            <label>
              {trans.__('Model')}
              <Select
                value={model.id}
                onChange={event => {
                  isWanted.current = false;
                  setChosen(event.currentTarget.value);
                }}
              >
                {models.map(one => (
                  <option key={one.id} value={one.id}>
                    {choiceText(one, trans)}
                  </option>
                ))}
              </Select>
            </label>
          )}
          <ModelCard
            key={model.id}
            embedded={embedded}
            model={model}
            trans={trans}
            problem={embedded.error}
            onGet={() => onBusy(true)}
          >
            {state === 'ready' && (
              <button
                type="button"
                className="jp-hdspAgent-button jp-mod-accept"
                disabled={embedded.isBusy}
                onClick={() => {
                  onBusy(true);
                  void start();
                }}
              >
                {embedded.error ? trans.__('Try again') : trans.__('Start')}
              </button>
            )}
            <button
              type="button"
              className="jp-hdspAgent-button"
              disabled={embedded.isBusy}
              onClick={onBack}
            >
              {trans.__('Back')}
            </button>
          </ModelCard>
        </>
      )}
    </div>
  );
}

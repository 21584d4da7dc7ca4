import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { AgentState } from '../../state/store';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { EmbeddedStep } from './embeddedstep';
import type { SetupBlocker } from './firstrun';
import { ModelStep } from './modelstep';
import { SourceStep } from './sourcestep';
import type { ModelSource } from './providersetup';

/**
 * The way to a first model: where it comes from, which it is, and go.
 */
export function SetupSteps({
  hindrance,
  onBusy
}: {
  /**
   * Why there is no model to talk to; `null` once there is one.
   */
  readonly hindrance: SetupBlocker | null;

  /**
   * Told when a person begins, and when all is done.
   */
  readonly onBusy: (isBusy: boolean) => void;
}): JSX.Element {
  const { openSettings, store, trans } = usePanel();
  const provider = useStore(store, ({ state }) => currentProvider(state));
  const [source, setSource] = React.useState<ModelSource | 'embedded' | null>(
    null
  );
  const heading = React.useRef<HTMLHeadingElement>(null);
  const hasGone = React.useRef(false);
  const goTo = (next: ModelSource | 'embedded' | null) => {
    hasGone.current = true;
    setSource(next);
  };
  React.useEffect(() => {
    if (hasGone.current) {
      // What was pressed is gone; who hears the page goes on at the step.
      heading.current?.focus();
    }
  }, [source]);
  const finish = React.useCallback(() => onBusy(false), [onBusy]);
  return (
    <section
      className="jp-hdspAgent-card jp-hdspAgent-setup"
      aria-label={trans.__('Setting up a model')}
    >
      <h3 className="jp-hdspAgent-card-title">
        {titleText(source === null ? hindrance : null, trans)}
      </h3>
      {source === null ? (
        <SourceStep
          heading={heading}
          keyOf={hindrance === 'keyMissing' ? provider : null}
          onBusy={onBusy}
          onDone={goTo}
        />
      ) : source === 'embedded' ? (
        <EmbeddedStep
          heading={heading}
          onBusy={onBusy}
          onBack={() => goTo(null)}
          onDone={finish}
        />
      ) : (
        <ModelStep
          heading={heading}
          source={source}
          onBack={() => goTo(null)}
          onDone={finish}
        />
      )}
      {hindrance === null && source === null && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => onBusy(false)}
        >
          {trans.__('Cancel')}
        </button>
      )}
      <button
        type="button"
        className="jp-hdspAgent-link"
        onClick={() => openSettings('models')}
      >
        {trans.__('All model and key settings')}
      </button>
    </section>
  );
}

/**
 * The provider of the current profile.
 */
function currentProvider(state: AgentState | null): string | null {
  const profile = state?.listApiConfigMeta?.find(
    ({ name }) => name === state.currentApiConfigName
  );
  return profile?.apiProvider ?? null;
}

function titleText(
  hindrance: SetupBlocker | null,
  trans: TranslationBundle
): string {
  switch (hindrance) {
    case null:
      return trans.__('Setting up a model');
    case 'none':
      return trans.__('No model is set up yet');
    case 'keyMissing':
      return trans.__('The key for the model is missing');
    case 'notAllowed':
      return trans.__("The model's provider is not allowed on this server");
  }
}

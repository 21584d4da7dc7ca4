import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { usePanel } from '../services';
import type { Hindrance } from './firstrun';
import { ModelStep } from './modelstep';
import { SourceStep } from './sourcestep';
import type { ModelSource } from './steps';

/**
 * The way to a first model: where it comes from, which it is, and go.
 */
export function Setup({ hindrance, onBusy }: Setup.IProps): JSX.Element {
  const { openSettings, trans } = usePanel();
  const [source, setSource] = React.useState<ModelSource | null>(null);
  const heading = React.useRef<HTMLHeadingElement>(null);
  const goTo = (next: ModelSource | null) => {
    setSource(next);
    // What was pressed is gone; who hears the page goes on at its beginning.
    heading.current?.focus();
  };
  return (
    <section
      className="jp-hdspAgent-card jp-hdspAgent-setup"
      aria-label={trans.__('Setting up a model')}
    >
      <h3 ref={heading} tabIndex={-1} className="jp-hdspAgent-card-title">
        {titleText(hindrance, trans)}
      </h3>
      {source === null ? (
        <SourceStep onBusy={onBusy} onDone={goTo} />
      ) : (
        <ModelStep
          source={source}
          onBack={() => goTo(null)}
          onDone={() => onBusy(false)}
        />
      )}
      {hindrance === null && source === null && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => onBusy(false)}
        >
          {trans.__('Leave it as it is')}
        </button>
      )}
      <button
        type="button"
        className="jp-hdspAgent-link"
        onClick={() => openSettings('models')}
      >
        {trans.__('All settings of models and keys')}
      </button>
    </section>
  );
}

/**
 * The namespace for `Setup` statics.
 */
export namespace Setup {
  /**
   * The properties of the setup.
   */
  export interface IProps {
    /**
     * Why there is no model to talk to; `null` once there is one.
     */
    readonly hindrance: Hindrance | null;

    /**
     * Told when a person begins, and when all is done.
     */
    readonly onBusy: (isBusy: boolean) => void;
  }
}

function titleText(
  hindrance: Hindrance | null,
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
      return trans.__('The model’s provider is not allowed on this server');
  }
}

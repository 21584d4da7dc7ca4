import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { errorText } from '../../errors';
import type { EmbeddedData } from '../../rest/embeddeddata';
import { fullCount } from '../../ui/texts/formats';
import { speedText, stateText } from './localmodeltexts';

/**
 * How the model's process is and how fast, why it last was not there, and
 * having it give its memory back.
 */
export function RuntimeFacts({
  embedded,
  trans
}: {
  embedded: EmbeddedData;
  trans: TranslationBundle;
}): JSX.Element | null {
  const runtime = embedded.value?.runtime;
  if (runtime === undefined) {
    return null;
  }
  const { failure, restartedAfter, startSeconds, state } = runtime;
  const speed = speedText(runtime, trans);
  return (
    <>
      <p role="status">
        {embedded.isBusy ? trans.__('One moment…') : stateText(runtime, trans)}
      </p>
      {failure && (
        <p className="jp-hdspAgent-problem" role="alert">
          {errorText(trans, failure)}
        </p>
      )}
      {!failure && restartedAfter && (
        <p className="jp-hdspAgent-problem">
          {trans.__(
            'It was restarted after this: %1',
            errorText(trans, restartedAfter)
          )}
        </p>
      )}
      {speed !== '' && <p>{speed}</p>}
      {startSeconds !== undefined && (
        <p>
          {trans.__(
            'Its last start took %1 seconds.',
            fullCount(Math.round(startSeconds * 10) / 10)
          )}
        </p>
      )}
      {state === 'ready' && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          disabled={embedded.isBusy}
          onClick={() => void embedded.release()}
        >
          {trans.__('Free its memory')}
        </button>
      )}
    </>
  );
}

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { LocalModelView } from '../../generated/rest';
import { percentText } from '../../ui/texts/formats';
import type { DownloadRate } from '../../rest/downloadrate';
import { progressText, sourceText } from './localmodeltexts';

/**
 * How far the getting of a model is.
 */
export function DownloadProgress({
  model,
  pace,
  trans
}: {
  model: LocalModelView;
  pace: DownloadRate;
  trans: TranslationBundle;
}): JSX.Element {
  const { done, name, size, source } = model;
  const share = Math.min(1, done / size);
  const id = React.useId();
  return (
    <div className="jp-hdspAgent-getting">
      <progress
        className="jp-hdspAgent-progress"
        aria-label={trans.__('Downloading %1', name)}
        aria-describedby={id}
        value={done}
        max={size}
      >
        {percentText(share)}
      </progress>
      <p id={id}>
        {progressText(model, pace.speed, pace.remaining(size), trans)}
      </p>
      {sourceText(source, trans) !== '' && <p>{sourceText(source, trans)}</p>}
    </div>
  );
}

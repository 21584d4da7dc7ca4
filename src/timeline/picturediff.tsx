import * as React from 'react';

import type { CheckpointDiff, FileDiff } from '../generated/rest';
import { sizeText } from '../ui/texts/formats';
import { ProblemNote } from '../ui/controls/problemnote';
import { usePanel } from '../ui/services';
import { useAnswer } from '../ui/useanswer';
import { useTimeline } from './timelinecontext';

/**
 * What is larger is not fetched to be looked at.
 */
const LARGEST = 20 * 1024 * 1024;

/**
 * An image as it was and as it became, side by side.
 */
export function PictureDiff({
  file,
  diff
}: {
  file: FileDiff;
  diff: CheckpointDiff;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <div className="jp-hdspAgent-timeline-sides">
      {diff.old !== null && file.oldSize !== undefined && (
        <Side
          caption={trans.__('Before')}
          checkpoint={diff.old}
          file={file}
          size={file.oldSize}
        />
      )}
      {file.newSize !== undefined && (
        <Side
          caption={trans.__('After')}
          checkpoint={diff.new}
          file={file}
          size={file.newSize}
        />
      )}
    </div>
  );
}

function Side({
  caption,
  checkpoint,
  file: { path, mimeType },
  size
}: {
  caption: string;
  checkpoint: string;
  file: FileDiff;
  size: number;
}): JSX.Element {
  const { trans } = usePanel();
  const { model, restoreActions } = useTimeline();
  const [url, setUrl] = React.useState<string | null>(null);
  const { place } = model.filter;
  const isShown = size <= LARGEST;
  const ask = React.useCallback(
    () => restoreActions.api.file(place, checkpoint, path),
    [restoreActions, place, checkpoint, path]
  );
  const { answer: data, error } = useAnswer(isShown ? ask : null);
  React.useEffect(() => {
    if (data === null) {
      return;
    }
    const made = URL.createObjectURL(new Blob([data], { type: mimeType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data, mimeType]);
  return (
    <figure>
      <figcaption>
        {trans.__('%1: %2', caption, sizeText(size, trans))}
      </figcaption>
      {url !== null && (
        <img src={url} alt={trans.__('%1: %2', caption, path)} />
      )}
      {!isShown && <p>{trans.__('It is too large to show here.')}</p>}
      <ProblemNote error={error} />
    </figure>
  );
}

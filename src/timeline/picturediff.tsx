import * as React from 'react';

import { asErrorBody } from '../errors';
import type { CheckpointDiff, FileDiff } from '../generated/rest';
import type { ErrorBody } from '../generated/wire';
import { sizeText } from '../ui/texts/formats';
import { ProblemNote } from '../ui/controls/problemnote';
import { usePanel } from '../ui/services';
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
  const [error, setError] = React.useState<ErrorBody | null>(null);
  const { place } = model.filter;
  const isShown = size <= LARGEST;
  React.useEffect(() => {
    let isWanted = isShown;
    let made: string | null = null;
    if (isShown) {
      restoreActions.api.file(place, checkpoint, path).then(
        data => {
          if (isWanted) {
            made = URL.createObjectURL(new Blob([data], { type: mimeType }));
            setUrl(made);
          }
        },
        (reason: unknown) => {
          if (isWanted) {
            setError(asErrorBody(reason));
          }
        }
      );
    }
    return () => {
      isWanted = false;
      if (made !== null) {
        URL.revokeObjectURL(made);
      }
    };
  }, [restoreActions, place, checkpoint, path, mimeType, isShown]);
  return (
    <figure>
      <figcaption>
        {trans.__('%1: %2', caption, sizeText(size, trans))}
      </figcaption>
      {url !== null && (
        <img src={url} alt={trans.__('%1: %2', caption, path)} />
      )}
      {!isShown && <p>{trans.__('It is too large to be shown here.')}</p>}
      <ProblemNote error={error} />
    </figure>
  );
}

import * as React from 'react';

import type { CheckpointView } from '../generated/rest';
import { fullCount } from '../ui/texts/formats';
import { ProblemNote } from '../ui/controls/problemnote';
import { usePanel } from '../ui/services';
import { useAnswer } from '../ui/useanswer';
import type { Comparison } from '../rest/timelineapi';
import { useTimelineModel, useTimeline } from './timelinecontext';
import { FileDifference } from './filediff';
import { partsOf } from './restore/restoreactions';
import { failureOf } from './failuretexts';
import { leftOutText } from './timelinetexts';

/**
 * So many files are shown at first, and so few are unfolded at once.
 */
const MOST_FILES = 100;
const FEW_FILES = 3;

/**
 * What a checkpoint differs in from another, and what can be brought back.
 */
export function CheckpointDetails({
  checkpoint,
  before
}: {
  checkpoint: CheckpointView;

  /**
   * Of a step of the agent, the state before it.
   */
  before?: CheckpointView;
}): JSX.Element {
  const { trans } = usePanel();
  const { model, restoreActions } = useTimeline();
  const against = useTimelineModel(({ against }) => against);
  const operation = useTimelineModel(({ open }) => open);
  const restore = (state: CheckpointView) =>
    void restoreActions.restore(model.filter.place, state.id, partsOf(state));
  return (
    <>
      <div className="jp-hdspAgent-timeline-line">
        <select
          className="jp-hdspAgent-select"
          aria-label={trans.__('Compare with')}
          value={against}
          onChange={({ target }) =>
            model.unfold(operation, target.value as Comparison)
          }
        >
          <option value="previous">{trans.__('Changes in this step')}</option>
          <option value="now">{trans.__('Changes from then to now')}</option>
          <option value="beginning">
            {trans.__('Changes since the beginning')}
          </option>
        </select>
        {before !== undefined && (
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={() => restore(before)}
          >
            {trans.__('Restore to before this step…')}
          </button>
        )}
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => restore(checkpoint)}
        >
          {before === undefined
            ? trans.__('Restore…')
            : trans.__('Restore to after this step…')}
        </button>
      </div>
      <Differences key={against} checkpoint={checkpoint} against={against} />
      {checkpoint.leftOut.map(left => (
        <p
          key={`${left.part}:${left.path}`}
          className="jp-hdspAgent-timeline-quiet"
        >
          {leftOutText(left, trans)}
        </p>
      ))}
      {checkpoint.skipped > 0 && (
        <p className="jp-hdspAgent-timeline-quiet">
          {trans._n(
            '%1 file is not saved here, because it was too large or could not be read.',
            '%1 files are not saved here, because they were too large or could not be read.',
            checkpoint.skipped,
            fullCount(checkpoint.skipped)
          )}
        </p>
      )}
    </>
  );
}

function Differences({
  checkpoint: { id },
  against
}: {
  checkpoint: CheckpointView;
  against: Comparison;
}): JSX.Element {
  const { trans } = usePanel();
  const { model, restoreActions } = useTimeline();
  const [most, setMost] = React.useState(MOST_FILES);
  const { place } = model.filter;
  const { answer: diff, error } = useAnswer(
    React.useCallback(
      () => restoreActions.api.diff(place, id, { against, content: false }),
      [restoreActions, place, id, against]
    )
  );
  if (error !== null) {
    return <ProblemNote error={failureOf(error, trans)} />;
  }
  if (diff === null) {
    return <p role="status">{trans.__('Comparing…')}</p>;
  }
  const { files } = diff;
  return (
    <>
      <p role="status" className="jp-hdspAgent-timeline-quiet">
        {files.length === 0
          ? trans.__('No file differs.')
          : trans._n(
              '%1 file differs',
              '%1 files differ',
              files.length,
              fullCount(files.length)
            )}
      </p>
      <ul className="jp-hdspAgent-timeline-files">
        {files.slice(0, most).map(file => (
          <FileDifference
            key={file.raw ?? file.path}
            file={file}
            diff={diff}
            checkpoint={id}
            against={against}
            startsOpen={files.length <= FEW_FILES}
          />
        ))}
      </ul>
      {files.length > most && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => setMost(most + MOST_FILES)}
        >
          {trans._n(
            'Show %1 more',
            'Show %1 more',
            Math.min(MOST_FILES, files.length - most)
          )}
        </button>
      )}
    </>
  );
}

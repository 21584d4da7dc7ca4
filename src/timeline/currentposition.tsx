import { editIcon, redoIcon, undoIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IconButton } from '../ui/controls/iconbutton';
import { useAction } from '../ui/useaction';
import { usePanel } from '../ui/services';
import { LabDialogs } from '../ui/dialogs';
import { useEntries, useTimelineModel, useTimeline } from './timelinecontext';
import { checkpointText } from './checkpointtexts';
import { entryText, whenText } from './timelinetexts';

/**
 * Where one is on the time line, always in sight, and what one can do from there.
 */
export function CurrentPosition(): JSX.Element {
  const { trans } = usePanel();
  const { model, restoreActions } = useTimeline();
  const { isBusy, run } = useAction();
  const newest = useTimelineModel(({ operations }) => operations.at(0));
  const undoable = newest?.undoable ? newest : null;
  const save = (note?: string) =>
    run(() => restoreActions.save(model.filter.place, note));
  const saveNoted = async () => {
    const note = await new LabDialogs(trans).askName({
      title: trans.__('Save checkpoint'),
      label: trans.__('Note'),
      accept: trans.__('Save')
    });
    if (note !== null) {
      await save(note);
    }
  };
  return (
    <div className="jp-hdspAgent-timeline-head">
      <Here />
      <div className="jp-hdspAgent-timeline-buttons">
        <button
          type="button"
          className="jp-hdspAgent-button"
          aria-disabled={isBusy}
          title={trans.__('Save files, cells and variables as they are now')}
          onClick={() => void save()}
        >
          {trans.__('Save checkpoint')}
        </button>
        <IconButton
          icon={editIcon}
          label={trans.__('Save checkpoint with a note…')}
          aria-disabled={isBusy}
          onClick={() => void saveNoted()}
        />
        {undoable !== null && (
          <IconButton
            icon={undoable.kind === 'undo' ? redoIcon : undoIcon}
            label={
              undoable.kind === 'undo'
                ? trans.__('Redo the restore')
                : trans.__('Undo the restore')
            }
            aria-disabled={isBusy}
            onClick={() =>
              void run(() =>
                restoreActions.undo(model.filter.place, undoable.id)
              )
            }
          />
        )}
      </div>
    </div>
  );
}

function Here(): JSX.Element {
  const { trans } = usePanel();
  const view = useTimelineModel(({ view }) => view);
  const here = view?.here;
  const done = useTimelineModel(({ operations }) =>
    operations.find(({ checkpoint }) => checkpoint?.here)
  );
  const target = useTimelineModel(model => model.checkpoint(done?.target));
  const entry = useEntries().find(({ operation }) => operation === done);
  return (
    <p className="jp-hdspAgent-timeline-here" role="status">
      <span className="jp-hdspAgent-timeline-dot" aria-hidden="true" />
      <span>
        {trans.__('You are at:')}{' '}
        <strong>
          {view === null
            ? '…'
            : here
              ? entry
                ? entryText(entry, target, trans)
                : checkpointText(here, trans)
              : view.operations.length === 0
                ? trans.__('the beginning')
                : trans.__('a state that no checkpoint contains')}
        </strong>{' '}
        {here && (
          <time dateTime={new Date(here.ts).toISOString()}>
            {whenText(here.ts)}
          </time>
        )}
      </span>
    </p>
  );
}

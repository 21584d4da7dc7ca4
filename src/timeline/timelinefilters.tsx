import { PathExt } from '@jupyterlab/coreutils';
import { refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { useStore } from '../ui/hooks';
import { IconButton } from '../ui/controls/iconbutton';
import { usePanel } from '../ui/services';
import { useTimelineModel, useTimeline } from './timelinecontext';
import type { ITimelineFilter } from './timelinemodel';

/**
 * Which part of the time line is shown.
 */
export function TimelineFilters(): JSX.Element {
  const { store, trans } = usePanel();
  const { model } = useTimeline();
  const filter = useTimelineModel(({ filter }) => filter);
  const isLoading = useTimelineModel(({ isLoading }) => isLoading);
  const workspace = useTimelineModel(({ view }) => view?.workspace ?? '');
  const shown = useStore(store, ({ state }) => state?.currentTaskId);
  const task = filter.place.task ?? shown;
  const notebook = useNotebook() ?? filter.place.path;
  const choose = (only: ITimelineFilter['only']) => {
    // What cannot be shown is perhaps of a conversation that is gone.
    const place = model.error === null ? filter.place : {};
    void model.show({
      only,
      place:
        only === 'task'
          ? { ...place, task }
          : only === 'notebook'
            ? { ...place, path: notebook }
            : place
    });
  };
  return (
    <div className="jp-hdspAgent-timeline-filters">
      <select
        className="jp-hdspAgent-select"
        aria-label={trans.__('Entries to show')}
        title={workspace}
        value={filter.only}
        onChange={({ target }) =>
          choose(target.value as ITimelineFilter['only'])
        }
      >
        <option value="all">{trans.__('Whole workspace')}</option>
        {(task !== undefined || filter.only === 'task') && (
          <option value="task">{trans.__('This conversation')}</option>
        )}
        {notebook !== undefined && (
          <option value="notebook">
            {trans.__('Notebook %1', PathExt.basename(notebook))}
          </option>
        )}
      </select>
      <IconButton
        icon={refreshIcon}
        label={trans.__('Look again')}
        aria-disabled={isLoading}
        onClick={() => void model.refresh()}
      />
      <label className="jp-hdspAgent-timeline-unchanged">
        <input
          type="checkbox"
          checked={filter.withUnchanged ?? false}
          onChange={({ target }) => model.listUnchanged(target.checked)}
        />
        {trans.__('Show entries without changes')}
      </label>
    </div>
  );
}

/**
 * The notebook in front, if there is one on the server's own drive.
 */
function useNotebook(): string | undefined {
  const { notebooks } = usePanel();
  const subscribe = React.useCallback(
    (listener: () => void) => {
      notebooks?.currentChanged.connect(listener);
      return () => void notebooks?.currentChanged.disconnect(listener);
    },
    [notebooks]
  );
  return React.useSyncExternalStore(subscribe, () => {
    const path = notebooks?.currentWidget?.context.path;
    // A path on another drive names it before a colon.
    return path?.replace(/^RTC:/, '') || undefined;
  });
}

import type { IStateDB } from '@jupyterlab/statedb';
import * as React from 'react';

import type { IPanelServices } from '../ui/services';
import { TimelineContext } from './timelinecontext';
import type { ITimelineFilter } from './timelinemodel';
import { TimelineModel } from './timelinemodel';
import { RestoreActions } from './restore/restoreactions';
import { TimelineView } from './timelineview';

/**
 * Everything of the time line that Lab's start does not wait for.
 */
export interface ITimelineUi {
  readonly model: TimelineModel;
  readonly restoreActions: RestoreActions;
  readonly View: React.ComponentType;
}

/**
 * Where it is remembered what was listed.
 */
const REMEMBERED = 'hdsp-agent:time-line';

/**
 * Make the time line; it asks the server for nothing before it is shown.
 *
 * @param memory - Remembers over a reload what was listed.
 */
export function createTimeline(
  services: IPanelServices,
  memory: IStateDB | null
): ITimelineUi {
  const restoreActions = new RestoreActions(services);
  const { client } = services;
  const model = new TimelineModel({ api: restoreActions.api, client });
  restoreActions.happened.connect(() => {
    if (model.view !== null) {
      void model.refresh();
    }
  });
  let saved = model.filter;
  model.changed.connect(() => {
    if (model.filter !== saved) {
      saved = model.filter;
      void memory?.save(REMEMBERED, { ...saved, place: { ...saved.place } });
    }
  });
  const value = { model, restoreActions };
  const begin = async () => {
    const before = (await memory?.fetch(REMEMBERED)) as
      ITimelineFilter | undefined;
    // A command may have chosen meanwhile.
    if (model.view === null && !model.isLoading) {
      await model.show(before?.place ? before : model.filter);
    }
  };
  const View = () => {
    React.useEffect(() => void begin(), []);
    return (
      <TimelineContext.Provider value={value}>
        <TimelineView />
      </TimelineContext.Provider>
    );
  };
  return { ...value, View };
}

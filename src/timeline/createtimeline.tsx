import type { IStateDB } from '@jupyterlab/statedb';
import * as React from 'react';

import type { IPanelServices } from '../panel/services';
import { TimeLineContext } from './timelinecontext';
import type { ITimeLineFilter } from './timelinemodel';
import { TimeLineModel } from './timelinemodel';
import { TimeTravel } from './restoreactions';
import { TimelineView } from './timelineview';

/**
 * Everything of the time line that Lab's start does not wait for.
 */
export interface ITimeLineUi {
  readonly model: TimeLineModel;
  readonly travel: TimeTravel;
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
export function createTimeLine(
  services: IPanelServices,
  memory: IStateDB | null
): ITimeLineUi {
  const travel = new TimeTravel(services);
  const { client } = services;
  const model = new TimeLineModel({ api: travel.api, client });
  travel.happened.connect(() => {
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
  const value = { model, travel };
  const begin = async () => {
    const before = (await memory?.fetch(REMEMBERED)) as
      ITimeLineFilter | undefined;
    // A command may have chosen meanwhile.
    if (model.view === null && !model.isLoading) {
      await model.show(before?.place ? before : model.filter);
    }
  };
  const View = () => {
    React.useEffect(() => void begin(), []);
    return (
      <TimeLineContext.Provider value={value}>
        <TimelineView />
      </TimeLineContext.Provider>
    );
  };
  return { ...value, View };
}

import * as React from 'react';

import type { TimeLineModel } from './timelinemodel';
import type { TimeTravel } from './restoreactions';

/**
 * What the parts of the time line work with.
 */
export interface ITimeLine {
  readonly model: TimeLineModel;
  readonly travel: TimeTravel;
}

/**
 * The time line a component is in.
 */
export const TimeLineContext = React.createContext<ITimeLine | null>(null);

/**
 * The time line this component is in.
 */
export function useTimeLine(): ITimeLine {
  const timeLine = React.useContext(TimeLineContext);
  if (timeLine === null) {
    throw new Error('This component is used outside of the time line.');
  }
  return timeLine;
}

/**
 * A value of the time line; the component is rendered again when it is another.
 *
 * @param select - Picks the value. It must return the same object as long as
 * nothing changed.
 */
export function useModel<T>(select: (model: TimeLineModel) => T): T {
  const { model } = useTimeLine();
  const subscribe = React.useCallback(
    (listener: () => void) => {
      model.changed.connect(listener);
      return () => void model.changed.disconnect(listener);
    },
    [model]
  );
  return React.useSyncExternalStore(subscribe, () => select(model));
}

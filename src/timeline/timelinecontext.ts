import * as React from 'react';

import { useSignalValue } from '../ui/hooks';
import type { ITimelineEntry } from './timelineentries';
import { entriesOf } from './timelineentries';
import type { TimelineModel } from './timelinemodel';
import type { RestoreActions } from './restore/restoreactions';

/**
 * What the parts of the time line work with.
 */
export interface ITimeline {
  readonly model: TimelineModel;
  readonly restoreActions: RestoreActions;
}

/**
 * The time line a component is in.
 */
export const TimelineContext = React.createContext<ITimeline | null>(null);

/**
 * The time line this component is in.
 */
export function useTimeline(): ITimeline {
  const timeline = React.useContext(TimelineContext);
  if (timeline === null) {
    throw new Error('This component is used outside of the time line.');
  }
  return timeline;
}

/**
 * A value of the time line; the component is rendered again when it is another.
 *
 * @param select - Picks the value. It must return the same object as long as
 * nothing changed.
 */
export function useTimelineModel<T>(select: (model: TimelineModel) => T): T {
  const { model } = useTimeline();
  return useSignalValue(model.changed, () => select(model));
}

/**
 * The rows of the time line this component is in, newest first.
 */
export function useEntries(): readonly ITimelineEntry[] {
  const operations = useTimelineModel(({ operations }) => operations);
  const open = useTimelineModel(({ open }) => open);
  return React.useMemo(() => entriesOf(operations, open), [operations, open]);
}

import type * as React from 'react';

import { timelineIcon } from '../ui/icons/timelineicons';
import type { IPanelServices } from '../ui/services';
import { SideWidget } from '../ui/sidewidget';

/**
 * The time line as a widget of a side bar.
 */
export function timelineWidget(
  services: IPanelServices,
  Body: React.ComponentType
): SideWidget {
  const { trans } = services;
  return new SideWidget({
    services,
    id: 'hdsp-agent-time-line',
    className: 'jp-hdspAgent-TimeLine',
    icon: timelineIcon,
    caption: trans.__('HDSP Agent Timeline'),
    label: trans.__('Timeline'),
    broken: trans.__('The timeline could not be shown.'),
    first: '.jp-hdspAgent-timeline-open',
    Body
  });
}

import type * as React from 'react';

import { variablesIcon } from '../ui/icons/variablesicon';
import type { IPanelServices } from '../ui/services';
import { SideWidget } from '../ui/sidewidget';

/**
 * The variables as a widget of a side bar.
 */
export function variablesWidget(
  services: IPanelServices,
  Body: React.ComponentType
): SideWidget {
  const { trans } = services;
  return new SideWidget({
    services,
    id: 'hdsp-agent-variables',
    className: 'jp-hdspAgent-Variables',
    icon: variablesIcon,
    caption: trans.__('Variables'),
    label: trans.__('Variables'),
    broken: trans.__('The variables could not be shown.'),
    first: '.jp-hdspAgent-variables-filter',
    Body
  });
}

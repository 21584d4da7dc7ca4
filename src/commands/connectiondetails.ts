import type { TranslationBundle } from '@jupyterlab/translation';

import type { ChannelClient } from '../comm/client';
import { phaseLabel } from '../ui/controls/connectionstate';

/**
 * Names and values that describe a connection; nothing secret is among them.
 */
export function connectionDetails(
  {
    status,
    clientId,
    place
  }: Pick<ChannelClient, 'status' | 'clientId' | 'place'>,
  trans: TranslationBundle
): [string, string][] {
  const unknown = trans.__('unknown');
  return [
    [trans.__('State'), phaseLabel(status.phase, trans)],
    [trans.__('Reason'), status.reason ?? '–'],
    [trans.__('Failed attempts'), String(status.attempt)],
    [trans.__('Page version'), status.pageVersion],
    [trans.__('Server version'), status.serverVersion ?? unknown],
    [trans.__('This tab'), clientId],
    [trans.__('Server run'), place.epoch ?? unknown],
    [trans.__('Last message'), place.last?.toString() ?? unknown]
  ];
}

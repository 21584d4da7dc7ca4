import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { AgentState } from '../../../state/store';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { APPROVED_CLASSES } from './approvedclasses';
import { Popover } from '../../../ui/controls/popover';

const AutoApproveBody = React.lazy(() => import('./autoapprovebody'));

/**
 * Shows what the agent does without asking, and lets one change it.
 */
export function AutoApproveMenu(): JSX.Element | null {
  const { store, trans } = usePanel();
  const settings = useStore(store, ({ state }) => state?.settings);
  if (settings === undefined) {
    return null;
  }
  const count = approvedCount(settings);
  const status =
    count === 0
      ? trans.__('The agent asks before everything.')
      : trans._n(
          'The agent does %1 kind of action without asking.',
          'The agent does %1 kinds of actions without asking.',
          count
        );
  const face =
    count === 0
      ? trans.__('Auto: off')
      : count === APPROVED_CLASSES.length
        ? trans.__('Auto: all')
        : trans._n('Auto: %1 kind', 'Auto: %1 kinds', count);
  return (
    <Popover
      label={trans.__('Automatic approval')}
      buttonLabel={trans.__('%1 (automatic approval)', face)}
      description={status}
      className="jp-hdspAgent-autoApprove"
      face={
        <>
          <span>{face}</span>
          <caretDownIcon.react tag="span" aria-hidden="true" />
        </>
      }
    >
      {() => (
        <React.Suspense fallback={trans.__('Loading…')}>
          <AutoApproveBody />
        </React.Suspense>
      )}
    </Popover>
  );
}

/**
 * How many kinds of actions are approved without asking.
 */
function approvedCount(settings: NonNullable<AgentState['settings']>): number {
  return settings.autoApprovalEnabled
    ? APPROVED_CLASSES.filter(name => settings[name]).length
    : 0;
}

import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { Popover } from '../../../ui/controls/popover';
import { usePanel } from '../../../ui/services';
import { presetTexts } from './approvaltexts';
import { useApprovals } from './useapprovals';

const ApprovalBody = React.lazy(() => import('./approvalbody'));

/**
 * Shows what the agent does without asking, and lets one change it.
 */
export function ApprovalMenu(): JSX.Element | null {
  const { trans } = usePanel();
  const approvals = useApprovals();
  if (approvals === null) {
    return null;
  }
  const { name, meaning } = presetTexts(approvals.preset, trans);
  return (
    <Popover
      label={trans.__('Approvals')}
      buttonLabel={trans.__('%1 (approvals)', name)}
      description={trans.__('Approvals: %1. %2', name, meaning)}
      className="jp-hdspAgent-picker jp-hdspAgent-approvals"
      face={
        <>
          <span className="jp-hdspAgent-picker-label">{name}</span>
          <caretDownIcon.react tag="span" aria-hidden="true" />
        </>
      }
    >
      {() => (
        <React.Suspense fallback={trans.__('Loading…')}>
          <ApprovalBody />
        </React.Suspense>
      )}
    </Popover>
  );
}

import * as React from 'react';

import { Popover } from '../../../ui/controls/popover';
import { usePanel } from '../../../ui/services';
import type { IPickerProps } from '../../../ui/controls/pickerface';
import { PickerFace, choiceBlocker } from '../../../ui/controls/pickerface';
import { presetTexts } from './approvaltexts';
import { useApprovals } from './useapprovals';

const ApprovalBody = React.lazy(() => import('./approvalbody'));

/**
 * Shows what the agent does without asking, and lets one change it.
 */
export function ApprovalMenu({
  isOffline
}: Pick<IPickerProps, 'isOffline'>): JSX.Element | null {
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
      disabledReason={choiceBlocker(isOffline, trans)}
      face={<PickerFace label={name} />}
    >
      {() => (
        <React.Suspense fallback={trans.__('Loading…')}>
          <ApprovalBody />
        </React.Suspense>
      )}
    </Popover>
  );
}

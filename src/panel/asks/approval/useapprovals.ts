import { JSONExt } from '@lumino/coreutils';
import * as React from 'react';

import { usePanelState, useStore } from '../../../ui/hooks';
import { useFrontPath } from '../../../ui/notebookchoice';
import { usePanel } from '../../../ui/services';
import type { IApprovals } from './approvals';
import { approvalsOf } from './approvals';

/**
 * What the agent does without asking in the conversation on screen; `null` while that is not known.
 */
export function useApprovals(): IApprovals | null {
  const { notebooks, state, store } = usePanel();
  const choice = usePanelState(state, ({ approvalChoice }) => approvalChoice);
  const binding = usePanelState(state, ({ notebookChoice }) => notebookChoice);
  const front = useFrontPath(notebooks);
  const path =
    binding.kind === 'chosen'
      ? binding.path
      : binding.kind === 'front'
        ? front
        : null;
  const before = React.useRef<IApprovals | null>(null);
  return useStore(store, ({ state }) => {
    const now = state && approvalsOf(state, choice, path);
    if (!JSONExt.deepEqual({ ...now }, { ...before.current })) {
      before.current = now;
    }
    return before.current;
  });
}

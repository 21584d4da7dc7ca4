import * as React from 'react';

import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';

/**
 * What the kernel of a notebook does, unless it is ready to run cells.
 */
export function KernelState({ path }: { path: string }): JSX.Element | null {
  const { store, trans } = usePanel();
  const status = useStore(store, () => store.kernelStatus(path));
  const text = () => {
    switch (status) {
      case 'busy':
        return trans.__('Kernel busy');
      case 'starting':
        return trans.__('Kernel starting');
      case 'restarting':
      case 'autorestarting':
        return trans.__('Kernel restarting');
      case 'terminating':
      case 'dead':
        return trans.__('Kernel stopped');
      case 'idle':
      case 'unknown':
        return null;
    }
  };
  const words = text();
  return words === null ? null : (
    <span className="jp-hdspAgent-task-kernel">{words}</span>
  );
}

import * as React from 'react';

import { usePanel } from '../../../ui/services';

/**
 * Leads to everything that is remembered.
 */
export function MemoryLink(): JSX.Element {
  const { openSettings, trans } = usePanel();
  return (
    <button
      type="button"
      className="jp-hdspAgent-chat-link"
      onClick={() => openSettings('memory')}
    >
      {trans.__('Manage memory')}
    </button>
  );
}

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ConnectionPhase } from '../../comm/status';

/**
 * What each phase is called.
 */
export function phaseLabel(
  phase: ConnectionPhase,
  trans: TranslationBundle
): string {
  switch (phase) {
    case 'connecting':
      return trans.__('Connecting…');
    case 'open':
      return trans.__('Connected');
    case 'reconnecting':
      return trans.__('Reconnecting…');
    case 'offline':
      return trans.__('Offline');
    case 'refused':
      return trans.__('Not connected');
  }
}

/**
 * A dot whose form and text both tell how the connection is.
 */
export function ConnectionState({
  phase,
  trans
}: {
  phase: ConnectionPhase;
  trans: TranslationBundle;
}): JSX.Element {
  return (
    <span className="jp-hdspAgent-connection" data-phase={phase}>
      <span className="jp-hdspAgent-connection-dot" aria-hidden="true" />
      <span className="jp-hdspAgent-connection-label">
        {phaseLabel(phase, trans)}
      </span>
    </span>
  );
}

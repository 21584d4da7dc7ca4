import * as React from 'react';

import { externalAgent } from '../../../state/externalagent';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { plainName } from '../../../ui/texts/visibletext';

/**
 * How a conversation of another agent begins: nobody has asked for anything here.
 */
export function AgentStartRow(): JSX.Element {
  const { store, trans } = usePanel();
  const agent = useStore(store, externalAgent) ?? '';
  return (
    <div className="jp-hdspAgent-chat-note">
      <div className="jp-hdspAgent-chat-note-label">
        {trans.__('%1 connected.', plainName(agent))}
      </div>
    </div>
  );
}

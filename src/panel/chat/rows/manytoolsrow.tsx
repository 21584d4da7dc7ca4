import * as React from 'react';

import { usePanel } from '../../../ui/services';
import { readJson } from '../../../ui/texts/readjson';
import type { IRowContent } from './rowcontent';

/**
 * Says that there are more tools than a model handles well, and leads to them.
 */
export function ManyToolsRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { openSettings, trans } = usePanel();
  const { toolCount } = readJson<{ toolCount: number }>(message.text) ?? {};
  return (
    <div className="jp-hdspAgent-chat-note">
      <div className="jp-hdspAgent-chat-note-label">
        {toolCount === undefined
          ? trans.__(
              'The agent has so many tools that the model may choose the wrong one.'
            )
          : trans._n(
              '%1 MCP tool is on. With so many, the model may choose the wrong one.',
              '%1 MCP tools are on. With so many, the model may choose the wrong one.',
              toolCount
            )}{' '}
        <button
          type="button"
          className="jp-hdspAgent-chat-link"
          onClick={() => openSettings('mcpServers')}
        >
          {trans.__('MCP servers')}
        </button>
      </div>
    </div>
  );
}

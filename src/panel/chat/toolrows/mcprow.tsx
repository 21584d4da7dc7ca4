import { extensionIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ClineAskUseMcpServer } from '../../../generated/wire';
import { RiskFlagList } from '../../../ui/texts/riskflaglist';
import { flagsOn } from '../../../ui/texts/riskflags';
import { usePanel } from '../../../ui/services';
import { BoundedText } from '../../../ui/texts/boundedtext';
import { Fold } from '../../../ui/texts/fold';
import { useRowParts } from '../rows/rowparts';
import { PictureList } from '../rows/picturelist';
import { readJson } from '../../../ui/texts/readjson';
import { AskBadge, AskFailure, useAskState } from '../rows/askstate';
import type { IRowContent } from '../rows/rowcontent';
import { RowHead } from '../rows/rowhead';

/**
 * A tool or a resource of a server of tools, and what it answered.
 */
export function McpRow({ message, parts }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const state = useAskState(message);
  const isAnswer = message.say === 'mcp_server_response';
  const use = isAnswer
    ? {}
    : (readJson<ClineAskUseMcpServer>(message.text) ?? {});
  const answers = useRowParts(parts);
  const response = isAnswer
    ? message.text
    : answers.map(({ text }) => text ?? '').join('\n') || use.response;
  const images = [message, ...answers].flatMap(({ images }) => images ?? []);
  return (
    <div className="jp-hdspAgent-chat-tool" data-state={state}>
      <RowHead
        icon={extensionIcon}
        words={
          use.serverName
            ? trans.__('%1: %2', use.serverName, use.toolName ?? use.uri ?? '')
            : trans.__('Answer from an MCP server')
        }
      >
        <AskBadge state={state} />
      </RowHead>
      <AskFailure message={message} />
      {state !== 'waiting' && <RiskFlagList flags={flagsOn(message)} />}
      {use.arguments && (
        <Fold
          id={`${message.ts}:arguments`}
          summary={trans.__('Input')}
          startsOpen={state === 'waiting'}
        >
          <pre className="jp-hdspAgent-chat-plain" tabIndex={0}>
            {use.arguments}
          </pre>
        </Fold>
      )}
      {response && (
        <Fold id={`${message.ts}:response`} summary={trans.__('Output')}>
          <div className="jp-hdspAgent-chat-plain">
            <BoundedText id={`${message.ts}:text`} text={response} />
          </div>
        </Fold>
      )}
      <PictureList images={images} />
    </div>
  );
}

import { extensionIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type {
  ClineAskUseMcpServer,
  ClineMessage
} from '../../../generated/wire';
import { RiskFlagList } from '../../../ui/texts/riskflaglist';
import { flagsOn } from '../../../ui/texts/riskflags';
import { usePanel } from '../../../ui/services';
import { BoundedText } from '../../../ui/texts/boundedtext';
import { Fold } from '../../../ui/texts/fold';
import { argumentLines, indentedJson } from '../../../ui/texts/toolarguments';
import { VisibleText, plainName } from '../../../ui/texts/visibletext';
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
  const followed = useRowParts(parts);
  const answers = followed.filter(({ say }) => say === 'mcp_server_response');
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
            ? trans.__(
                '%1: %2',
                plainName(use.serverName),
                plainName(use.toolName ?? use.uri ?? '')
              )
            : trans.__('Answer from an MCP server')
        }
      >
        <AskBadge state={state} />
        {answers.length === 0 && <Running started={followed.at(-1)} />}
      </RowHead>
      <AskFailure message={message} />
      {state !== 'waiting' && <RiskFlagList flags={flagsOn(message)} />}
      {hasArguments(use.arguments) && (
        <Fold
          id={`${message.ts}:arguments`}
          summary={trans.__('Input')}
          startsOpen={state === 'waiting'}
        >
          <pre className="jp-hdspAgent-chat-plain" tabIndex={0}>
            <VisibleText text={argumentLines(use.arguments)} />
          </pre>
        </Fold>
      )}
      {response && <Response ts={message.ts} text={response} />}
      <PictureList images={images} />
    </div>
  );
}

/**
 * How far a call is that has begun; nothing when none has.
 */
function Running({
  started
}: {
  started: ClineMessage | undefined;
}): JSX.Element | null {
  const { trans } = usePanel();
  return started?.partial ? (
    <span className="jp-hdspAgent-chat-badge" data-state="running">
      {started.text ? plainName(started.text) : trans.__('Running…')}
    </span>
  ) : null;
}

/**
 * What a server answered: folded, but for what went wrong.
 */
function Response({ ts, text }: { ts: number; text: string }): JSX.Element {
  const { trans } = usePanel();
  const json = React.useMemo(() => indentedJson(text), [text]);
  const failure = json === null ? /^Error:\s*([^\n]*)/.exec(text)?.[1] : null;
  return (
    <>
      {failure && (
        <p className="jp-hdspAgent-chat-failure">
          <VisibleText text={failure} />
        </p>
      )}
      {failure !== text.replace(/^Error:\s*/, '') && (
        <Fold id={`${ts}:response`} summary={trans.__('Output')}>
          <div className="jp-hdspAgent-chat-plain" data-json={json !== null}>
            <BoundedText id={`${ts}:text`} text={json ?? text} />
          </div>
        </Fold>
      )}
    </>
  );
}

function hasArguments(json: string | undefined): json is string {
  return json !== undefined && json.trim() !== '' && json.trim() !== '{}';
}

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ClineMessage } from '../../generated/wire';
import { ErrorBoundary } from '../../ui/errorboundary';
import { externalAgent } from '../../state/externalagent';
import { useMessage, useStore } from '../../ui/hooks';
import { MessageTime } from '../../ui/renamedpaths';
import { useFocusGoesOn } from '../../ui/controls/transientnote';
import { usePanel } from '../../ui/services';
import { plainName } from '../../ui/texts/visibletext';
import type { IChatRow } from './rowmodel';
import { AgentStartRow } from './rows/agentstartrow';
import { contentOf } from './rows/rowcontent';
import { StoppedHere, isFigures } from './rows/requestrow';

/**
 * One row of the conversation. It is rendered again when its own message
 * changes, and not when another does.
 */
export const ChatRow = React.memo(function ChatRow({
  row,
  position,
  total
}: {
  row: IChatRow;
  position: number;

  /** How many rows there are; -1 if nobody knows. */
  total: number;
}): JSX.Element | null {
  const { store, trans } = usePanel();
  const agent = useStore(store, externalAgent);
  const message = useMessage(store, row.ts);
  if (!message) {
    return null;
  }
  const isFirst = position === 1 && total !== -1;
  const isStart = isFirst && agent !== null && message.say === 'text';
  const isRequest = isFirst && agent === null;
  const Content = isStart ? AgentStartRow : contentOf(message, isRequest);
  return (
    <Row
      className="jp-hdspAgent-chat-row"
      data-ts={row.ts}
      data-kind={message.ask ?? message.say}
      data-figures={isFigures(message) || undefined}
      tabIndex={-1}
      aria-label={
        isStart ? trans.__('Note') : speakerOf(message, isRequest, agent, trans)
      }
      aria-posinset={position}
      aria-setsize={total}
      aria-busy={message.partial === true}
    >
      <ErrorBoundary
        says={trans.__('This message could not be displayed.')}
        text={message.text}
        version={`${message.partial} ${message.isAnswered}`}
      >
        <MessageTime.Provider value={row.ts}>
          <Content message={message} parts={row.parts} />
        </MessageTime.Provider>
        <StoppedHere ts={row.ts} />
      </ErrorBoundary>
    </Row>
  );
});

/**
 * The node of a row. Where it is taken back, the focus may be in it.
 */
function Row(props: React.HTMLAttributes<HTMLElement>): JSX.Element {
  const part = React.useRef<HTMLElement>(null);
  useFocusGoesOn(part);
  return <article ref={part} {...props} />;
}

/**
 * Who or what speaks in a row, for those who do not see it.
 */
function speakerOf(
  { type, say, ask }: ClineMessage,
  isRequest: boolean,
  agent: string | null,
  trans: TranslationBundle
): string {
  if (isRequest && say === 'text') {
    return trans.__('You');
  }
  switch (ask ?? say) {
    case 'user_feedback':
    case 'user_feedback_diff':
    case 'user_edit_todos':
      return trans.__('You');
    case 'text':
    case 'completion_result':
      return agent === null ? trans.__('Agent') : plainName(agent);
    case 'reasoning':
      return trans.__('Thinking');
    case 'error':
    case 'diff_error':
    case 'rooignore_error':
    case 'api_req_failed':
    case 'condense_context_error':
      return trans.__('Error');
    case 'command':
    case 'command_output':
      return trans.__('Command');
    case 'tool':
      return trans.__('Tool');
    case 'api_req_started':
      return trans.__('Request to the model');
    case 'cell_executed':
      return trans.__('Cell');
    case 'kernel_status':
      return trans.__('Kernel');
    case 'checkpoint_saved':
      return trans.__('Checkpoint');
    default:
      return type === 'ask' ? trans.__('Question') : trans.__('Note');
  }
}

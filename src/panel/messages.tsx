import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ClineMessage } from '../generated/wire';
import type { AgentStore } from '../state/store';
import type { IChunkedText } from './chunks';
import { chunked } from './chunks';
import { useMessage, useStore } from './hooks';

/**
 * The conversation as plain text, oldest first.
 *
 * #### Notes
 * The list itself is rendered when messages come or go, a row when its own
 * message changes.
 */
export function MessageList({
  store,
  trans
}: {
  store: AgentStore;
  trans: TranslationBundle;
}): JSX.Element | null {
  const order = useStore(store, ({ order }) => order);
  const hasOlder = useStore(store, ({ hasOlderMessages }) => hasOlderMessages);
  if (order.length === 0) {
    return null;
  }
  return (
    <div
      className="jp-hdspAgent-messages"
      tabIndex={0}
      role="region"
      aria-label={trans.__('Conversation')}
    >
      <ol className="jp-hdspAgent-messageList">
        {hasOlder && (
          <li className="jp-hdspAgent-hint">
            {trans.__('Older messages are not shown here.')}
          </li>
        )}
        {order.map(ts => (
          <MessageRow key={ts} ts={ts} store={store} trans={trans} />
        ))}
      </ol>
    </div>
  );
}

/**
 * One message.
 */
export const MessageRow = React.memo(function MessageRow({
  ts,
  store,
  trans
}: {
  ts: number;
  store: AgentStore;
  trans: TranslationBundle;
}): JSX.Element | null {
  const message = useMessage(store, ts);
  if (!message) {
    return null;
  }
  return (
    <li
      className="jp-hdspAgent-message"
      data-ts={ts}
      data-kind={message.ask ?? message.say}
      aria-busy={message.partial === true}
    >
      <div className="jp-hdspAgent-message-kind">
        {kindLabel(message, trans)}
      </div>
      <StreamedText text={message.text ?? message.reasoning ?? ''} />
    </li>
  );
});

/**
 * A text that may still grow; only its last block is laid out anew.
 */
function StreamedText({ text }: { text: string }): JSX.Element {
  const before = React.useRef<IChunkedText | null>(null);
  before.current = chunked(text, before.current);
  return (
    <div className="jp-hdspAgent-message-text">
      {before.current.chunks.map((chunk, index) => (
        <Chunk key={index} text={chunk} />
      ))}
    </div>
  );
}

const Chunk = React.memo(function Chunk({ text }: { text: string }) {
  return <div>{text}</div>;
});

function kindLabel(
  { type, say, ask }: ClineMessage,
  trans: TranslationBundle
): string {
  switch (ask ?? say) {
    case 'user_feedback':
    case 'user_feedback_diff':
      return trans.__('You');
    case 'text':
    case 'completion_result':
      return trans.__('Agent');
    case 'reasoning':
      return trans.__('Thinking');
    case 'error':
    case 'diff_error':
    case 'rooignore_error':
    case 'api_req_failed':
      return trans.__('Error');
    case 'command':
    case 'command_output':
      return trans.__('Command');
    case 'tool':
      return trans.__('Tool');
    case 'cell_executed':
      return trans.__('Cell');
    case 'kernel_status':
      return trans.__('Kernel');
    default:
      return type === 'ask' ? trans.__('Question') : trans.__('Note');
  }
}

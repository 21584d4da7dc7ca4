import { launchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { AgentStore } from '../../../state/store';
import { useStore } from '../../hooks';
import { usePanel } from '../../services';
import { Fold } from '../fold';
import { Markdown } from '../markdown/markdown';
import { RequestButton } from '../requestbutton';
import type { IRowContent } from './content';

/**
 * What a subtask has brought.
 */
export function SubtaskResultRow({
  message,
  parts: _
}: IRowContent): JSX.Element {
  const { trans } = usePanel();
  return (
    <div className="jp-hdspAgent-chat-tool">
      <div className="jp-hdspAgent-chat-tool-head">
        <launchIcon.react
          tag="span"
          className="jp-hdspAgent-chat-tool-icon"
          aria-hidden="true"
        />
        <span className="jp-hdspAgent-chat-tool-words">
          {trans.__('The subtask is done')}
        </span>
        <SubtaskLink ts={message.ts} isDone />
      </div>
      <Fold
        id={`${message.ts}:result`}
        summary={trans.__('Its result')}
        startsOpen
      >
        <Markdown text={message.text ?? ''} />
      </Fold>
    </div>
  );
}

/**
 * Leads to a subtask: the one this conversation waits for, or the one whose
 * result came last. Which one it was earlier is not known.
 */
export function SubtaskLink({
  ts,
  isDone = false
}: {
  /** The message the link is in. */
  ts: number;
  isDone?: boolean;
}): JSX.Element | null {
  const { store, trans } = usePanel();
  const item = useStore(store, ({ state }) => state?.currentTaskItem);
  const isLast = useStore(store, store => !hasLaterResult(store, ts));
  const taskId = isDone ? item?.completedByChildId : item?.awaitingChildId;
  return taskId && isLast ? (
    <RequestButton
      className="jp-hdspAgent-chat-link"
      label={trans.__('Open the subtask')}
      request={{ type: 'showTaskWithId', taskId }}
    />
  ) : null;
}

function hasLaterResult(store: AgentStore, ts: number): boolean {
  return store.order.some(
    other => other > ts && store.message(other)?.say === 'subtask_result'
  );
}

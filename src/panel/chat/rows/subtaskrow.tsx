import { launchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ClineMessage } from '../../../generated/wire';
import type { AgentStore } from '../../../state/store';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { Fold } from '../../../ui/texts/fold';
import { Markdown } from '../../../ui/markdown/markdown';
import { readJson } from '../../../ui/texts/readjson';
import { RequestButton } from '../../../ui/controls/requestbutton';
import type { IRowContent } from './rowcontent';
import { RowHead } from './rowhead';
import type { Tool } from '../toolrows/tooltexts';

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
      <RowHead icon={launchIcon} words={trans.__('The subtask is done')}>
        <SubtaskLink ts={message.ts} isDone />
      </RowHead>
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
 * Leads to a subtask, where it is known which one it was.
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
  const taskId = useStore(store, store => subtaskOf(store, ts, isDone));
  return taskId !== undefined ? (
    <RequestButton
      className="jp-hdspAgent-chat-link"
      label={trans.__('Open the subtask')}
      request={{ type: 'showTaskWithId', taskId }}
    />
  ) : null;
}

/**
 * The subtask that a message is about: the one that was begun last before it.
 *
 * #### Notes
 * A message does not name its subtask; the conversation names all it ever
 * had, in their order. The two go together where none was taken back and all
 * messages are here. Otherwise it is known of the one that is waited for, and
 * of the one whose result came last.
 */
function subtaskOf(
  store: AgentStore,
  ts: number,
  isDone: boolean
): string | undefined {
  const item = store.state?.currentTaskItem;
  const begun = store.order.filter(other => isBegin(store.message(other)));
  const children = item?.childIds ?? [];
  if (!store.hasOlderMessages && begun.length === children.length) {
    return children[begun.filter(other => other <= ts).length - 1];
  }
  if (isDone) {
    return hasLaterResult(store, ts) ? undefined : item?.completedByChildId;
  }
  return begun.at(-1) === ts ? item?.awaitingChildId : undefined;
}

function isBegin(message: ClineMessage | undefined): boolean {
  return (
    message?.ask === 'tool' &&
    message.isAnswered === true &&
    readJson<Tool>(message.text)?.tool === 'newTask'
  );
}

function hasLaterResult(store: AgentStore, ts: number): boolean {
  return store.order.some(
    other => other > ts && store.message(other)?.say === 'subtask_result'
  );
}

import { Clipboard } from '@jupyterlab/apputils';
import type { LabIcon } from '@jupyterlab/ui-components';
import {
  copyIcon,
  deleteIcon,
  duplicateIcon,
  editIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ClineMessage } from '../../generated/wire';
import { IconButton } from '../../ui/controls/iconbutton';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { saidIn } from '../../state/panel/attachments';
import { externalAgent } from '../../state/externalagent';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { deleteMessage, goBack } from './conversationchanges';
import { MessageEditor } from './messageeditor';
import { MessageEdits } from './messageedits';

/**
 * What can be done with a message of the person: edit and send it again, go
 * back to it, go on from it in a copy, copy its text, delete it.
 */
export function MessageActions({
  message
}: {
  message: ClineMessage;
}): JSX.Element | null {
  const services = usePanel();
  const { client, store, state, trans } = services;
  const { ts } = message;
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const isFirst = useStore(
    store,
    ({ order, hasOlderMessages }) => order[0] === ts && !hasOlderMessages
  );
  // Another agent was told it, and only it can go on from here.
  const isOurs = useStore(store, store => externalAgent(store) === null);
  const edited = useEdited(taskId, ts);
  const { isBusy, error, run } = useAction();
  const [copied, setCopied] = React.useState(false);
  const buttons = React.useRef<HTMLDivElement>(null);
  const wasEdited = React.useRef(false);
  React.useLayoutEffect(() => {
    // The field that had the focus is gone with it.
    if (wasEdited.current && document.activeElement === document.body) {
      buttons.current?.querySelector('button')?.focus();
    }
    wasEdited.current = edited !== null;
  }, [edited]);
  if (taskId === null || message.partial === true) {
    return null;
  }
  const said = () => saidIn(message).text;
  const actions: readonly IMessageAction[] = [
    ...(isOurs
      ? [
          {
            icon: editIcon,
            label: trans.__('Edit and send again'),
            act: () => MessageEdits.of(state).write(taskId, ts, said())
          }
        ]
      : []),
    {
      icon: undoIcon,
      label: trans.__('Restore to here…'),
      act: () => void run(() => goBack(services, taskId, ts, isFirst))
    },
    {
      icon: duplicateIcon,
      label: trans.__('Branch from here'),
      act: () =>
        void run(() =>
          client.request({ type: 'forkTask', taskId, messageTs: ts })
        )
    },
    {
      icon: copyIcon,
      label: trans.__('Copy this message'),
      act: () => {
        Clipboard.copyToSystem(said());
        setCopied(true);
      }
    },
    // The first one is the task itself: with it the conversation would go.
    ...(isFirst
      ? []
      : [
          {
            icon: deleteIcon,
            label: trans.__('Delete this message…'),
            act: () => void run(() => deleteMessage(services, taskId, ts))
          }
        ])
  ];
  return (
    <>
      {edited === null ? (
        <div
          ref={buttons}
          className="jp-hdspAgent-changes-buttons"
          role="group"
          aria-label={trans.__('Message actions')}
        >
          {actions.map(action => (
            <IconButton
              key={action.label}
              icon={action.icon}
              label={action.label}
              aria-disabled={isBusy}
              onClick={action.act}
            />
          ))}
          <span className="jp-hdspAgent-announcement" role="status">
            {copied && trans.__('Copied')}
          </span>
        </div>
      ) : (
        <MessageEditor message={message} taskId={taskId} text={edited} />
      )}
      <ProblemNote error={error} />
    </>
  );
}

interface IMessageAction {
  readonly icon: LabIcon;
  readonly label: string;
  readonly act: () => void;
}

function useEdited(taskId: string | null, ts: number): string | null {
  const { state } = usePanel();
  const edits = MessageEdits.of(state);
  const subscribe = React.useCallback(
    (listener: () => void) => {
      edits.changed.connect(listener);
      return () => void edits.changed.disconnect(listener);
    },
    [edits]
  );
  return React.useSyncExternalStore(subscribe, () =>
    taskId === null ? null : edits.text(taskId, ts)
  );
}

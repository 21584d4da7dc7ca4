import { closeIcon, editIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { isComposing } from '../../ui/inputmethod';
import type { ChannelClient } from '../../comm/client';
import { errorText } from '../../errors';
import type { QueuedMessage } from '../../generated/wire';
import { IconButton } from '../../ui/controls/iconbutton';
import { TransientNote } from '../../ui/controls/transientnote';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { useAction } from '../../ui/useaction';
import { saidIn, sentAttachment } from '../../state/panel/attachments';
import { focusComposer } from '../../ui/focuscomposer';
import { isWorking } from '../../state/panel/senddraft';
import { externalAgent } from '../../state/externalagent';
import { plainName } from '../../ui/texts/visibletext';

/**
 * What was sent while the agent works, and waits; nothing when nothing does.
 */
export function QueueList(): JSX.Element | null {
  const { store, trans } = usePanel();
  const queue = useStore(store, ({ state }) => state?.messageQueue);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const works = useStore(store, isWorking);
  const agent = useStore(store, externalAgent);
  const { edits, edit } = useEdits(queue, taskId);
  if (!queue?.length || taskId === null) {
    return null;
  }
  return (
    <div className="jp-hdspAgent-queue" role="group" aria-labelledby={TITLE_ID}>
      <p id={TITLE_ID} className="jp-hdspAgent-queue-title">
        {agent !== null
          ? trans._n(
              '%1 message waits for the next step of %2',
              '%1 messages wait for the next step of %2',
              queue.length,
              plainName(agent)
            )
          : works
            ? trans._n(
                "%1 message queued (doesn't approve)",
                "%1 messages queued (they don't approve)",
                queue.length
              )
            : trans._n(
                '%1 message is queued. It is sent when you continue.',
                '%1 messages are queued. They are sent when you continue.',
                queue.length
              )}
      </p>
      <ul>
        {queue.map(message => (
          <QueueRow
            key={message.id}
            message={message}
            taskId={taskId}
            text={edits.get(message.id)?.text ?? null}
            onEdit={text => edit(message, text)}
          />
        ))}
      </ul>
    </div>
  );
}

const TITLE_ID = 'jp-hdspAgent-queue-title';

/**
 * A message that is being changed, and how it was before.
 */
interface IEdited {
  readonly message: QueuedMessage;
  readonly taskId: string;
  readonly text: string;
}

/**
 * The messages of a queue that are being changed, by their ids.
 */
type Edits = ReadonlyMap<string, IEdited>;

/**
 * What is being written in place of messages that wait. Of a message that the
 * agent took meanwhile it goes into the field, so that it is not lost.
 *
 * @returns It, and a function that changes it; `null` ends the change.
 */
function useEdits(
  queue: readonly QueuedMessage[] | undefined,
  taskId: string | null
) {
  const { state } = usePanel();
  const [edits, setEdits] = React.useState<Edits>(new Map());
  React.useEffect(() => {
    const gone = [...edits].filter(
      ([id, edited]) =>
        edited.taskId === taskId && !queue?.some(message => message.id === id)
    );
    if (gone.length === 0) {
      return;
    }
    for (const [, { message, taskId, text }] of gone) {
      if (text !== saidIn(message).text) {
        state.returnDraft(taskId, { text, images: [], attachments: [] });
      }
    }
    const ids = new Set(gone.map(([id]) => id));
    setEdits(before => new Map([...before].filter(([id]) => !ids.has(id))));
  }, [edits, queue, state, taskId]);
  const edit = (message: QueuedMessage, text: string | null) =>
    setEdits(before => {
      const after = new Map(before);
      after.delete(message.id);
      if (text !== null && taskId !== null) {
        after.set(message.id, { message, taskId, text });
      }
      return after;
    });
  return { edits, edit };
}

/**
 * One message that waits.
 */
function QueueRow({
  message,
  taskId,
  text,
  onEdit
}: {
  readonly message: QueuedMessage;
  readonly taskId: string;

  /**
   * What it is being changed to; `null` if it is not.
   */
  readonly text: string | null;
  readonly onEdit: (text: string | null) => void;
}): JSX.Element {
  const { client, node, trans } = usePanel();
  const { isBusy, error, run } = useAction();
  const said = saidIn(message);
  const along = said.attachments.length + (message.images?.length ?? 0);
  const isEmpty = text?.trim() === '' && along === 0;
  const ask = (request: ChannelClient.Request) =>
    void run(async () => {
      await client.request(request);
      onEdit(null);
    });
  const save = () => {
    if (isBusy || isEmpty) {
      return;
    }
    ask({
      type: 'editQueuedMessage',
      taskId,
      payload: {
        id: message.id,
        text: text?.trim() ?? '',
        attachments: said.attachments.map(sentAttachment)
      }
    });
  };
  return (
    <li className="jp-hdspAgent-queue-row" aria-busy={isBusy}>
      {text === null ? (
        <>
          <span
            className="jp-hdspAgent-queue-text"
            dir="auto"
            title={said.text}
          >
            {said.text || trans.__('(no text)')}
          </span>
          {along > 0 && (
            <span className="jp-hdspAgent-queue-along">
              {trans._n('%1 attachment', '%1 attachments', along)}
            </span>
          )}
          <IconButton
            icon={editIcon}
            label={trans.__('Edit the queued message')}
            disabled={isBusy}
            onClick={() => onEdit(said.text)}
          />
          <IconButton
            icon={closeIcon}
            label={trans.__('Remove the queued message')}
            disabled={isBusy}
            onClick={() => {
              // The button goes with the message.
              focusComposer(node);
              ask({
                type: 'removeQueuedMessage',
                taskId,
                text: message.id
              });
            }}
          />
        </>
      ) : (
        <TransientNote className="jp-hdspAgent-queue-editor">
          <textarea
            autoFocus
            className="jp-hdspAgent-queue-field"
            dir="auto"
            aria-label={trans.__('Queued message')}
            rows={3}
            value={text}
            readOnly={isBusy}
            onChange={event => onEdit(event.target.value)}
            // Escape leaves the panel elsewhere.
            data-lm-suppress-shortcuts="true"
            onKeyDown={event => {
              if (event.key === 'Escape' && !isComposing(event.nativeEvent)) {
                event.stopPropagation();
                onEdit(null);
              }
            }}
          />
          <div className="jp-hdspAgent-actions">
            <button
              type="button"
              className="jp-hdspAgent-button jp-mod-accept"
              // A disabled button would lose the focus.
              aria-disabled={isBusy || isEmpty}
              onClick={save}
            >
              {isBusy ? trans.__('Saving…') : trans.__('Save')}
            </button>
            <button
              type="button"
              className="jp-hdspAgent-button"
              aria-disabled={isBusy}
              onClick={() => !isBusy && onEdit(null)}
            >
              {trans.__('Cancel')}
            </button>
          </div>
        </TransientNote>
      )}
      {error && (
        <p className="jp-hdspAgent-composer-error" role="alert">
          {errorText(trans, error)}
        </p>
      )}
    </li>
  );
}

import * as React from 'react';

import { isComposing } from '../../ui/inputmethod';
import type { ClineMessage } from '../../generated/wire';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { saidIn } from '../../state/panel/attachments';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { editMessage } from './conversationchanges';
import { MessageEdits } from './messageedits';

/**
 * Where one writes what is said in place of a message. What went along with
 * the message goes along again.
 */
export function MessageEditor({
  message,
  taskId,
  text
}: {
  message: ClineMessage;
  taskId: string;

  /**
   * What is written so far.
   */
  text: string;
}): JSX.Element {
  const services = usePanel();
  const { state, store, trans } = services;
  const { ts, images = [] } = message;
  const { isBusy, error, run } = useAction();
  const field = React.useRef<HTMLTextAreaElement>(null);
  const sendsOnEnter = useStore(
    store,
    ({ state }) => state?.settings?.enterBehavior !== 'newline'
  );
  const edits = MessageEdits.of(state);
  const { attachments } = saidIn(message);
  const isEmpty =
    text.trim() === '' && attachments.length === 0 && images.length === 0;
  React.useLayoutEffect(() => {
    const element = field.current;
    element?.focus();
    element?.setSelectionRange(element.value.length, element.value.length);
  }, []);
  const send = () =>
    void run(async () => {
      if (isEmpty) {
        return;
      }
      const said = { text: text.trim(), images, attachments };
      if (await editMessage(services, taskId, ts, said)) {
        edits.end(taskId, ts);
      }
    });
  const onKeyDown = (event: React.KeyboardEvent) => {
    const { key, shiftKey, ctrlKey, metaKey, nativeEvent } = event;
    if (isComposing(nativeEvent)) {
      return;
    }
    if (key === 'Escape') {
      event.stopPropagation();
      edits.end(taskId, ts);
    } else if (
      key === 'Enter' &&
      (ctrlKey || metaKey || (sendsOnEnter && !shiftKey))
    ) {
      event.preventDefault();
      send();
    }
  };
  return (
    <div
      className="jp-hdspAgent-changes-editor"
      // Escape ends the edit; to Lab it means to leave the panel.
      data-lm-suppress-shortcuts="true"
    >
      <textarea
        ref={field}
        dir="auto"
        aria-label={trans.__('What to send instead of this message')}
        value={text}
        readOnly={isBusy}
        onChange={({ target }) => edits.write(taskId, ts, target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="jp-hdspAgent-ask-buttons">
        <button
          type="button"
          className="jp-hdspAgent-button jp-mod-accept"
          aria-disabled={isBusy || isEmpty}
          onClick={send}
        >
          {isBusy ? trans.__('Sending…') : trans.__('Send again…')}
        </button>
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => edits.end(taskId, ts)}
        >
          {trans.__('Cancel')}
        </button>
      </div>
      <ProblemNote error={error} />
    </div>
  );
}

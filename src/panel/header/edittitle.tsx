import * as React from 'react';

import { isComposing } from '../../ui/inputmethod';
import type { HistoryItem } from '../../generated/wire';
import { usePanel } from '../../ui/services';
import { titleOf } from '../../ui/conversations/opentasks';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';

/**
 * What the conversation is called; a click on it lets one call it something else.
 */
export function EditTitle({ item }: { item: HistoryItem }): JSX.Element {
  const { client, trans } = usePanel();
  const [typed, setTyped] = React.useState<string | null>(null);
  const action = useAction();
  const button = React.useRef<HTMLButtonElement>(null);
  const title = titleOf(item, trans);

  const leave = () => {
    setTyped(null);
    action.clear();
  };
  const save = async (isLeft: boolean) => {
    const name = (typed ?? '').trim();
    const isSame = name === (item.title ?? '') || name === title;
    const isDone =
      isSame ||
      (await action.run(() =>
        client.request({ type: 'renameTask', taskId: item.id, title: name })
      ));
    if (isDone) {
      leave();
      if (!isLeft) {
        requestAnimationFrame(() => button.current?.focus());
      }
    }
  };
  if (typed === null) {
    return (
      <h3 className="jp-hdspAgent-taskTitle">
        <button
          ref={button}
          type="button"
          dir="auto"
          title={trans.__('%1 (click to rename)', title)}
          onClick={() => setTyped(title)}
        >
          {title}
        </button>
      </h3>
    );
  }
  return (
    <div className="jp-hdspAgent-taskTitle">
      <input
        autoFocus
        type="text"
        dir="auto"
        className="jp-hdspAgent-input"
        aria-label={trans.__('Title of the conversation')}
        placeholder={trans.__('Leave empty for the automatic title')}
        value={typed}
        disabled={action.isBusy}
        onFocus={event => event.currentTarget.select()}
        onChange={event => setTyped(event.currentTarget.value)}
        onBlur={() => void save(true)}
        onKeyDown={event => {
          // An input method takes Enter and Escape for itself.
          if (isComposing(event.nativeEvent)) {
            return;
          }
          if (event.key === 'Enter') {
            event.preventDefault();
            void save(false);
          } else if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            leave();
            requestAnimationFrame(() => button.current?.focus());
          }
        }}
      />
      <ProblemNote error={action.error} />
    </div>
  );
}

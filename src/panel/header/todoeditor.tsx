import { addIcon, closeIcon } from '@jupyterlab/ui-components';
import { UUID } from '@lumino/coreutils';
import * as React from 'react';

import { isComposing } from '../../ui/inputmethod';
import type { TodoItem, TodoStatus } from '../../generated/wire';
import { usePanel } from '../../ui/services';
import { IconButton } from '../../ui/controls/iconbutton';
import { ProblemNote } from '../../ui/controls/problemnote';
import { todoStatusText } from './todotexts';
import { Select } from '../../ui/controls/select';
import { useAction } from '../../ui/useaction';

const STATUSES: readonly TodoStatus[] = ['pending', 'in_progress', 'completed'];

/**
 * The plan as a form. The agent is told what the person made of it; until
 * then nothing is different.
 */
export function TodoEditor({
  taskId,
  todos,
  onDone
}: {
  readonly taskId: string;
  readonly todos: readonly TodoItem[];
  readonly onDone: () => void;
}): JSX.Element {
  const { client, trans } = usePanel();
  const [items, setItems] = React.useState<readonly TodoItem[]>(todos);
  const action = useAction();
  const form = React.useRef<HTMLFormElement>(null);
  React.useEffect(() => {
    form.current?.querySelector('input')?.focus();
  }, []);
  const change = (id: string, part: Partial<TodoItem>) =>
    setItems(items.map(item => (item.id === id ? { ...item, ...part } : item)));
  const add = () =>
    setItems([...items, { id: UUID.uuid4(), content: '', status: 'pending' }]);
  const save = async () => {
    const kept = items
      .map(item => ({ ...item, content: item.content.trim() }))
      .filter(({ content }) => content !== '');
    const isDone = await action.run(() =>
      client.request({
        type: 'updateTodoList',
        taskId,
        payload: { todos: kept }
      })
    );
    if (isDone) {
      onDone();
    }
  };
  return (
    <form
      ref={form}
      className="jp-hdspAgent-todoEditor"
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && !isComposing(event.nativeEvent)) {
          event.stopPropagation();
          onDone();
        }
      }}
    >
      <ol className="jp-hdspAgent-todos-list">
        {items.map((item, index) => (
          <li key={item.id} className="jp-hdspAgent-todo">
            <Select
              aria-label={trans.__('Status of item %1', index + 1)}
              value={item.status}
              onChange={event =>
                change(item.id, {
                  status: event.currentTarget.value as TodoStatus
                })
              }
            >
              {STATUSES.map(status => (
                <option key={status} value={status}>
                  {todoStatusText(status, trans)}
                </option>
              ))}
            </Select>
            <input
              type="text"
              dir="auto"
              className="jp-hdspAgent-input"
              aria-label={trans.__('Item %1', index + 1)}
              value={item.content}
              autoFocus={item.content === ''}
              onChange={event =>
                change(item.id, { content: event.currentTarget.value })
              }
            />
            <IconButton
              icon={closeIcon}
              label={trans.__('Remove item %1', index + 1)}
              onClick={() => setItems(items.filter(({ id }) => id !== item.id))}
            />
          </li>
        ))}
      </ol>
      <ProblemNote error={action.error} />
      <div className="jp-hdspAgent-actions">
        <button
          type="submit"
          className="jp-hdspAgent-button"
          disabled={action.isBusy}
        >
          {action.isBusy ? trans.__('Saving…') : trans.__('Save the plan')}
        </button>
        <button type="button" className="jp-hdspAgent-button" onClick={onDone}>
          {trans.__('Cancel')}
        </button>
        <IconButton
          icon={addIcon}
          label={trans.__('Add an item')}
          onClick={add}
        />
      </div>
    </form>
  );
}

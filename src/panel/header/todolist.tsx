import {
  caretDownIcon,
  caretRightIcon,
  checkIcon,
  circleEmptyIcon,
  circleIcon
} from '@jupyterlab/ui-components';
import type { LabIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { TodoItem, TodoStatus } from '../../generated/wire';
import { usePanel } from '../../ui/services';
import { TodoEditor } from './todoeditor';
import { todoStatusText } from './todotexts';

/**
 * The agent's plan: folded to what it is at, unfolded to all of it.
 */
export function TodoList({
  taskId,
  todos
}: {
  taskId: string;
  todos: readonly TodoItem[];
}): JSX.Element {
  const { trans } = usePanel();
  const [isOpen, setOpen] = React.useState(false);
  const [isEditing, setEditing] = React.useState(false);
  const button = React.useRef<HTMLButtonElement>(null);
  const wasEditing = React.useRef(false);
  React.useLayoutEffect(() => {
    // What had the focus is gone with the form.
    if (wasEditing.current && document.activeElement === document.body) {
      button.current?.focus();
    }
    wasEditing.current = isEditing;
  }, [isEditing]);
  const id = React.useId();
  const done = todos.filter(({ status }) => status === 'completed').length;
  const current = currentText(todos, trans);
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  return (
    <section className="jp-hdspAgent-todos" aria-label={trans.__('Plan')}>
      <button
        type="button"
        className="jp-hdspAgent-todos-head"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Caret.react tag="span" aria-hidden="true" width="16px" height="16px" />
        <span className="jp-hdspAgent-todos-count">
          {trans.__('Plan: %1 of %2 done', done, todos.length)}
        </span>
        <span className="jp-hdspAgent-todos-current" dir="auto" title={current}>
          {current}
        </span>
      </button>
      <progress
        className="jp-hdspAgent-progress jp-hdspAgent-todos-progress"
        aria-label={trans.__('Plan progress')}
        max={todos.length}
        value={done}
      />
      {isOpen && (
        <div id={id} className="jp-hdspAgent-todos-body">
          {isEditing ? (
            <TodoEditor
              taskId={taskId}
              todos={todos}
              onDone={() => setEditing(false)}
            />
          ) : (
            <>
              <ol className="jp-hdspAgent-todos-list">
                {todos.map(todo => (
                  <Todo key={todo.id} todo={todo} />
                ))}
              </ol>
              <button
                ref={button}
                type="button"
                className="jp-hdspAgent-button"
                onClick={() => setEditing(true)}
              >
                {trans.__('Change the plan')}
              </button>
            </>
          )}
        </div>
      )}
    </section>
  );
}

const ICONS: Readonly<Record<TodoStatus, LabIcon>> = {
  pending: circleEmptyIcon,
  in_progress: circleIcon,
  completed: checkIcon
};

function Todo({ todo }: { todo: TodoItem }): JSX.Element {
  const { trans } = usePanel();
  const Icon = ICONS[todo.status];
  const status = todoStatusText(todo.status, trans);
  return (
    <li
      className="jp-hdspAgent-todo"
      data-status={todo.status}
      aria-current={todo.status === 'in_progress' ? 'step' : undefined}
    >
      <span role="img" aria-label={status} title={status}>
        <Icon.react tag="span" width="14px" height="14px" />
      </span>
      <span className="jp-hdspAgent-todo-text" dir="auto">
        {todo.content}
      </span>
    </li>
  );
}

/**
 * What the agent is at, or is to do next.
 */
function currentText(
  todos: readonly TodoItem[],
  trans: TranslationBundle
): string {
  const current =
    todos.find(({ status }) => status === 'in_progress') ??
    todos.find(({ status }) => status === 'pending');
  return current?.content ?? trans.__('all done');
}

import * as React from 'react';

import type { TodoItem, TodoStatus } from '../../../generated/wire';
import { usePanel } from '../../../ui/services';
import { readJson } from '../../../ui/texts/readjson';
import type { IRowContent } from './rowcontent';
import type { Tool } from '../toolrows/tooltexts';

/**
 * The plan as the person changed it.
 */
export function TodosRow({ message }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const { todos } =
    readJson<{ todos: Partial<TodoItem>[] }>(message.text) ?? {};
  return (
    <div className="jp-hdspAgent-chat-note">
      <div>{trans.__('You changed the plan')}</div>
      <Checklist
        items={(todos ?? []).map(({ content, status }) => ({
          content: content ?? '',
          status: status ?? 'pending'
        }))}
      />
    </div>
  );
}

type Item = Pick<TodoItem, 'content' | 'status'>;

/**
 * A plan, item by item. What is done says so by its mark and in words.
 */
export function Checklist({
  items
}: {
  items: readonly Item[];
}): JSX.Element | null {
  const { trans } = usePanel();
  if (items.length === 0) {
    return null;
  }
  const labels: Readonly<Record<TodoStatus, string>> = {
    completed: trans.__('Done:'),
    in_progress: trans.__('In progress:'),
    pending: trans.__('To do:')
  };
  return (
    <ul className="jp-hdspAgent-checklist">
      {items.map(({ content, status }, index) => (
        <li key={index} data-status={status}>
          <span aria-hidden="true">{MARKS[status]}</span>
          <span className="jp-hdspAgent-announcement">
            {labels[status]}
          </span>{' '}
          <span dir="auto">{content}</span>
        </li>
      ))}
    </ul>
  );
}

/**
 * The items of a plan the agent wrote.
 */
export function parseChecklist(tool: Tool): Item[] {
  const { todos } = tool as { todos?: Partial<TodoItem>[] };
  if (Array.isArray(todos)) {
    return todos.map(({ content, status }) => ({
      content: content ?? '',
      status: status ?? 'pending'
    }));
  }
  return [...(tool.content ?? '').matchAll(ITEM)].map(([, mark, content]) => ({
    content: content.trim(),
    status: STATUSES[mark.toLowerCase()] ?? 'pending'
  }));
}

const ITEM = /^\s*(?:[-*]\s*)?\[([ xX\-~])\]\s*(.*)$/gm;
const STATUSES: Readonly<Record<string, TodoStatus>> = {
  x: 'completed',
  '-': 'in_progress',
  '~': 'in_progress'
};
const MARKS: Readonly<Record<TodoStatus, string>> = {
  completed: '☑',
  in_progress: '◐',
  pending: '☐'
};

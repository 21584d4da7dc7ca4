import {
  caretDownIcon,
  caretRightIcon,
  notebookIcon
} from '@jupyterlab/ui-components';
import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';

import type { HistoryItem, TodoItem } from '../../generated/wire';
import { externalAgent } from '../../state/externalagent';
import { modeName } from '../../ui/texts/modenames';
import { useStore } from '../../ui/hooks';
import { openPlace } from '../../ui/controls/openplace';
import { usePanel } from '../../ui/services';
import { plainName } from '../../ui/texts/visibletext';
import { showConversation } from '../../ui/conversations/conversationactions';
import { agentSentence } from './agentwords';
import type { IContextUse } from './contextmeter';
import { ContextBar, ContextMeter, ContextShare } from './contextmeter';
import { useFamilyCosts } from './costs';
import { EditTitle } from './edittitle';
import { costText } from '../../ui/texts/formats';
import { IconButton } from '../../ui/controls/iconbutton';
import { useContextWindow } from './contextwindow';
import { KernelState } from './kernelstate';
import { ProblemNote } from '../../ui/controls/problemnote';
import { TaskFacts } from './taskfacts';
import { TaskMenu } from './taskmenu';
import { TodoList } from './todolist';
import { useAction } from '../../ui/useaction';

const NO_TODOS: readonly TodoItem[] = [];

/**
 * What the conversation on screen is, what it used, its plan, and its menu; nothing when none is on screen.
 */
export function TaskHeader(): JSX.Element | null {
  const { store } = usePanel();
  const item = useStore(store, ({ state }) => state?.currentTaskItem);
  return item === undefined ? null : <Header key={item.id} item={item} />;
}

function Header({ item }: { item: HistoryItem }): JSX.Element {
  const { store, trans } = usePanel();
  const todos =
    useStore(store, ({ state }) => state?.currentTaskTodos) ?? NO_TODOS;
  const used =
    useStore(store, ({ state }) => state?.tokenUsage?.contextTokens) ?? 0;
  const cost =
    useStore(store, ({ state }) => state?.tokenUsage?.totalCost) ??
    item.totalCost;
  const room = useContextWindow(item.apiConfigName);
  const family = useFamilyCosts(item);
  const [isOpen, setOpen] = React.useState(false);
  const id = React.useId();
  // What a program of another maker reads and spends, nobody knows here.
  const isOurs = item.externalAgent === undefined;
  const use: IContextUse = { used, ...room };
  const total = cost + (family?.childrenCost ?? 0);
  return (
    <section
      className="jp-hdspAgent-task"
      aria-label={trans.__('This conversation')}
    >
      <div className="jp-hdspAgent-task-line">
        <IconButton
          icon={isOpen ? caretDownIcon : caretRightIcon}
          label={trans.__('Details of this conversation')}
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setOpen(!isOpen)}
        />
        <Bound item={item} />
        {isOurs && <Mode item={item} />}
        <span className="jp-hdspAgent-task-figures">
          {isOurs && !isOpen && <ContextBar use={use} />}
          {isOurs && <ContextShare use={use} />}
          {total > 0 && (
            <span
              className="jp-hdspAgent-task-cost"
              title={trans.__('Cost of this conversation')}
            >
              {costText(total)}
            </span>
          )}
        </span>
        <TaskMenu />
      </div>
      <Relatives item={item} />
      {isOpen && (
        <div id={id} className="jp-hdspAgent-task-details">
          <EditTitle item={item} />
          {isOurs && <ContextMeter taskId={item.id} use={use} />}
          <TaskFacts item={item} family={family} />
        </div>
      )}
      {todos.length > 0 && <TodoList taskId={item.id} todos={todos} />}
    </section>
  );
}

/**
 * The notebook the conversation is about.
 */
function Bound({ item }: { item: HistoryItem }): JSX.Element | null {
  const services = usePanel();
  const { documents, trans } = services;
  const path = item.notebook?.path;
  const name = path === undefined ? null : plainName(PathExt.basename(path));
  const [gone, setGone] = React.useState<string | null>(null);
  const { error, run } = useAction();
  const sentence = useAgentSentence(name);
  if (path === undefined) {
    return sentence === null ? null : (
      <span className="jp-hdspAgent-task-agent">{sentence}</span>
    );
  }
  const open = () =>
    void run(async () =>
      setGone((await openPlace(services, path)) ? null : path)
    );
  return (
    <>
      <button
        type="button"
        className="jp-hdspAgent-task-notebook"
        aria-label={
          sentence ?? trans.__('Open the notebook %1', plainName(path))
        }
        title={plainName(path)}
        disabled={documents === null}
        onClick={open}
      >
        <notebookIcon.react
          tag="span"
          aria-hidden="true"
          width="14px"
          height="14px"
        />
        <span>{sentence ?? name}</span>
      </button>
      {/* A sentence needs the room. */}
      {sentence === null && <KernelState path={path} />}
      {gone === path && (
        <span className="jp-hdspAgent-chat-trouble" role="alert">
          {trans.__('%1 no longer exists.', plainName(path))}
        </span>
      )}
      <ProblemNote error={error} />
    </>
  );
}

/**
 * What another agent does, in its conversation; `null` in one of ours.
 *
 * @param notebook - The name of the notebook it is about.
 */
function useAgentSentence(notebook: string | null): string | null {
  const { store, trans } = usePanel();
  const agent = useStore(store, externalAgent);
  const status = useStore(store, ({ state }) => state?.currentTaskStatus);
  return agent && agentSentence(plainName(agent), notebook, status, trans);
}

function Mode({ item }: { item: HistoryItem }): JSX.Element | null {
  const { store, trans } = usePanel();
  const current = useStore(store, ({ state }) => state?.mode);
  const own = useStore(store, ({ state }) => state?.customModes);
  const slug = item.mode ?? current;
  if (slug === undefined) {
    return null;
  }
  const name = modeName(trans, slug, own);
  return (
    <span className="jp-hdspAgent-task-mode" title={trans.__('Mode: %1', name)}>
      {name}
    </span>
  );
}

/**
 * Ways to the conversation this one is part of, and to the part that is worked on.
 */
function Relatives({ item }: { item: HistoryItem }): JSX.Element | null {
  const services = usePanel();
  const { trans } = services;
  const action = useAction();
  const parent = item.parentTaskId;
  const child =
    item.awaitingChildId ?? item.delegatedToId ?? item.childIds?.at(-1);
  if (parent === undefined && child === undefined) {
    return null;
  }
  const goTo = (taskId: string) =>
    void action.run(() => showConversation(services, taskId));
  return (
    <div className="jp-hdspAgent-task-line jp-mod-relatives">
      {parent !== undefined && (
        <button
          type="button"
          className="jp-hdspAgent-link"
          disabled={action.isBusy}
          onClick={() => goTo(parent)}
        >
          {trans.__('Back to the parent conversation')}
        </button>
      )}
      {child !== undefined && (
        <button
          type="button"
          className="jp-hdspAgent-link"
          disabled={action.isBusy}
          onClick={() => goTo(child)}
        >
          {item.awaitingChildId !== undefined
            ? trans.__('View the running subtask')
            : trans.__('View the last subtask')}
        </button>
      )}
      <ProblemNote error={action.error} />
    </div>
  );
}

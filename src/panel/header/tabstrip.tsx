import {
  addIcon,
  bellIcon,
  checkIcon,
  circleEmptyIcon,
  closeIcon,
  errorIcon,
  pauseIcon,
  refreshIcon
} from '@jupyterlab/ui-components';
import type { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { OpenTask } from '../../generated/wire';
import { focusComposer } from '../../ui/focuscomposer';
import { usePanelState, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import {
  beginConversation,
  closeConversation,
  renameConversation,
  showConversation
} from '../../ui/conversations/conversationactions';
import { IconButton } from '../../ui/controls/iconbutton';
import { pastIcon } from '../../ui/icons/conversationicons';
import type { OpenTaskPhase } from '../../ui/conversations/opentasks';
import {
  openTasks,
  phaseOf,
  phaseText,
  plainTitle
} from '../../ui/conversations/opentasks';
import { ProblemNote } from '../../ui/controls/problemnote';
import type { IAction, IActionQueue } from '../../ui/useaction';
import { useAction, useActionQueue } from '../../ui/useaction';
import { ConnectionState } from '../../ui/controls/connectionstate';

/**
 * The tab of a conversation that has not begun, which no server knows.
 */
const EMPTY = '';

/**
 * The open conversations, and a way to begin another.
 */
export function TabStrip(): JSX.Element | null {
  const services = usePanel();
  const { state: panel, store, trans } = services;
  const page = usePanelState(panel, ({ page }) => page);
  const phase = useStore(store, ({ connection }) => connection.phase);
  // What one clicks next is not lost while a conversation is being stopped.
  const queue = useActionQueue();
  // The first click of a double click shows the conversation, which may take
  // longer than the second click.
  const renaming = useAction();
  const showHistory = () => {
    panel.page = page === 'history' ? 'chat' : 'history';
  };
  return (
    <div className="jp-hdspAgent-strip">
      <div className="jp-hdspAgent-strip-line">
        <Tabs
          isChat={page === 'chat'}
          add={queue.add}
          runRename={renaming.run}
        />
        {phase !== 'open' && <ConnectionState phase={phase} trans={trans} />}
        <IconButton
          icon={addIcon}
          label={trans.__('New conversation')}
          disabled={queue.isBusy}
          onClick={() => void queue.add(() => beginConversation(services))}
        />
        <IconButton
          icon={pastIcon}
          label={trans.__('Past conversations')}
          aria-pressed={page === 'history'}
          onClick={showHistory}
        />
      </div>
      <ProblemNote error={queue.error ?? renaming.error} />
    </div>
  );
}

/**
 * The tabs alone.
 */
function Tabs({
  isChat,
  add,
  runRename
}: {
  isChat: boolean;
  add: IActionQueue['add'];
  runRename: IAction['run'];
}): JSX.Element {
  const services = usePanel();
  const { store, state: panel, trans } = services;
  const tasks = useStore(store, openTasks);
  const current = useStore(store, ({ state }) => state?.currentTaskId) ?? EMPTY;
  const list = React.useRef<HTMLDivElement>(null);
  const isEmptyShown = current === EMPTY && tasks.length > 0;
  const ids = tasks.map(({ taskId }) => taskId);
  const all = isEmptyShown ? [...ids, EMPTY] : ids;
  const reached = all.includes(current) ? current : all[0];
  useReveal(list, current);
  const keepFocus = useKeptFocus(list, tasks);

  const show = React.useCallback(
    (taskId: string) => {
      if (taskId === EMPTY) {
        panel.page = 'chat';
      } else {
        void add(() => showConversation(services, taskId));
      }
    },
    [add, panel, services]
  );
  const close = React.useCallback(
    (task: OpenTask) => {
      keepFocus(task.taskId);
      void add(() =>
        closeConversation(services, {
          taskId: task.taskId,
          title: plainTitle(task.title, services.trans, task.pictures)
        })
      );
    },
    [add, keepFocus, services]
  );
  const rename = React.useCallback(
    ({ taskId, title, pictures }: OpenTask) =>
      void runRename(() =>
        renameConversation(services, {
          taskId,
          title: plainTitle(title, services.trans, pictures)
        })
      ),
    [runRename, services]
  );
  const focus = (index: number) => {
    const tabs = list.current?.querySelectorAll<HTMLElement>('[role="tab"]');
    tabs?.item((index + all.length) % all.length).focus();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const tab = (event.target as HTMLElement).closest('[role="tab"]');
    const index = all.indexOf(tab?.getAttribute('data-task') ?? EMPTY);
    const to = destination(event.key, index, all.length);
    if (to !== null) {
      focus(to);
    } else if (event.key === 'Delete' && index < tasks.length) {
      close(tasks[index]);
    } else if (event.key === 'F2' && index < tasks.length) {
      rename(tasks[index]);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={list}
      className="jp-hdspAgent-tabs"
      role={all.length > 0 ? 'tablist' : undefined}
      aria-label={all.length > 0 ? trans.__('Open conversations') : undefined}
      onKeyDown={onKeyDown}
    >
      {tasks.map(task => (
        <Tab
          key={task.taskId}
          task={task}
          isSelected={isChat && task.taskId === current}
          isReached={task.taskId === reached}
          onShow={show}
          onClose={close}
          onRename={rename}
        />
      ))}
      {all.length === 0 && (
        <span className="jp-hdspAgent-strip-title" aria-hidden="true">
          {trans.__('HDSP Agent')}
        </span>
      )}
      {isEmptyShown && (
        <button
          type="button"
          role="tab"
          className="jp-hdspAgent-tab"
          data-task={EMPTY}
          aria-selected={isChat}
          tabIndex={reached === EMPTY ? 0 : -1}
          onClick={() => show(EMPTY)}
        >
          <span className="jp-hdspAgent-tab-title">
            {trans.__('New conversation')}
          </span>
        </button>
      )}
    </div>
  );
}

/**
 * One open conversation.
 *
 * #### Notes
 * The cross is for pointers alone: nothing within a list of tabs may be
 * anything but a tab. The Delete key does the same, and so does the menu.
 */
const Tab = React.memo(function Tab({
  task,
  isSelected,
  isReached,
  onShow,
  onClose,
  onRename
}: {
  task: OpenTask;
  isSelected: boolean;
  isReached: boolean;
  onShow: (taskId: string) => void;
  onClose: (task: OpenTask) => void;
  onRename: (task: OpenTask) => void;
}): JSX.Element {
  const { trans } = usePanel();
  const phase = phaseOf(task);
  const Icon = ICONS[phase];
  const status = phaseText(phase, trans);
  const title = plainTitle(task.title, trans, task.pictures);
  const about = task.notebook
    ? trans.__('%1 (%2, %3)', title, status, task.notebook.path)
    : trans.__('%1 (%2)', title, status);
  return (
    <div className="jp-hdspAgent-tab-place" role="presentation">
      <button
        type="button"
        role="tab"
        className="jp-hdspAgent-tab"
        data-task={task.taskId}
        data-phase={phase}
        aria-label={trans.__('%1, %2', title, status)}
        aria-selected={isSelected}
        aria-keyshortcuts="Delete F2"
        tabIndex={isReached ? 0 : -1}
        title={about}
        onClick={() => onShow(task.taskId)}
        onDoubleClick={() => onRename(task)}
        onAuxClick={event => {
          if (event.button === 1) {
            event.preventDefault();
            onClose(task);
          }
        }}
      >
        <Icon.react
          tag="span"
          className="jp-hdspAgent-tab-phase"
          width="14px"
          height="14px"
        />
        <span className="jp-hdspAgent-tab-title" dir="auto">
          {title}
        </span>
      </button>
      <button
        type="button"
        className="jp-hdspAgent-tab-close"
        aria-hidden="true"
        aria-label={trans.__('Close “%1”', title)}
        tabIndex={-1}
        title={trans.__('Close')}
        onClick={() => onClose(task)}
      >
        <closeIcon.react tag="span" width="12px" height="12px" />
      </button>
    </div>
  );
});

const ICONS: Readonly<Record<OpenTaskPhase, LabIcon>> = {
  working: refreshIcon,
  asking: bellIcon,
  failed: errorIcon,
  paused: pauseIcon,
  done: checkIcon,
  resting: circleEmptyIcon
};

/**
 * Where a key leads from a tab; `null` if it is none that leads anywhere.
 */
function destination(key: string, index: number, count: number): number | null {
  switch (key) {
    case 'ArrowRight':
      return index + 1;
    case 'ArrowLeft':
      return index - 1;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}

/**
 * Bring the tab of what is on screen into sight.
 */
function useReveal(list: React.RefObject<HTMLElement>, taskId: string): void {
  React.useEffect(() => {
    const tabs = [...(list.current?.querySelectorAll('[role="tab"]') ?? [])];
    const tab = tabs.find(one => one.getAttribute('data-task') === taskId);
    // Not every environment lays anything out.
    tab?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
  }, [list, taskId]);
}

/**
 * Keeps the focus among the tabs when the one that has it goes; with the last
 * one it goes where one writes.
 *
 * @returns What to tell before, with the conversation that is to be closed.
 */
function useKeptFocus(
  list: React.RefObject<HTMLElement>,
  tasks: readonly OpenTask[]
): (taskId: string) => void {
  const { node } = usePanel();
  const leaving = React.useRef<string | null>(null);
  React.useEffect(() => {
    const gone = leaving.current;
    if (gone === null || tasks.some(({ taskId }) => taskId === gone)) {
      return;
    }
    leaving.current = null;
    if (document.activeElement === document.body) {
      const next = list.current?.querySelector<HTMLElement>('[tabindex="0"]');
      if (next) {
        next.focus();
      } else {
        focusComposer(node);
      }
    }
  }, [list, node, tasks]);
  return React.useCallback(taskId => {
    leaving.current = taskId;
  }, []);
}

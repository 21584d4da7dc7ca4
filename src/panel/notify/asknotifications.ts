import { Notification } from '@jupyterlab/apputils';
import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import type { Widget } from '@lumino/widgets';

import type { CommandStarted } from '../../generated/wire';
import { onPendingAsk, pendingAsk } from '../../state/pendingask';
import type { IPanelServices } from '../../ui/services';
import { plainTitle, quotedTitle } from '../../ui/conversations/opentasks';
import { openConversation } from '../../ui/conversations/openconversation';
import { showSystemNotification } from './systemnotifications';
import { plainName } from '../../ui/texts/visibletext';
import { awaitedCommand } from '../asks/runningcommand';
import { describeAsk, situationOf } from '../asks/asktexts';

/**
 * Tell the person that the agent waits for them: at the panel's icon always,
 * and by a notification when they cannot see it. When they cannot, they are
 * also told once of a command that the agent waits for long.
 *
 * @returns A disposable that ends it.
 */
export function notifyAsks(
  services: IPanelServices,
  panelWidget: Widget
): IDisposable {
  const watch = new Private.Watch(services, panelWidget);
  return new DisposableDelegate(() => watch.dispose());
}

/**
 * Which conversations wait for the person.
 */
export interface IWaitingTask {
  readonly taskId: string;
  readonly title: string;

  /**
   * The name of the other agent that waits; none for our own.
   */
  readonly agent?: string;
}

/**
 * The conversations that do not go on without the person, by what the server
 * says of all that are open.
 */
export function waitingTasks({
  store
}: Pick<IPanelServices, 'store'>): IWaitingTask[] {
  const { openTasks, currentTaskId, currentTaskItem } = store.state ?? {};
  const waiting = (openTasks ?? [])
    .filter(({ needsYou }) => needsYou)
    .map(({ externalAgent: agent, taskId, title }) => ({
      taskId,
      title,
      ...(agent !== undefined && { agent })
    }));
  const isCurrentListed = openTasks?.some(
    ({ taskId }) => taskId === currentTaskId
  );
  const ask = pendingAsk(store);
  if (
    currentTaskId &&
    !isCurrentListed &&
    ask &&
    Private.needsPerson(ask.ask)
  ) {
    const title = currentTaskItem?.title ?? currentTaskItem?.task ?? '';
    const agent = currentTaskItem?.externalAgent;
    waiting.push({
      taskId: currentTaskId,
      title,
      ...(agent !== undefined && { agent })
    });
  }
  return waiting;
}

/**
 * A namespace for private data.
 */
namespace Private {
  const BADGE = 'hdsp-agent-waiting';
  const LONGEST_TITLE = 60;

  /**
   * How long a command runs before it is told of, in milliseconds.
   */
  const LONG = 30_000;

  export class Watch {
    constructor(services: IPanelServices, panel: Widget) {
      this._services = services;
      this._panel = panel;
      this._caption = panel.title.caption;
      this._endWatching = onPendingAsk(services.store, this._look);
      services.store.changed.connect(this._look);
      services.state.changed.connect(this._look);
      MessageLoop.installMessageHook(panel, this._onPanel);
      document.addEventListener('visibilitychange', this._look);
      this._look();
    }

    dispose(): void {
      this._endWatching();
      this._services.store.changed.disconnect(this._look);
      this._services.state.changed.disconnect(this._look);
      MessageLoop.removeMessageHook(this._panel, this._onPanel);
      document.removeEventListener('visibilitychange', this._look);
      this._told.forEach(told => this._takeBack(told));
      this._told.clear();
      this._leaveCommand();
      this._showBadge(0);
    }

    private readonly _onPanel = (_: unknown, message: Message): boolean => {
      if (message.type === 'after-show' || message.type === 'after-hide') {
        this._look();
      }
      return true;
    };

    private readonly _look = (): void => {
      const waiting = waitingTasks(this._services);
      this._showBadge(waiting.length);
      const ids = new Set(waiting.map(({ taskId }) => taskId));
      for (const [taskId, told] of this._told) {
        if (!ids.has(taskId) || this._isSeen(taskId)) {
          this._takeBack(told);
          told.id = null;
        }
        if (!ids.has(taskId)) {
          this._told.delete(taskId);
        }
      }
      for (const task of waiting) {
        if (!this._told.has(task.taskId)) {
          this._told.set(task.taskId, this._notify(task));
        }
      }
      this._lookAtCommand();
    };

    private _lookAtCommand(): void {
      const { client, store } = this._services;
      const taskId = store.state?.currentTaskId;
      const command = taskId ? awaitedCommand(store) : null;
      if (command?.executionId !== this._command?.id) {
        this._leaveCommand();
        if (taskId && command && !this._notified.has(command.executionId)) {
          const left =
            this._startOf(command.executionId) + LONG - client.clock.now();
          const tell = () => this._notifyOfCommand(taskId, command);
          this._command = {
            id: command.executionId,
            timer: window.setTimeout(tell, Math.max(0, left)),
            told: null
          };
        }
      }
      if (taskId && this._command?.told && this._isSeen(taskId)) {
        this._takeBack(this._command.told);
        this._command.told = null;
      }
    }

    /**
     * When a command began, by the server's clock; now, where that is not known.
     */
    private _startOf(executionId: string): number {
      const { client, store } = this._services;
      for (let index = store.order.length - 1; index >= 0; index--) {
        const run = store.message(store.order[index])?.commandRun;
        if (run?.executionId === executionId) {
          return run.startedAt;
        }
      }
      return client.clock.now();
    }

    private _leaveCommand(): void {
      if (this._command) {
        window.clearTimeout(this._command.timer);
        if (this._command.told) {
          this._takeBack(this._command.told);
        }
      }
      this._command = null;
    }

    private _notifyOfCommand(
      taskId: string,
      { executionId, command }: CommandStarted
    ): void {
      this._notified.add(executionId);
      if (!this._command || this._isSeen(taskId)) {
        return;
      }
      const { trans } = this._services;
      const text = trans.__(
        'A command has been running for more than 30 seconds: %1',
        shortened(plainName(command))
      );
      const id = this._emit(taskId, text, 'info');
      this._command.told = {
        id,
        system: this._showSystemNotification(taskId, text)
      };
    }

    /**
     * Whether the person has the conversation before their eyes.
     */
    private _isSeen(taskId: string): boolean {
      const { store, state } = this._services;
      return (
        this._panel.isVisible &&
        !document.hidden &&
        state.page === 'chat' &&
        store.state?.currentTaskId === taskId
      );
    }

    private _notify(task: IWaitingTask): INotified {
      if (this._isSeen(task.taskId)) {
        return { id: null, system: null };
      }
      const text = this._sentence(task);
      const id = this._emit(task.taskId, text, 'warning');
      return { id, system: this._showSystemNotification(task.taskId, text) };
    }

    private _emit(
      taskId: string,
      text: string,
      type: 'info' | 'warning'
    ): string {
      const { trans } = this._services;
      return Notification.emit(text, type, {
        autoClose: false,
        actions: [
          {
            label: trans.__('Show'),
            caption: trans.__('Open the conversation in the panel'),
            displayType: 'accent',
            callback: () => openConversation(this._services, taskId)
          }
        ]
      });
    }

    private _sentence({ agent, taskId, title }: IWaitingTask): string {
      const { store, trans } = this._services;
      const plain = title === '' ? '' : plainTitle(title, trans);
      const short = shortened(plain);
      const ask =
        store.state?.currentTaskId === taskId ? pendingAsk(store) : null;
      const sentence =
        ask && describeAsk(ask, trans, situationOf(store)).sentence;
      if (agent !== undefined) {
        const name = plainName(agent);
        return sentence
          ? trans.__('%1 asks: %2', name, sentence)
          : trans.__('%1 is waiting for your answer.', name);
      }
      if (short === '') {
        return sentence ?? trans.__('HDSP Agent is waiting for your answer.');
      }
      return sentence !== null
        ? trans.__('%1 (%2)', sentence, short)
        : trans.__(
            'HDSP Agent is waiting for your answer in “%1”.',
            quotedTitle(short)
          );
    }

    private _showSystemNotification(
      taskId: string,
      body: string
    ): globalThis.Notification | null {
      return showSystemNotification(this._services.trans, taskId, body, () =>
        openConversation(this._services, taskId)
      );
    }

    private _takeBack({ id, system }: INotified): void {
      if (id !== null) {
        Notification.dismiss(id);
      }
      system?.close();
    }

    private _showBadge(count: number): void {
      if (count === this._count) {
        return;
      }
      this._count = count;
      const { title } = this._panel;
      const { trans } = this._services;
      // Lab keeps its own data there.
      const { [BADGE]: _, ...others } = title.dataset;
      title.dataset =
        count > 0 ? { ...others, [BADGE]: String(count) } : others;
      title.caption =
        count > 0
          ? trans._n(
              'HDSP Agent: %1 conversation is waiting for you',
              'HDSP Agent: %1 conversations are waiting for you',
              count
            )
          : this._caption;
    }

    private readonly _services: IPanelServices;
    private readonly _panel: Widget;
    private readonly _caption: string;
    private readonly _endWatching: () => void;
    private readonly _told = new Map<string, INotified>();
    private readonly _notified = new Set<string>();
    private _command: IAwaited | null = null;
    private _count = 0;
  }

  /**
   * The command the agent waits for, and what was told of it.
   */
  interface IAwaited {
    readonly id: string;
    readonly timer: number;
    told: INotified | null;
  }

  function shortened(text: string): string {
    return text.length > LONGEST_TITLE
      ? `${text.slice(0, LONGEST_TITLE - 1)}…`
      : text;
  }

  /**
   * Whether nothing goes on without an answer to a question of this kind.
   */
  export function needsPerson(ask: string): boolean {
    return ![
      'completion_result',
      'resume_completed_task',
      'resume_task'
    ].includes(ask);
  }

  /**
   * What was told about one conversation; the ids are gone when it was seen.
   */
  interface INotified {
    id: string | null;
    system: globalThis.Notification | null;
  }
}

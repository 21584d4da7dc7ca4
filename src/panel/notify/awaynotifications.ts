import type { IDisposable } from '@lumino/disposable';
import { DisposableDelegate } from '@lumino/disposable';

import type { OpenTask } from '../../generated/wire';
import { onPendingAsk } from '../../state/pendingask';
import type { AgentStore } from '../../state/store';
import { waitingTasks } from './asknotifications';
import type { OpenTaskPhase } from '../../ui/conversations/opentasks';
import {
  openTasks,
  phaseOf,
  plainTitle,
  quotedTitle
} from '../../ui/conversations/opentasks';
import type { IPanelServices } from '../../ui/services';
import { openConversation } from '../../ui/conversations/openconversation';
import type { SoundKind } from './sound';
import { playSound } from './sound';
import {
  offerSystemNotifications,
  showSystemNotification
} from './systemnotifications';
import { TabBadge } from './tabbadge';

/**
 * Tell a person who looks at another browser tab that the agent waits for them
 * or is done: in the tab's title and icon, by a system notification if they
 * allowed those, and by a sound if they want one.
 *
 * @returns A disposable that ends it.
 */
export function notifyWhileAway(services: IPanelServices): IDisposable {
  const watch = new Private.Watch(services);
  return new DisposableDelegate(() => watch.dispose());
}

/**
 * A namespace for private data.
 */
namespace Private {
  export class Watch {
    constructor(services: IPanelServices) {
      this._services = services;
      this._endWatching = onPendingAsk(services.store, this._look);
      services.store.changed.connect(this._look);
      document.addEventListener('visibilitychange', this._onVisibility);
      this._look();
    }

    dispose(): void {
      this._endWatching();
      this._services.store.changed.disconnect(this._look);
      document.removeEventListener('visibilitychange', this._onVisibility);
      this._forgetMissed();
      this._badge.dispose();
    }

    private readonly _look = (): void => {
      const { store } = this._services;
      if (store.state === null) {
        return;
      }
      const before = this._phases;
      const now = phases(this._services);
      this._phases = now;
      if (before === null) {
        // What was so when the page came is no news.
        return;
      }
      for (const [taskId, phase] of now) {
        const kind = newsOf(before.get(taskId), phase);
        if (kind !== null) {
          this._notify(taskId, kind);
        }
      }
      for (const [taskId, { kind }] of this._missed) {
        const phase = now.get(taskId);
        if (phase === undefined || newsOf('working', phase) !== kind) {
          this._forget(taskId);
        }
      }
    };

    private _notify(taskId: string, kind: SoundKind): void {
      this._play(taskId, kind);
      if (!document.hidden) {
        return;
      }
      this._forget(taskId);
      const system =
        kind === 'done'
          ? this._showSystemNotification(taskId, this._sentence(taskId))
          : null;
      this._missed.set(taskId, { kind, system });
      this._badge.count = this._missed.size;
    }

    private _showSystemNotification(
      taskId: string,
      text: string
    ): Notification | null {
      const { trans } = this._services;
      return showSystemNotification(trans, taskId, text, () =>
        openConversation(this._services, taskId)
      );
    }

    private _sentence(taskId: string): string {
      const { store, trans } = this._services;
      const task = tasks(store).find(task => task.taskId === taskId);
      const title = quotedTitle(
        plainTitle(task?.title ?? '', trans, task?.pictures)
      );
      return this._phases?.get(taskId) === 'failed'
        ? trans.__('HDSP Agent was stopped by an error in “%1”.', title)
        : trans.__('HDSP Agent is done with “%1”.', title);
    }

    private _play(taskId: string, kind: SoundKind): void {
      const { settings } = this._services.store.state ?? {};
      if (settings?.soundEnabled) {
        playSound(kind, settings.soundVolume, taskId).catch((reason: unknown) =>
          console.warn('HDSP Agent could not play a sound', reason)
        );
      }
    }

    private readonly _onVisibility = (): void => {
      if (document.hidden || this._missed.size === 0) {
        return;
      }
      this._forgetMissed();
      if (!this._isOffered) {
        this._isOffered = offerSystemNotifications(this._services);
      }
    };

    private _forgetMissed(): void {
      [...this._missed.keys()].forEach(taskId => this._forget(taskId));
    }

    private _forget(taskId: string): void {
      this._missed.get(taskId)?.system?.close();
      this._missed.delete(taskId);
      this._badge.count = this._missed.size;
    }

    private readonly _services: IPanelServices;
    private readonly _endWatching: () => void;
    private readonly _badge = new TabBadge();
    private readonly _missed = new Map<string, IMissed>();
    private _phases: ReadonlyMap<string, OpenTaskPhase> | null = null;
    private _isOffered = false;
  }

  /**
   * What somebody has not seen of a conversation yet.
   */
  interface IMissed {
    readonly kind: SoundKind;
    readonly system: Notification | null;
  }

  /**
   * What a person wants to know when a conversation gets from one phase into
   * another; `null` if that is nothing.
   */
  function newsOf(
    before: OpenTaskPhase | undefined,
    now: OpenTaskPhase
  ): SoundKind | null {
    if (now === 'asking') {
      return before === 'asking' ? null : 'needsYou';
    }
    const isOver = now === 'done' || now === 'failed';
    return isOver && (before === 'working' || before === 'asking')
      ? 'done'
      : null;
  }

  /**
   * The open conversations, and the one on screen where it is not among them.
   */
  function tasks(store: AgentStore): readonly OpenTask[] {
    const { currentTaskId, currentTaskItem, currentTaskStatus } =
      store.state ?? {};
    const open = openTasks(store);
    return !currentTaskId || open.some(task => task.taskId === currentTaskId)
      ? open
      : [
          ...open,
          {
            taskId: currentTaskId,
            title: currentTaskItem?.title ?? currentTaskItem?.task ?? '',
            status: currentTaskStatus ?? 'none',
            needsYou: false
          }
        ];
  }

  function phases(
    services: IPanelServices
  ): ReadonlyMap<string, OpenTaskPhase> {
    const waiting = new Set(waitingTasks(services).map(({ taskId }) => taskId));
    return new Map(
      tasks(services.store).map(task => [
        task.taskId,
        waiting.has(task.taskId) ? 'asking' : phaseOf(task)
      ])
    );
  }
}

import { Signal } from '@lumino/signaling';

import type { OpenTask } from '../../../generated/wire';

/**
 * What a page knows of open conversations, as a test says it.
 */
export class FakeStore {
  readonly changed = new Signal<this, void>(this);
  state: { readonly openTasks: readonly OpenTask[] } = { openTasks: [] };

  /**
   * A conversation is like this now.
   */
  tell(task: Partial<OpenTask> & Pick<OpenTask, 'taskId' | 'status'>): void {
    this.state = {
      openTasks: [{ title: task.taskId, needsYou: false, ...task }]
    };
    this.changed.emit();
  }
}

import { Signal } from '@lumino/signaling';

import type { OpenTask } from '../../../generated/wire';

/**
 * What a page knows of open conversations, as a test says it.
 */
export class FakeStore {
  readonly changed = new Signal<this, void>(this);
  state: { readonly openTasks: readonly OpenTask[] } = { openTasks: [] };

  /**
   * These conversations are open now.
   */
  tell(
    ...tasks: (Partial<OpenTask> & Pick<OpenTask, 'taskId' | 'status'>)[]
  ): void {
    this.state = {
      openTasks: tasks.map(task => ({
        title: task.taskId,
        needsYou: false,
        ...task
      }))
    };
    this.changed.emit();
  }
}

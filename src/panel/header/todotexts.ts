import type { TranslationBundle } from '@jupyterlab/translation';

import type { TodoStatus } from '../../generated/wire';

/**
 * What the status of an item is called.
 */
export function todoStatusText(
  status: TodoStatus,
  trans: TranslationBundle
): string {
  switch (status) {
    case 'pending':
      return trans.__('To do');
    case 'in_progress':
      return trans.__('In progress');
    case 'completed':
      return trans.__('Done');
  }
}

import type { TranslationBundle } from '@jupyterlab/translation';

import { pendingAsk } from '../../state/pendingask';
import type { AgentStore } from '../../state/store';
import type { Destination } from './sending';
import { destination } from './sending';

/**
 * What becomes of what is typed, as far as it is told in the empty field.
 */
export type Situation = Destination['kind'] | 'approval';

/**
 * What becomes of what is typed now.
 */
export function situation(store: AgentStore): Situation {
  const { kind } = destination(store);
  return kind === 'queue' && pendingAsk(store) !== null ? 'approval' : kind;
}

/**
 * What an empty field says.
 */
export function placeholderOf(
  situation: Situation,
  trans: TranslationBundle
): string {
  switch (situation) {
    case 'newTask':
      return trans.__('Ask the agent. @ names files and cells, / commands.');
    case 'answer':
      return trans.__('Answer, or say what to do next.');
    case 'queue':
      return trans.__('Say more. It waits until the agent has time.');
    case 'approval':
      return trans.__('Say more. It approves nothing by itself.');
    case 'goOn':
      return trans.__('Say how to go on.');
  }
}

/**
 * What sending is called.
 */
export function sendLabelOf(
  situation: Situation,
  isSending: boolean,
  trans: TranslationBundle
): string {
  if (isSending) {
    return trans.__('Sending…');
  }
  return situation === 'queue' || situation === 'approval'
    ? trans.__('Queue')
    : trans.__('Send');
}

import type { TranslationBundle } from '@jupyterlab/translation';

import { pendingAsk } from '../../state/pendingask';
import type { ClineAsk } from '../../generated/wire';
import type { AgentStore } from '../../state/store';
import type { Destination } from '../../state/panel/senddraft';
import { destination } from '../../state/panel/senddraft';

/**
 * What becomes of what is typed, as far as it is told in the empty field.
 */
export type ComposerState =
  Destination['kind'] | 'approval' | 'failure' | 'mistakes' | 'done';

/**
 * What becomes of what is typed now.
 */
export function composerState(store: AgentStore): ComposerState {
  const { kind } = destination(store);
  const ask = pendingAsk(store)?.ask;
  return kind === 'queue' && ask !== undefined
    ? 'approval'
    : kind === 'answer'
      ? Private.answered(ask)
      : kind;
}

/**
 * What an empty field says.
 *
 * @param agent - The name of the other agent whose conversation it is.
 */
export function placeholderOf(
  situation: ComposerState,
  trans: TranslationBundle,
  agent = ''
): string {
  switch (situation) {
    case 'newTask':
      return trans.__('Ask the agent (@ for context, / for commands)');
    case 'answer':
      return trans.__('Answer, or say what to do next');
    case 'queue':
      return trans.__('Queue a message');
    case 'approval':
      return trans.__("Add a note (doesn't approve)");
    case 'failure':
      return trans.__('Try again with a message');
    case 'mistakes':
      return trans.__('Say what it should do differently');
    case 'done':
      return trans.__("What's next?");
    case 'goOn':
      return trans.__('Say how to continue');
    case 'agent':
      return trans.__('Tell %1 (it reads this after its next step)', agent);
  }
}

/**
 * What sending is called.
 */
export function sendLabelOf(
  situation: ComposerState,
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

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What words are for that answer a question of this kind.
   */
  export function answered(ask: ClineAsk | undefined): ComposerState {
    switch (ask) {
      case 'api_req_failed':
        return 'failure';
      case 'mistake_limit_reached':
        return 'mistakes';
      case 'completion_result':
      case 'resume_completed_task':
        return 'done';
      case 'resume_task':
        return 'goOn';
      default:
        return 'answer';
    }
  }
}

import type { TranslationBundle } from '@jupyterlab/translation';

import type { TaskStatus } from '../../generated/wire';

/**
 * What another agent does in its conversation, in a sentence.
 *
 * @param agent - Its name.
 *
 * @param notebook - The name of the notebook it works on, if there is one.
 */
export function agentSentence(
  agent: string,
  notebook: string | null,
  status: TaskStatus | undefined,
  trans: TranslationBundle
): string {
  switch (status) {
    case 'running':
      return notebook === null
        ? trans.__('%1 is working', agent)
        : trans.__('%1 is working on %2', agent, notebook);
    case 'interactive':
      return notebook === null
        ? trans.__('%1 is waiting for you', agent)
        : trans.__('%1 is waiting for you in %2', agent, notebook);
    case 'idle':
      return notebook === null
        ? trans.__('%1 is connected', agent)
        : trans.__('%1 is connected to %2', agent, notebook);
    default:
      return notebook === null
        ? trans.__('%1 is no longer connected', agent)
        : trans.__('%1 worked on %2', agent, notebook);
  }
}

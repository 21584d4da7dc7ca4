import type { TranslationBundle } from '@jupyterlab/translation';

import type { GlobalSettings } from '../../../generated/wire';
import { plainName } from '../../../ui/texts/visibletext';
import type { ApprovedClass } from './approvedclasses';

/**
 * What becomes possible when these kinds of actions are done without asking, in
 * whole sentences; what reaches farthest comes first.
 */
export function possibilities(
  kinds: readonly ApprovedClass[],
  settings: GlobalSettings,
  trans: TranslationBundle
): readonly (readonly [name: ApprovedClass, sentence: string])[] {
  const names = Object.keys(Private.SENTENCES) as ApprovedClass[];
  return names
    .filter(name => kinds.includes(name))
    .map(name => [name, Private.SENTENCES[name](trans, settings)]);
}

/**
 * A namespace for private data.
 */
namespace Private {
  const MOST_LISTED = 8;

  /**
   * Rules that fit every command.
   */
  const ANY: ReadonlySet<string> = new Set(['*', '**', ':*']);

  type Sentence = (
    trans: TranslationBundle,
    settings: GlobalSettings
  ) => string;

  /**
   * As the approval engine has it, what reaches farthest first. A kind without
   * words here does not compile.
   */
  export const SENTENCES: Readonly<Record<ApprovedClass, Sentence>> = {
    alwaysAllowRunCells: trans =>
      trans.__(
        'The agent runs any code in your kernels. Code can do what you can: change files anywhere, start programs, use the network.'
      ),
    alwaysAllowExecute: commands,
    alwaysAllowInstallPackages: trans =>
      trans.__(
        'The agent installs any package for your kernels. Packages can run code while they are installed.'
      ),
    alwaysAllowWriteOutsideWorkspace: trans =>
      trans.__('The agent can change any file that you can change, anywhere.'),
    alwaysAllowWriteProtected: trans =>
      trans.__(
        'The agent changes files that control it, such as AGENTS.md and .hdspignore.'
      ),
    alwaysAllowReadOnlyOutsideWorkspace: trans =>
      trans.__(
        'The agent reads any file you can read, including files with passwords and keys.'
      ),
    alwaysAllowNetwork: trans =>
      trans.__(
        'The agent fetches any web address. A request can leak your data, and a page can mislead the agent.'
      ),
    alwaysAllowMcp: trans =>
      trans.__(
        'The agent uses the MCP tools you always allow, and reads the resources your MCP servers list.'
      ),
    alwaysAllowWrite: trans =>
      trans.__(
        'The agent creates and changes files and notebook cells in the workspace. It can also delete cells.'
      ),
    alwaysAllowReadOnly: trans =>
      trans.__(
        'The agent reads any file, notebook or variable in the workspace. The model sees what it reads.'
      ),
    alwaysAllowModeSwitch: trans =>
      trans.__(
        'The agent switches to another mode, which may have more tools than this one.'
      ),
    alwaysAllowSubtasks: trans =>
      trans.__('The agent hands work to subtasks and takes their results.'),
    alwaysAllowFollowupQuestions: answers
  };

  function commands(
    trans: TranslationBundle,
    { allowedCommands }: GlobalSettings
  ): string {
    if (allowedCommands.length === 0) {
      return trans.__(
        "The agent runs the commands you allow. You haven't allowed any yet, so it still asks each time."
      );
    }
    if (allowedCommands.some(rule => ANY.has(rule.trim()))) {
      return trans.__(
        'The agent runs any command it can analyze, because your allowed commands include “*”.'
      );
    }
    const listed = allowedCommands.slice(0, MOST_LISTED).map(plainName);
    const left = allowedCommands.length - listed.length;
    const rules = listed.join(', ');
    return left > 0
      ? trans.__(
          'The agent runs commands that begin with: %1, and %2 more.',
          rules,
          left
        )
      : trans.__('The agent runs commands that begin with: %1.', rules);
  }

  function answers(
    trans: TranslationBundle,
    { followupAutoApproveTimeoutMs: time }: GlobalSettings
  ): string {
    return time === 0
      ? trans.__(
          'The waiting time is 0, so you still answer its questions yourself.'
        )
      : trans._n(
          'The agent takes its first suggested answer when you have not answered within %1 second.',
          'The agent takes its first suggested answer when you have not answered within %1 seconds.',
          Math.round(time / 1000)
        );
  }
}

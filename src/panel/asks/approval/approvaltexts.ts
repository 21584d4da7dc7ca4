import type { TranslationBundle } from '@jupyterlab/translation';

import type { ApprovalPreset, ApprovalScope, IApprovals } from './approvals';

/**
 * What a choice is called, and what it means in a line.
 */
export function presetTexts(
  preset: ApprovalPreset | 'custom',
  trans: TranslationBundle
): { readonly name: string; readonly meaning: string } {
  switch (preset) {
    case 'ask':
      return {
        name: trans._p('preset', 'Ask'),
        meaning: trans.__(
          'Reads what you have open and folders you trust. Asks before anything else.'
        )
      };
    case 'edit':
      return {
        name: trans.__('Edit freely'),
        meaning: trans.__('Edits cells and files. Asks before it runs code.')
      };
    case 'editAndRun':
      return {
        name: trans.__('Edit and run'),
        meaning: trans.__('Edits, and runs cells. Asks before shell commands.')
      };
    case 'everything':
      return {
        name: trans.__('Everything here'),
        meaning: trans.__(
          'Also runs allowed commands and tools. Asks before it leaves this workspace, installs or downloads.'
        )
      };
    case 'custom':
      return {
        name: trans.__('Custom'),
        meaning: trans.__('Choose action by action.')
      };
  }
}

/**
 * Where a choice holds.
 *
 * @param notebook - The name of the notebook, or of the other agent.
 */
export function scopeText(
  scope: ApprovalScope,
  notebook: string,
  trans: TranslationBundle
): string {
  switch (scope) {
    case 'conversation':
      return trans.__('This conversation');
    case 'notebook':
      return trans.__('Notebook %1', notebook);
    case 'program':
      return trans.__('All conversations of %1', notebook);
    case 'always':
      return trans.__('All conversations');
  }
}

/**
 * What the agent does without asking now, and where, in a sentence.
 *
 * @param notebook - The name of the notebook, or of the other agent.
 */
export function approvalsText(
  { preset, scope }: Pick<IApprovals, 'preset' | 'scope'>,
  notebook: string,
  trans: TranslationBundle
): string {
  const { name } = presetTexts(preset, trans);
  switch (scope) {
    case 'conversation':
      return trans.__('In this conversation: %1.', name);
    case 'notebook':
      return trans.__('In conversations about %1: %2.', notebook, name);
    case 'program':
      return trans.__('In all conversations of %1: %2.', notebook, name);
    case 'always':
      return trans.__('In all conversations: %1.', name);
  }
}

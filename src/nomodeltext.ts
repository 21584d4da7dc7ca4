import type { TranslationBundle } from '@jupyterlab/translation';

import type { LearningRound } from './generated/rest';

/**
 * Why nothing can be learned from conversations.
 */
export function noModelText(
  why: NonNullable<LearningRound['noModel']>,
  trans: TranslationBundle
): string {
  switch (why) {
    case 'not_set_up':
      return trans.__(
        'No model is set up to learn from conversations. Choose a provider in the settings first.'
      );
    case 'too_small':
      return trans.__(
        'The embedded model is too small to learn from conversations. Choose another one in the settings under “Profile for learning”. Notes still work.'
      );
  }
}

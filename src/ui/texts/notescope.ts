import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * For what a note counts.
 */
export function noteScope(
  scope: string | undefined,
  trans: TranslationBundle
): string | undefined {
  switch (scope) {
    case 'person':
      return trans.__('For all your conversations');
    case 'workspace':
      return trans.__('For this folder');
    case 'notebook':
      return trans.__('For this notebook');
    default:
      return undefined;
  }
}

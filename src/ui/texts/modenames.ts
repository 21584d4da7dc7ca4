import type { TranslationBundle } from '@jupyterlab/translation';

import type { ModeConfig } from '../../generated/wire';

/**
 * The modes everybody has, by name.
 */
export function modeNames(trans: TranslationBundle): Record<string, string> {
  return {
    code: trans._p('mode', 'Code'),
    architect: trans._p('mode', 'Architect'),
    ask: trans._p('mode', 'Ask'),
    debug: trans._p('mode', 'Debug'),
    orchestrator: trans._p('mode', 'Orchestrator')
  };
}

/**
 * What a mode is called: as a person named it, or as everybody's is translated.
 *
 * @param name - What it is called otherwise.
 */
export function modeName(
  trans: TranslationBundle,
  slug: string,
  own: readonly ModeConfig[] | undefined,
  name = slug
): string {
  return (
    own?.find(mode => mode.slug === slug)?.name ??
    modeNames(trans)[slug] ??
    name
  );
}

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ModeConfig } from '../generated/wire';

/**
 * The sections of the panel that no schema knows.
 */
export type OwnSection =
  | 'models'
  | 'keys'
  | 'embedded'
  | 'customModes'
  | 'slashCommands'
  | 'folders'
  | 'transfer';

/**
 * The heading of a section of our own.
 */
export function headingText(
  trans: TranslationBundle,
  section: OwnSection
): string {
  switch (section) {
    case 'models':
      return trans.__('Models and keys');
    case 'keys':
      return trans.__('Key storage');
    case 'embedded':
      return trans.__('Embedded models');
    case 'customModes':
      return trans.__('Custom modes');
    case 'slashCommands':
      return trans.__('Slash commands');
    case 'folders':
      return trans.__('Trusted folders');
    case 'transfer':
      return trans.__('Import, export, reset');
  }
}

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

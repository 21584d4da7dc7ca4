import type { TranslationBundle } from '@jupyterlab/translation';

import type { ModeConfig } from '../../generated/wire';

/**
 * The modes that everybody is offered first, in this order.
 */
export const MAIN_MODES: readonly string[] = ['code', 'ask', 'architect'];

/**
 * The modes everybody has, by name.
 *
 * #### Notes
 * Their slugs are older than these names; they are on the wire and in files.
 */
export function modeNames(trans: TranslationBundle): Record<string, string> {
  return {
    code: trans._p('mode', 'Agent'),
    architect: trans._p('mode', 'Plan'),
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

/**
 * What a mode does, in a line; empty where nobody says.
 */
export function modeDescription(
  trans: TranslationBundle,
  slug: string,
  own: readonly ModeConfig[] | undefined
): string {
  const mine = own?.find(mode => mode.slug === slug);
  if (mine !== undefined) {
    return mine.description ?? '';
  }
  const texts: Record<string, string> = {
    code: trans._p('mode', 'Edits and runs, asks first'),
    ask: trans._p('mode', 'Answers, changes nothing'),
    architect: trans._p('mode', 'Plans, then you decide'),
    debug: trans._p('mode', 'Finds the cause of an error, then fixes it'),
    orchestrator: trans._p('mode', 'Splits large work into subtasks')
  };
  return texts[slug] ?? '';
}

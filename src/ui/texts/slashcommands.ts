import type { TranslationBundle } from '@jupyterlab/translation';

import { slashCommandText } from '../../generated/commandText';
import type { Command } from '../../generated/wire';

/**
 * What a slash command does and what may follow it, in a line; empty where
 * nobody says. A command that a person wrote is in their own words.
 */
export function slashCommandDetail(
  { name, source, description, argumentHint }: Command,
  trans: TranslationBundle
): string {
  const built = source === 'built-in' ? slashCommandText(trans)[name] : null;
  return [
    built?.description ?? description,
    built?.argumentHint ?? argumentHint
  ]
    .filter(Boolean)
    .join(' — ');
}

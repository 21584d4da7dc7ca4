import type { TranslationBundle } from '@jupyterlab/translation';

import type { BroughtView } from '../generated/rest';
import { listText } from '../ui/texts/listtext';

const KINDS: readonly BroughtView['kind'][] = [
  'mode',
  'rules',
  'instructions',
  'command',
  'setting',
  'mcpServer'
];
const MOST_NAMES = 12;

/**
 * What a folder brings, in a line for each kind.
 */
export function folderContentLines(
  trans: TranslationBundle,
  brings: readonly BroughtView[]
): string[] {
  return KINDS.flatMap(kind => {
    const names = brings.filter(one => one.kind === kind).map(one => one.name);
    return names.length > 0 ? [line(trans, kind, names)] : [];
  });
}

function line(
  trans: TranslationBundle,
  kind: BroughtView['kind'],
  names: readonly string[]
): string {
  const count = names.length;
  const shown = listText(names.slice(0, MOST_NAMES), trans);
  const list =
    count > MOST_NAMES
      ? trans.__('%1 and %2 more', shown, count - MOST_NAMES)
      : shown;
  switch (kind) {
    case 'mode':
      return trans._n('%1 mode: %2', '%1 modes: %2', count, list);
    case 'rules':
      return trans._n('%1 rules file: %2', '%1 rules files: %2', count, list);
    case 'instructions':
      return trans._n(
        '%1 instructions file: %2',
        '%1 instructions files: %2',
        count,
        list
      );
    case 'command':
      return trans._n(
        '%1 slash command: %2',
        '%1 slash commands: %2',
        count,
        list
      );
    case 'setting':
      return trans._n('%1 setting: %2', '%1 settings: %2', count, list);
    case 'mcpServer':
      return trans._n('%1 MCP server: %2', '%1 MCP servers: %2', count, list);
  }
}

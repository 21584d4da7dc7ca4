import type { TranslationBundle } from '@jupyterlab/translation';

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
  | 'otherAgents'
  | 'mcpServers'
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
    case 'otherAgents':
      return trans.__('Other agents');
    case 'mcpServers':
      return trans.__('MCP servers');
    case 'transfer':
      return trans.__('Import, export, reset');
  }
}

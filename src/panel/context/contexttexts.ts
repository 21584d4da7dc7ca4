import type { TranslationBundle } from '@jupyterlab/translation';

import type { SeenContext } from '../../generated/rest';
import type { ContextKept } from '../../generated/wire';

/**
 * A part of a request, or of the room beside it.
 */
export interface IPart {
  readonly id: string;
  readonly name: string;
  readonly tokens: number;
}

/**
 * What a request is made of, in the order it is sent; parts that are not there
 * are left out.
 */
export function partsOf(
  { tokens, tools }: SeenContext,
  trans: TranslationBundle
): readonly IPart[] {
  const parts: IPart[] = [
    {
      id: 'system',
      name: trans.__('System prompt'),
      tokens: tokens.system
    },
    {
      id: 'tools',
      name: trans._n('%1 tool', '%1 tools', tools.length),
      tokens: tokens.tools
    },
    {
      id: 'summaries',
      name: trans.__('Summary of what came before'),
      tokens: tokens.summaries
    },
    {
      id: 'words',
      name: trans.__('Your messages and context'),
      tokens: tokens.words
    },
    {
      id: 'answers',
      name: trans.__("The agent's answers and tool calls"),
      tokens: tokens.answers
    },
    {
      id: 'outputs',
      name: trans.__('Tool outputs'),
      tokens: tokens.outputs
    },
    {
      id: 'pictures',
      name: trans.__('Images'),
      tokens: tokens.pictures
    }
  ];
  return parts.filter(part => part.tokens > 0);
}

/**
 * What kind of thing a condensation kept.
 */
export function keptName(
  { kind, count }: ContextKept,
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'messages':
      return trans._n(
        '%1 of your messages, unchanged',
        '%1 of your messages, unchanged',
        count
      );
    case 'requests':
      return trans._n(
        '%1 more of your messages, quoted',
        '%1 more of your messages, quoted',
        count
      );
    case 'goals':
      return trans._n('%1 goal', '%1 goals', count);
    case 'constraints':
      return trans._n('%1 constraint', '%1 constraints', count);
    case 'decisions':
      return trans._n('%1 decision', '%1 decisions', count);
    case 'todos':
      return trans._n('%1 open to-do', '%1 open to-dos', count);
    case 'files':
      return trans._n('%1 file name', '%1 file names', count);
    case 'cells':
      return trans._n('%1 cell', '%1 cells', count);
    case 'variables':
      return trans._n('%1 variable', '%1 variables', count);
    case 'commands':
      return trans._n('%1 command', '%1 commands', count);
  }
}

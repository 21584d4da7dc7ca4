import type { TranslationBundle } from '@jupyterlab/translation';

import type { ClineMessage, ClineSayTool } from '../../generated/wire';

/**
 * What the approval engine warns of.
 */
export type ApprovalFlag = NonNullable<ClineMessage['approvalFlags']>[number];

/**
 * Why one should look twice before one approves: what the engine warns of, and
 * what the action says of itself.
 */
export type AskFlag =
  ApprovalFlag | 'outside' | 'protected' | 'deletes_cells' | 'memory';

/**
 * A flag in words.
 */
export interface IFlagTexts {
  /**
   * A few words.
   */
  readonly label: string;

  /**
   * What that means, in a sentence.
   */
  readonly meaning: string;
}

/**
 * What to warn of on a message, the grave first.
 *
 * @param facts - What the action says of itself, besides what the engine found.
 */
export function flagsOn(
  { approvalFlags = [] }: Pick<ClineMessage, 'approvalFlags'>,
  facts: readonly AskFlag[] = []
): readonly AskFlag[] {
  const isSaid = approvalFlags.some(flag => Private.OUTSIDE.has(flag));
  const flags = new Set<AskFlag>([
    ...approvalFlags,
    // The engine says more exactly how it goes outside.
    ...facts.filter(fact => fact !== 'outside' || !isSaid)
  ]);
  return [...flags].sort((a, b) => Number(isSevere(b)) - Number(isSevere(a)));
}

/**
 * Whether a tool reaches out of the workspace, or for what steers the agent.
 */
export function placeFacts(
  tool: Partial<ClineSayTool>,
  isProtected: boolean | undefined
): AskFlag[] {
  const { batchFiles = [], batchDirs = [] } = tool;
  const facts: AskFlag[] = [];
  if (
    [tool, ...batchFiles, ...batchDirs].some(place => place.isOutsideWorkspace)
  ) {
    facts.push('outside');
  }
  if (isProtected || tool.isProtected) {
    facts.push('protected');
  }
  return facts;
}

/**
 * Whether it may do harm that nobody can undo.
 */
export function isSevere(flag: AskFlag): boolean {
  return Private.GRAVE.has(flag);
}

/**
 * Put a flag into words.
 */
export function flagTexts(flag: AskFlag, trans: TranslationBundle): IFlagTexts {
  // A newer server may warn of what this page has no words for.
  const words: Partial<typeof Private.TEXTS> = Private.TEXTS;
  return (words[flag] ?? Private.unknown)(trans);
}

/**
 * A namespace for private data.
 */
namespace Private {
  export const OUTSIDE: ReadonlySet<AskFlag> = new Set<AskFlag>([
    'reads_outside',
    'writes_outside'
  ]);

  export const GRAVE: ReadonlySet<AskFlag> = new Set<AskFlag>([
    'deletes_recursively',
    'network_to_shell',
    'as_other_user',
    'reads_secrets',
    'overwrites_history',
    'strange_characters',
    'mcp_changed',
    'memory'
  ]);

  export function unknown(trans: TranslationBundle): IFlagTexts {
    return {
      label: trans.__('Check carefully'),
      meaning: trans.__(
        'The server warns of something this page does not know. Reload the page to read it.'
      )
    };
  }

  /**
   * A flag without words here does not compile.
   */
  export const TEXTS: Readonly<
    Record<AskFlag, (trans: TranslationBundle) => IFlagTexts>
  > = {
    deletes_recursively: trans => ({
      label: trans.__('Deletes whole folders'),
      meaning: trans.__('It deletes folders with everything in them.')
    }),
    network_to_shell: trans => ({
      label: trans.__('Runs what it downloads'),
      meaning: trans.__('It runs what it downloads before anyone can read it.')
    }),
    as_other_user: trans => ({
      label: trans.__('Runs as another user'),
      meaning: trans.__(
        'It runs with the permissions of another user, such as root.'
      )
    }),
    reads_secrets: trans => ({
      label: trans.__('Reads passwords or keys'),
      meaning: trans.__(
        'It reads files that usually contain passwords or keys.'
      )
    }),
    reads_outside: trans => ({
      label: trans.__('Reads outside the workspace'),
      meaning: trans.__('It reads files outside the folder the agent works in.')
    }),
    writes_outside: trans => ({
      label: trans.__('Writes outside the workspace'),
      meaning: trans.__(
        'It can create, change or delete files outside the folder the agent works in.'
      )
    }),
    installs: trans => ({
      label: trans.__('Installs packages'),
      meaning: trans.__(
        'It installs software, which can run code while it is installed.'
      )
    }),
    uses_network: trans => ({
      label: trans.__('Uses the network'),
      meaning: trans.__('It can fetch and send data over the network.')
    }),
    runs_text: trans => ({
      label: trans.__('Runs code from a string'),
      meaning: trans.__(
        'It runs code that is written inside it as a string. Read that code too.'
      )
    }),
    runs_programs: trans => ({
      label: trans.__('Starts other programs'),
      meaning: trans.__(
        'The code starts programs. Your command rules do not check these.'
      )
    }),
    overwrites_history: trans => ({
      label: trans.__('May lose Git changes'),
      meaning: trans.__(
        'Git may lose commits, or changes you have not committed.'
      )
    }),
    hidden_parts: trans => ({
      label: trans.__('Hidden parts'),
      meaning: trans.__(
        'Some parts, such as variables and substitutions, are only known when it runs.'
      )
    }),
    strange_characters: trans => ({
      label: trans.__('Misleading characters'),
      meaning: trans.__(
        'It contains invisible or misleading characters and may not do what it seems to do.'
      )
    }),
    remote_content: trans => ({
      label: trans.__('Loads content from the network'),
      meaning: trans.__(
        'Showing it loads images or other content from the network.'
      )
    }),
    mcp_changed: trans => ({
      label: trans.__('Changed since you allowed it'),
      meaning: trans.__(
        'The server changed this tool after you allowed it without asking.'
      )
    }),
    outside: trans => ({
      label: trans.__('Outside the workspace'),
      meaning: trans.__('It reaches outside the folder the agent works in.')
    }),
    protected: trans => ({
      label: trans.__('Protected: controls the agent'),
      meaning: trans.__('This file tells the agent how to work.')
    }),
    deletes_cells: trans => ({
      label: trans.__('Deletes cells'),
      meaning: trans.__('It deletes cells of the notebook.')
    }),
    memory: trans => ({
      label: trans.__('Clears all variables'),
      meaning: trans.__('A restarted kernel starts with no variables.')
    })
  };
}

import type { TranslationBundle } from '@jupyterlab/translation';

import type { CheckpointView } from '../generated/rest';

/**
 * What made the agent, the person or the server keep a checkpoint; a person's note
 * is said as it is.
 */
export function checkpointText(
  { kind, reason }: Pick<CheckpointView, 'kind' | 'reason'>,
  trans: TranslationBundle
): string {
  return kind === 'note' ? reason : reasonText(reason, trans);
}

/**
 * The same of a checkpoint that no person's note is.
 *
 * @param reason - As the server says it: `before run_cell`, `asked for` and so on.
 */
export function reasonText(reason: string, trans: TranslationBundle): string {
  const [, time, tool] = /^(before|after|while) (\S+)$/.exec(reason) ?? [];
  if (tool === undefined) {
    return Private.OTHERS.get(reason)?.(trans) ?? reason;
  }
  const words = Private.isOurs(tool)
    ? Private.TOOLS[tool](trans)
    : Private.another(tool, trans);
  return words[time as keyof typeof words];
}

/**
 * The agent's tools that have words: all there are, or this does not compile.
 */
export function knownTools(): string[] {
  return Object.keys(Private.TOOLS);
}

/**
 * A namespace for private data.
 */
namespace Private {
  type Tool = NonNullable<CheckpointView['tool']>;
  type Words = (
    trans: TranslationBundle
  ) => Readonly<Record<'before' | 'after' | 'while', string>>;

  /**
   * What is not about a tool.
   */
  export const OTHERS: ReadonlyMap<
    string,
    (trans: TranslationBundle) => string
  > = new Map([
    ['look', trans => trans.__('As it was when it was looked at')],
    ['asked for', trans => trans.__('Saved by hand')],
    [
      'after a crash',
      trans => trans.__('After the server had ended unexpectedly')
    ],
    ['meanwhile', trans => trans.__('While the agent was at work')]
  ]);

  export function isOurs(tool: string): tool is Tool {
    return Object.prototype.hasOwnProperty.call(TOOLS, tool);
  }

  export const another = (tool: string, trans: TranslationBundle) => ({
    before: trans.__('Before the agent used %1', tool),
    after: trans.__('After the agent used %1', tool),
    while: trans.__('While the agent used %1', tool)
  });

  const run: Words = trans => ({
    before: trans.__('Before the agent ran cells'),
    after: trans.__('After the agent ran cells'),
    while: trans.__('While the agent ran cells')
  });
  const edit: Words = trans => ({
    before: trans.__('Before the agent changed cells'),
    after: trans.__('After the agent changed cells'),
    while: trans.__('While the agent changed cells')
  });
  const write: Words = trans => ({
    before: trans.__('Before the agent changed a file'),
    after: trans.__('After the agent changed a file'),
    while: trans.__('While the agent changed a file')
  });

  /**
   * By the names of the agent's tools.
   */
  export const TOOLS: Readonly<Record<Tool, Words>> = {
    run_cell: run,
    run_cells: run,
    run_code: trans => ({
      before: trans.__('Before the agent ran code'),
      after: trans.__('After the agent ran code'),
      while: trans.__('While the agent ran code')
    }),
    edit_cell: edit,
    edit_cells: edit,
    add_cell: edit,
    add_text: edit,
    delete_cell: edit,
    rename_variable: edit,
    write_to_file: write,
    apply_diff: write,
    search_replace: write,
    execute_command: trans => ({
      before: trans.__('Before the agent ran a command'),
      after: trans.__('After the agent ran a command'),
      while: trans.__('While the agent ran a command')
    }),
    create_notebook: trans => ({
      before: trans.__('Before the agent created a notebook'),
      after: trans.__('After the agent created a notebook'),
      while: trans.__('While the agent created a notebook')
    }),
    install_packages: trans => ({
      before: trans.__('Before the agent installed packages'),
      after: trans.__('After the agent installed packages'),
      while: trans.__('While the agent installed packages')
    }),
    manage_kernel: trans => ({
      before: trans.__('Before the agent started or stopped a kernel'),
      after: trans.__('After the agent started or stopped a kernel'),
      while: trans.__('While the agent started or stopped a kernel')
    }),
    new_task: trans => ({
      before: trans.__('Before the agent began a subtask'),
      after: trans.__('After the agent began a subtask'),
      while: trans.__('While the agent began a subtask')
    }),
    remember: trans => ({
      before: trans.__('Before the agent kept a note'),
      after: trans.__('After the agent kept a note'),
      while: trans.__('While the agent kept a note')
    }),
    forget: trans => ({
      before: trans.__('Before the agent deleted notes'),
      after: trans.__('After the agent deleted notes'),
      while: trans.__('While the agent deleted notes')
    }),
    restart: trans => ({
      before: trans.__('Before the kernel was restarted'),
      after: trans.__('After the kernel was restarted'),
      while: trans.__('While the kernel was restarted')
    }),
    restore: trans => ({
      before: trans.__('Before a restore'),
      after: trans.__('After a restore'),
      while: trans.__('During a restore')
    })
  };
}

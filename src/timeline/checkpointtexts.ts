import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { CheckpointView, StepView } from '../generated/rest';
import { plainName } from '../ui/texts/visibletext';

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
 * What the agent did in a step.
 *
 * @param reason - Of one of its checkpoints, as the server says it.
 *
 * @param step - What the conversation says about it, if that is known.
 */
export function stepText(
  reason: string,
  step: StepView | undefined,
  trans: TranslationBundle
): string {
  const tool = reason.replace(/^\S+ /, '');
  return Private.isOurs(tool)
    ? Private.STEPS[tool](trans, step)
    : trans.__('Used %1', tool);
}

/**
 * Numbers of cells in few characters, such as `2–4, 7`.
 */
export function numbersText(numbers: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] === number - 1) {
      last[1] = number;
    } else {
      spans.push([number, number]);
    }
  }
  return spans
    .map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
    .join(', ');
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
    ['look', trans => trans.__('Saved for a comparison')],
    ['asked for', trans => trans.__('Saved by you')],
    ['for a verification', trans => trans.__('Saved for a verification')],
    [
      'after a crash',
      trans => trans.__('After the server stopped unexpectedly')
    ],
    ['meanwhile', trans => trans.__('While the agent was working')]
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
  const usedServer: Words = trans => ({
    before: trans.__('Before the agent used an MCP server'),
    after: trans.__('After the agent used an MCP server'),
    while: trans.__('While the agent used an MCP server')
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
    use_mcp_tool: usedServer,
    access_mcp_resource: usedServer,
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
  type StepWords = (trans: TranslationBundle, step?: StepView) => string;

  const ran: StepWords = (trans, step) => {
    const cells = step?.cells ?? [];
    return cells.length === 0
      ? trans.__('Ran cells')
      : trans._n(
          'Ran cell %2',
          'Ran cells %2',
          cells.length,
          numbersText(cells)
        );
  };
  const edited: StepWords = (trans, step) => {
    const { cells = [], change } = step ?? {};
    const numbers = numbersText(cells);
    if (cells.length === 0) {
      return trans.__('Edited cells');
    }
    switch (change) {
      case 'added':
        return trans._n(
          'Added cell %2',
          'Added cells %2',
          cells.length,
          numbers
        );
      case 'deleted':
        return trans._n(
          'Deleted cell %2',
          'Deleted cells %2',
          cells.length,
          numbers
        );
      default:
        return trans._n(
          'Edited cell %2',
          'Edited cells %2',
          cells.length,
          numbers
        );
    }
  };
  const wrote: StepWords = (trans, step) =>
    step?.path
      ? trans.__('Edited %1', plainName(PathExt.basename(step.path)))
      : trans.__('Edited a file');

  /**
   * What was done, by the names of the agent's tools.
   */
  export const STEPS: Readonly<Record<Tool, StepWords>> = {
    run_cell: ran,
    run_cells: ran,
    run_code: trans => trans.__('Ran code'),
    edit_cell: edited,
    edit_cells: edited,
    add_cell: edited,
    add_text: edited,
    delete_cell: edited,
    rename_variable: edited,
    write_to_file: wrote,
    apply_diff: wrote,
    search_replace: wrote,
    use_mcp_tool: trans => trans.__('Used an MCP server'),
    access_mcp_resource: trans => trans.__('Used an MCP server'),
    execute_command: trans => trans.__('Ran a command'),
    create_notebook: trans => trans.__('Created a notebook'),
    install_packages: trans => trans.__('Installed packages'),
    manage_kernel: trans => trans.__('Started or stopped a kernel'),
    new_task: trans => trans.__('Started a subtask'),
    remember: trans => trans.__('Saved a note'),
    forget: trans => trans.__('Deleted notes'),
    restart: trans => trans.__('Restarted the kernel'),
    restore: trans => trans.__('Restored a checkpoint')
  };
}

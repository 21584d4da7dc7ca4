import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  LeftOut,
  MomentView,
  OperationView,
  StoreView
} from '../generated/rest';
import { language } from '../panel/figures';
import { plainName } from '../panel/unseen';
import type { Part } from './api';

/**
 * How long it is said that something went well, in milliseconds.
 */
export const SAID_FOR = 10_000;

/**
 * What made the agent, the person or the server keep a moment.
 *
 * @param reason - As the server says it: `before run_cell`, `asked for` and so on.
 */
export function reasonText(reason: string, trans: TranslationBundle): string {
  const [, time, tool] = /^(before|after) (\w+)$/.exec(reason) ?? [];
  if (tool !== undefined && tool in Private.TOOLS) {
    const [before, after] = Private.TOOLS[tool](trans);
    return time === 'before' ? before : after;
  }
  switch (reason) {
    case 'look':
      return trans.__('As it was when it was looked at');
    case 'asked for':
      return trans.__('Saved by hand');
    case 'after a crash':
      return trans.__('After the server had ended unexpectedly');
  }
  if (tool !== undefined) {
    return time === 'before'
      ? trans.__('Before the agent used %1', tool)
      : trans.__('After the agent used %1', tool);
  }
  return reason;
}

/**
 * What was done, as the title of its row.
 *
 * @param target - The moment a restore went to, if it is known here.
 */
export function operationText(
  operation: OperationView,
  target: MomentView | undefined,
  trans: TranslationBundle
): string {
  const { kind, status, moment } = operation;
  if (status === 'begun') {
    return trans.__('A restore that was cut short');
  }
  if (status === 'rolled_back') {
    return trans.__('A restore that failed and was taken back');
  }
  switch (kind) {
    case 'save':
      return moment
        ? reasonText(moment.reason, trans)
        : trans.__('Could not be saved');
    case 'restore':
      if (operation.cellId !== undefined) {
        return trans.__('A cell was restored');
      }
      return target
        ? trans.__('Went back to “%1”', reasonText(target.reason, trans))
        : trans.__('Went back');
    case 'undo':
      return trans.__('A restore was undone');
    case 'recovery':
      return status === 'left'
        ? trans.__('A half restore was kept as it was')
        : trans.__('A half restore was taken back');
  }
}

/**
 * Who made the changes that a moment found.
 */
export function authorText(
  author: MomentView['author'],
  trans: TranslationBundle
): string {
  switch (author) {
    case 'person':
      return trans.__('You');
    case 'agent':
      return trans.__('Agent');
    case 'restore':
      return trans.__('Restore');
  }
}

/**
 * A part of a moment.
 */
export function partText(part: Part, trans: TranslationBundle): string {
  switch (part) {
    case 'files':
      return trans.__('Files');
    case 'notebooks':
      return trans.__('Notebooks');
    case 'variables':
      return trans.__('Variables');
    case 'conversation':
      return trans.__('Conversation');
  }
}

/**
 * What of a notebook is not in a moment, and why.
 */
export function leftOutText(
  { path, part, why }: LeftOut,
  trans: TranslationBundle
): string {
  return part === 'variables'
    ? trans.__('The variables of %1 are not in it: %2', plainName(path), why)
    : trans.__('The cells of %1 are not in it: %2', plainName(path), why);
}

/**
 * Which files are kept, and why not all.
 */
export function scopeText(
  { scope, scopeReason }: Pick<StoreView, 'scope' | 'scopeReason'>,
  trans: TranslationBundle
): string {
  if (scope !== 'touched') {
    return trans.__('All files of the workspace are kept.');
  }
  switch (scopeReason) {
    case 'files':
      return trans.__(
        'Only files the agent touches are kept: the workspace has too many files.'
      );
    case 'seconds':
      return trans.__(
        'Only files the agent touches are kept: looking through the workspace takes too long.'
      );
    case 'home':
      return trans.__(
        'Only files the agent touches are kept: the workspace is your home folder.'
      );
    case 'network':
      return trans.__(
        'Only files the agent touches are kept: the workspace is on a network file system.'
      );
    default:
      return trans.__(
        'Only files the agent touches are kept, as the settings say.'
      );
  }
}

/**
 * A moment in few characters: of today the time, with its seconds because
 * moments come close together, and of other days also the date.
 */
export function whenText(ts: number): string {
  const isToday = new Date(ts).toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(language(), {
    ...(isToday ? {} : { dateStyle: 'medium' }),
    timeStyle: 'medium'
  }).format(ts);
}

/**
 * What running a cell again does besides making variables.
 */
export function effectText(effect: string, trans: TranslationBundle): string {
  switch (effect) {
    case 'files':
      return trans.__('It reads or writes files.');
    case 'network':
      return trans.__('It uses the network.');
    case 'database':
      return trans.__('It uses a database.');
    case 'processes':
      return trans.__('It starts other programs.');
    case 'input':
      return trans.__('It asks you for input.');
    case 'chance':
      return trans.__('It depends on chance, so values may differ.');
    case 'time':
      return trans.__('It depends on the time, so values may differ.');
    default:
      return effect;
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  type Words = (
    trans: TranslationBundle
  ) => readonly [before: string, after: string];

  const run: Words = trans => [
    trans.__('Before the agent ran cells'),
    trans.__('After the agent ran cells')
  ];
  const edit: Words = trans => [
    trans.__('Before the agent changed cells'),
    trans.__('After the agent changed cells')
  ];
  const write: Words = trans => [
    trans.__('Before the agent changed a file'),
    trans.__('After the agent changed a file')
  ];
  const answer: Words = trans => [
    trans.__('Before the agent ran code'),
    trans.__('After the agent ran code')
  ];

  /**
   * By the names of the agent's tools.
   */
  export const TOOLS: Readonly<Record<string, Words>> = {
    run_cell: run,
    run_cells: run,
    run_code: answer,
    edit_cell: edit,
    edit_cells: edit,
    add_cell: edit,
    add_text: edit,
    delete_cell: edit,
    rename_variable: edit,
    write_to_file: write,
    apply_diff: write,
    search_replace: write,
    execute_command: trans => [
      trans.__('Before the agent ran a command'),
      trans.__('After the agent ran a command')
    ],
    create_notebook: trans => [
      trans.__('Before the agent created a notebook'),
      trans.__('After the agent created a notebook')
    ],
    install_packages: trans => [
      trans.__('Before the agent installed packages'),
      trans.__('After the agent installed packages')
    ],
    manage_kernel: trans => [
      trans.__('Before the agent started or stopped a kernel'),
      trans.__('After the agent started or stopped a kernel')
    ],
    restore: trans => [
      trans.__('Before a restore'),
      trans.__('After a restore')
    ]
  };
}

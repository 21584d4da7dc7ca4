import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  Changed,
  LeftOut,
  CheckpointView,
  OperationView,
  StoreView,
  VerifiedView
} from '../generated/rest';
import { language } from '../ui/texts/formats';
import { plainName } from '../ui/texts/visibletext';
import type { Part } from '../rest/timelineapi';
import { listText } from '../ui/texts/listtext';
import { checkpointText, stepText } from './checkpointtexts';
import type { ITimelineEntry } from './timelineentries';
import { whyText } from './failuretexts';

/**
 * How long it is said that something went well, in milliseconds.
 */
export const SHOWN_FOR = 10_000;

/**
 * What was done, as the title of its row.
 *
 * @param target - The checkpoint a restore went to, if it is known here.
 */
export function operationText(
  operation: OperationView,
  target: CheckpointView | undefined,
  trans: TranslationBundle
): string {
  const { kind, status, checkpoint } = operation;
  if (status === 'begun') {
    return trans.__('An interrupted restore');
  }
  if (status === 'rolled_back') {
    return trans.__('A failed restore that was rolled back');
  }
  switch (kind) {
    case 'save':
      return checkpoint
        ? checkpointText(checkpoint, trans)
        : trans.__('Could not be saved');
    case 'restore':
      if (operation.cellId !== undefined) {
        return trans.__('A cell was restored');
      }
      return target
        ? trans.__('Restored “%1”', checkpointText(target, trans))
        : trans.__('Restored a checkpoint');
    case 'undo':
      return trans.__('A restore was undone');
    case 'recovery':
      return status === 'left'
        ? trans.__('An interrupted restore was kept as it was')
        : trans.__('An interrupted restore was rolled back');
  }
}

/**
 * What a row is about, as its title.
 *
 * @param target - The checkpoint a restore went to, if it is known here.
 */
export function entryText(
  { kind, operation, before }: ITimelineEntry,
  target: CheckpointView | undefined,
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'step':
      return stepText(operation.checkpoint?.reason ?? '', before?.step, trans);
    case 'edits':
      return trans.__('You made changes');
    case 'other':
      return isVerification(operation)
        ? verifiedText(operation.verified[0], trans)
        : operationText(operation, target, trans);
  }
}

/**
 * Whether a state was saved for nothing but a verification, of which there is a
 * report: that is what its row is about.
 */
export function isVerification({
  kind,
  checkpoint,
  verified
}: OperationView): boolean {
  return (
    kind === 'save' && checkpoint?.kind === 'verified' && verified.length > 0
  );
}

/**
 * What came of verifying a notebook, in few words.
 */
export function verifiedText(
  { path, same, differing }: VerifiedView,
  trans: TranslationBundle
): string {
  const name = plainName(PathExt.basename(path));
  if (differing > 0) {
    return trans.__('Verified %1: %2 as saved, %3 not', name, same, differing);
  }
  return same > 0
    ? trans.__('Verified %1: %2 as saved', name, same)
    : trans.__('Verified %1: no output to compare', name);
}

/**
 * The same of all that a row tells of.
 */
export function verifiedTexts(
  { operation, verifiedBefore = [] }: ITimelineEntry,
  trans: TranslationBundle
): readonly (readonly [VerifiedView, string])[] {
  return [
    ...operation.verified.map(one => [one, verifiedText(one, trans)] as const),
    ...verifiedBefore.map(
      one =>
        [
          one,
          trans.__('Before this step: %1', verifiedText(one, trans))
        ] as const
    )
  ];
}

/**
 * Who made the changes that a checkpoint found.
 */
export function authorText(
  author: CheckpointView['author'],
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
 * A part of a checkpoint.
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
 * What of a notebook is not in a checkpoint, and why.
 */
export function leftOutText(
  { path, part, why, coded }: LeftOut,
  trans: TranslationBundle
): string {
  const said = whyText(coded, why, trans);
  return part === 'variables'
    ? trans.__('The variables of %1 are not in it: %2', plainName(path), said)
    : trans.__('The cells of %1 are not in it: %2', plainName(path), said);
}

/**
 * How many files, cells and variables are others than before; nothing of which
 * there are none.
 */
export function changedText(
  { files, cells, variables }: Changed,
  trans: TranslationBundle
): string {
  const counts = [
    files > 0 && trans._n('%1 file', '%1 files', files),
    cells > 0 && trans._n('%1 cell', '%1 cells', cells),
    variables > 0 && trans._n('%1 variable', '%1 variables', variables)
  ].filter(count => count !== false);
  return counts.length > 0
    ? trans.__('%1 changed', listText(counts, trans))
    : trans.__('nothing changed');
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
 * A checkpoint in few characters: of today the time, with its seconds because
 * checkpoints come close together, and of other days also the date.
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

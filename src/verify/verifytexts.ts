import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';

import { errorText } from '../errors';
import type {
  VerificationView,
  VerifiedCell,
  VerifiedNotebook
} from '../generated/rest';
import type { ErrorBody } from '../generated/wire';
import { durationText } from '../ui/texts/formats';

/**
 * How many cells stand in the words for the agent.
 */
const MOST_NAMED = 20;

/**
 * Why a cell shows something else.
 */
export function causeText(
  cause: NonNullable<VerifiedCell['cause']>,
  trans: TranslationBundle
): string {
  switch (cause) {
    case 'hidden_state':
      return trans.__(
        'It needs something that no cell makes, or a cell had run more than once.'
      );
    case 'order':
      return trans.__('The cells had run in another order.');
    case 'varies':
      return trans.__(
        'It is different at each run, as random numbers without a seed are.'
      );
    case 'missing_file':
      return trans.__('A file is missing.');
    case 'missing_module':
      return trans.__('A package is not installed for this kernel.');
    case 'follows':
      return trans.__('A cell above it fails.');
    case 'changed':
      return trans.__('Data, code or a library changed since it ran.');
    case 'fails':
      return trans.__('It fails.');
  }
}

/**
 * What is done just now.
 */
export function stageText(
  view: VerificationView | null,
  trans: TranslationBundle
): string {
  if (view === null) {
    return trans.__('Saving the notebook…');
  }
  if (view.run > 1) {
    return trans.__(
      'Something is different. The notebook runs once more, to see whether it always is.'
    );
  }
  return view.cell === 0
    ? trans.__('Copying the folder and starting a kernel…')
    : trans.__('Running the notebook…');
}

/**
 * What came of it, in a sentence or two.
 */
export function summaryText(
  { cells, isProved, seconds }: VerifiedNotebook,
  trans: TranslationBundle
): string {
  const count = (state: VerifiedCell['state']) =>
    cells.filter(cell => cell.state === state).length;
  const took = durationText(trans, seconds * 1000);
  const compared = count('same') + count('differs');
  if (compared + count('unsaved') === 0) {
    return trans.__('There was no cell to run.');
  }
  if (compared === 0) {
    return trans.__(
      'It runs from the top. No output was saved, so none was compared. It took %1.',
      took
    );
  }
  return isProved
    ? trans._n(
        'The output of %1 cell came out as it is saved. It took %2.',
        'The outputs of %1 cells came out as they are saved. It took %2.',
        compared,
        took
      )
    : trans._n(
        '%1 of %2 cells shows something else than what is saved. It took %3.',
        '%1 of %2 cells show something else than what is saved. It took %3.',
        count('differs'),
        compared,
        took
      );
}

/**
 * Why there is no report.
 */
export function verifyFailureText(
  error: ErrorBody,
  trans: TranslationBundle
): string {
  const { cell, kernel, why } = error.params;
  switch (why) {
    case 'cell_too_long':
      return trans.__('Cell %1 ran longer than 10 minutes.', Number(cell));
    case 'kernel_died':
      return trans.__('The kernel died in cell %1.', Number(cell));
    case 'no_such_kernel':
    case 'kernel_not_started':
      return trans.__(
        'The kernel %1 of this notebook could not be started.',
        String(kernel)
      );
    case 'not_a_notebook':
      return trans.__('The file is no valid notebook.');
    case 'too_many':
      return trans.__(
        'Several notebooks are being verified. Try again when one of them is done.'
      );
    case 'not_copied':
      return trans.__('The folder of the notebook could not be copied.');
    case 'process_ended':
      return trans.__(
        'The verification ended before it was done. It may have needed more memory than there is.'
      );
    case 'too_much_to_copy':
      return trans.__(
        'The folder of the notebook is too large to copy. Run “hdsp-agent verify --in-place” in a terminal instead: what the notebook writes then changes your files.'
      );
    default:
      return errorText(trans, error);
  }
}

/**
 * What the agent is asked to mend.
 */
export function fixText(
  path: string,
  { cells }: VerifiedNotebook,
  trans: TranslationBundle
): string {
  const named = cells
    .filter(({ state }) => state === 'differs')
    .slice(0, MOST_NAMED)
    .map(({ number, detail }) => `- ${trans.__('Cell %1', number)}: ${detail}`);
  return trans.__(
    'I verified @/%1: run from the top in a new kernel, these cells show something else than what is saved in them. Find out why, and fix the notebook so that it runs from the top.\n\n%2',
    path.replace(/ /g, '\\ '),
    named.join('\n')
  );
}

/**
 * The report as a page of Markdown.
 */
export function reportMarkdown(
  path: string,
  report: VerifiedNotebook,
  trans: TranslationBundle
): string {
  return [
    `# ${trans.__('Verification of %1', PathExt.basename(path))}`,
    '',
    summaryText(report, trans),
    '',
    ...report.cells.map(cell => {
      const { cause, detail, number } = cell;
      const said = [
        stateText(cell, trans),
        ...(cause ? [causeText(cause, trans)] : []),
        detail
      ].filter(text => text !== '');
      return `- ${trans.__('Cell %1', number)}: ${said.join(' ')}`;
    }),
    ''
  ].join('\n');
}

/**
 * What became of a cell.
 */
export function stateText(
  { state }: VerifiedCell,
  trans: TranslationBundle
): string {
  switch (state) {
    case 'same':
      return trans.__('As saved.');
    case 'differs':
      return trans.__('Different.');
    case 'skipped':
      return trans.__('Skipped, as it is marked.');
    case 'unsaved':
      return trans.__('Ran. It had no saved output.');
  }
}

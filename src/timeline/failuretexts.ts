import type { TranslationBundle } from '@jupyterlab/translation';

import { errorText } from '../errors';
import type { Why } from '../generated/rest';
import type { ErrorBody } from '../generated/wire';
import { sizeText } from '../ui/texts/formats';
import { plainName } from '../ui/texts/visibletext';

/**
 * Why something cannot be kept or brought back.
 *
 * @param coded - The reason as a code.
 *
 * @param text - The server's own sentence, for a code that is not known here.
 */
export function whyText(
  coded: Why | undefined,
  text: string,
  trans: TranslationBundle
): string {
  if (coded === undefined || !(coded.code in Private.WORDS)) {
    return text;
  }
  return Private.WORDS[coded.code](trans, coded.params, text);
}

/**
 * Why a checkpoint could not be saved, shown or gone back to.
 */
export function failureText(
  error: ErrorBody,
  trans: TranslationBundle
): string {
  const { why } = error.params;
  return typeof why === 'string' && why in Private.WORDS
    ? whyText(
        { code: why as Why['code'], params: error.params },
        error.message,
        trans
      )
    : errorText(trans, error);
}

/**
 * The same error with its sentence in the reader's language, to be shown as any
 * other.
 */
export function failureOf(
  error: ErrorBody,
  trans: TranslationBundle
): ErrorBody {
  const { code, params } = error;
  return {
    // No code of any error, so that the sentence is shown as it is.
    code: typeof params.why === 'string' ? 'said' : code,
    message: failureText(error, trans),
    params
  };
}

/**
 * The codes that have words: all there are, or this does not compile.
 */
export function knownWhys(): Why['code'][] {
  return Object.keys(Private.WORDS) as Why['code'][];
}

/**
 * A namespace for private data.
 */
namespace Private {
  type Params = Why['params'];
  type Words = (
    trans: TranslationBundle,
    params: Params,
    text: string
  ) => string;

  const own =
    (code: string): Words =>
    (trans, params, message) =>
      errorText(trans, { code, message, params });

  export const WORDS: Readonly<Record<Why['code'], Words>> = {
    no_kernel: trans =>
      trans.__('It has no running kernel. Start one, then try again.'),
    kernel_busy: trans =>
      trans.__('Its kernel runs a cell. Wait for it, then try again.'),
    kernel_silent: trans =>
      trans.__('Its kernel does not answer. Restart it, or try again later.'),
    kernel_elsewhere: trans =>
      trans.__(
        'Its kernel runs on another machine or as another user, and cannot reach the checkpoint folder.'
      ),
    kernel_failed: (trans, params) =>
      details(
        params,
        trans.__('Its kernel could not save or load its variables.')
      ),
    other_language: (trans, { language }) =>
      language
        ? trans.__(
            'Only Python variables can be saved; its kernel is for %1.',
            String(language)
          )
        : trans.__('Only Python variables can be saved.'),
    not_ipython: trans =>
      trans.__(
        'Its variables cannot be saved; only those of an IPython kernel can.'
      ),
    other_python: (trans, { saved, kernel }) =>
      trans.__(
        'They were saved in %1, but the kernel is %2. Choose a kernel with %1, or run the cells again.',
        String(saved),
        String(kernel)
      ),
    library_missing: (trans, { library, saved }) =>
      trans.__(
        'They were saved with %1 %2, which the kernel does not have. Install it, or run the cells again.',
        String(library),
        String(saved)
      ),
    library_other: (trans, { library, saved, kernel }) =>
      trans.__(
        'They were saved with %1 %2, but the kernel has %3, which may read them wrongly. Choose a kernel with %2, or run the cells again.',
        String(library),
        String(saved),
        String(kernel)
      ),
    cell_ran: trans =>
      trans.__(
        'A cell ran in the meantime, so nothing was restored. Check the preview again, then restore.'
      ),
    value_unreadable: (trans, params) =>
      details(
        params,
        trans.__(
          'Nothing was restored, because %1 cannot be read. Leave out the variables, or run their cells again.',
          String(params.names)
        )
      ),
    values_not_kept: (trans, params) =>
      details(params, trans.__('Variables cannot be saved here.')),
    values_not_written: (trans, params) =>
      details(
        params,
        trans.__('The variables could not be written to the disk.')
      ),
    values_no_room: (trans, { megabytes }) =>
      trans.__(
        'The disk has less than %1 MB left, so variables are not saved. Free some space.',
        String(megabytes)
      ),
    values_gone: trans =>
      trans.__(
        'These variables were deleted to make room. Choose another checkpoint.'
      ),
    values_damaged: trans =>
      trans.__('The saved variables are damaged. Choose another checkpoint.'),
    values_not_yours: trans =>
      trans.__(
        'These variables were not saved by you, or were changed since. Loading them would run code that somebody else wrote, so they are not loaded.'
      ),
    tab_silent: trans =>
      trans.__(
        'The tab it is open in does not answer. Close or reload that tab, then try again.'
      ),
    notebook_deleted: trans => trans.__('It was deleted in the meantime.'),
    not_a_notebook: trans =>
      trans.__('The file is no longer a notebook, or is damaged.'),
    other_format: (trans, { format }) =>
      trans.__(
        'It is a notebook of format %1. Open it in JupyterLab and save it, then try again.',
        String(format)
      ),
    notebook_too_large: (trans, { most }) =>
      trans.__(
        'It is larger than %1. Clear its large outputs, then try again.',
        sizeText(Number(most), trans)
      ),
    too_many_cells: (trans, { most }) =>
      trans.__(
        'The notebook has more than %1 cells. Split it, then try again.',
        String(most)
      ),
    notebook_changing: trans =>
      trans.__(
        'Something keeps changing it. Wait until that is done, then try again.'
      ),
    notebook_read_only: trans => trans.__('It is read-only.'),
    no_such_cell: trans =>
      trans.__(
        'The notebook did not have this cell then. Choose another checkpoint.'
      ),
    cells_gone: trans =>
      trans.__(
        'These cells were deleted to make room. Choose another checkpoint.'
      ),
    cells_damaged: trans =>
      trans.__('The saved cells are damaged. Choose another checkpoint.'),
    no_such_file: (trans, { path }) =>
      trans.__('The checkpoint has no file %1.', plainName(String(path))),
    file_too_large: (trans, { path, size }) =>
      trans.__(
        '%1 has %2, which is too much to show. Restore that file, or save the checkpoint as a zip file.',
        plainName(String(path)),
        sizeText(Number(size), trans)
      ),
    folder_read_only: (trans, { path }) =>
      trans.__(
        'The folder %1 is read-only, so nothing was restored. Make it writable, then try again.',
        String(path)
      ),
    file_not_restored: (trans, params) =>
      details(
        params,
        trans.__(
          '%1 could not be restored, so the restore was rolled back. Check that file and its folder, then try again.',
          String(params.path)
        )
      ),
    no_room: (trans, { needed }) =>
      trans.__(
        'Not enough disk space: this needs %1, so nothing was changed. Free some space, then try again.',
        sizeText(Number(needed), trans)
      ),
    changed_meanwhile: (trans, { path }) =>
      trans.__(
        '%1 was changed at the same time, so the restore was rolled back. Try again.',
        String(path)
      ),
    store_damaged: trans =>
      trans.__(
        'This checkpoint is damaged. Nothing was changed. Choose another checkpoint.'
      ),
    store_of_another_user: (trans, { path }) =>
      trans.__(
        'The checkpoints in %1 belong to another user, so they are not used. Move that folder away, and a new one is created.',
        String(path)
      ),
    store_of_another_folder: (trans, { path, workspace }) =>
      trans.__(
        'The checkpoints in %1 do not belong to %2. Move that folder away, and a new one is created.',
        String(path),
        String(workspace)
      ),
    store_in_workspace: (trans, { path }) =>
      trans.__(
        'The checkpoints themselves are stored in %1, so this folder cannot have any. Work in another folder.',
        String(path)
      ),
    not_a_folder: (trans, { path }) =>
      trans.__('%1 is no longer a folder.', String(path)),
    unknown_checkpoint: trans =>
      trans.__(
        'This checkpoint no longer exists. It may have been deleted to make room. Choose another one.'
      ),
    unknown_operation: trans =>
      trans.__(
        'This entry no longer exists. It may have been deleted to make room. Check the timeline again.'
      ),
    nothing_to_undo: trans => trans.__('There is no restore to undo.'),
    not_in_force: trans =>
      trans.__('This restore was already undone, so there is nothing to undo.'),
    beyond_files: trans =>
      trans.__(
        'This restore changed more than files, so it can be undone only here.'
      ),
    restoring_elsewhere: trans =>
      trans.__(
        'Another restore is running here. Wait until it is done, then try again.'
      ),
    cut_short: trans =>
      trans.__(
        'An earlier restore was interrupted. In the timeline, roll it back or keep the current state, then try again.'
      ),
    interrupted: trans => trans.__('The server ended in the middle of it.'),
    not_put_back: (trans, params) =>
      details(
        params,
        trans.__(
          'A restore failed and could not be rolled back completely. Fix what is named here, then roll it back in the timeline.'
        )
      ),
    conversation_deleted: trans =>
      trans.__(
        'The conversation of this checkpoint was deleted, so it cannot be restored.'
      ),
    turned_off: trans =>
      trans.__('Checkpoints are turned off in the settings.'),
    storage_unavailable: own('storage_unavailable'),
    cell_conflict: own('cell_conflict'),
    unsaved_elsewhere: own('unsaved_elsewhere')
  };

  /**
   * A sentence with what a program said in words of its own, if it did.
   */
  function details({ details }: Params, sentence: string): string {
    return details ? `${sentence} (${details})` : sentence;
  }
}

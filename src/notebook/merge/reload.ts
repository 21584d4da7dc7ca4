import type * as nbformat from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { keepActiveCell } from '../activecell';
import { savedNotebook } from './savedform';
import type { LastSaved } from './lastsaved';
import type { OpenNotebooks } from '../opennotebooks';

/**
 * Read a notebook's file anew as Lab does it, but take up only what changed in
 * it since this page last read or wrote it.
 *
 * #### Notes
 * Lab takes note of what it has read, so that the next save asks nothing, and
 * gives the content to the model. There it is met: the model itself would throw
 * away all cells for new ones, and with them what is typed just then.
 */
export async function reloadMerged(
  { context, content: notebook }: NotebookPanel,
  notebooks: OpenNotebooks,
  lastSaved: LastSaved
): Promise<void> {
  const { mergeFile } = await import('./filemerge');
  const { model } = context;
  model.fromJSON = content => {
    const base = lastSaved.of(model) ?? savedNotebook(model.sharedModel);
    notebooks.changeForAgent({ context }, () => {
      keepActiveCell(notebook, () => {
        const { inFile, unsaved } = mergeFile(
          model,
          base,
          content as unknown as nbformat.INotebookContent
        );
        lastSaved.note(model, inFile);
        model.dirty = unsaved;
      });
    });
  };
  try {
    await context.revert();
  } catch (error) {
    // Lab has told the person.
    console.warn('A notebook could not be read anew', error);
  } finally {
    Reflect.deleteProperty(model, 'fromJSON');
  }
}

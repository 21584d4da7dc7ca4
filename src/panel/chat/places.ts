import { NotebookPanel } from '@jupyterlab/notebook';

import type { IPanelServices } from '../services';

/**
 * Open a file, and show the cell or the line that is meant.
 *
 * @returns Whether there is such a file.
 */
export async function openPlace(
  { documents }: Pick<IPanelServices, 'documents'>,
  path: string,
  cellId?: string
): Promise<boolean> {
  const found = documents?.findWidget(path);
  if (!documents || (!found && !(await exists(documents, path)))) {
    return false;
  }
  const widget = documents.openOrReveal(path);
  if (widget instanceof NotebookPanel && cellId) {
    await widget.context.ready;
    await widget.revealed;
    const index = widget.content.widgets.findIndex(
      ({ model }) => model.id === cellId
    );
    if (index !== -1) {
      widget.content.activeCellIndex = index;
      await widget.content.scrollToItem(index, 'center');
    }
  }
  return widget !== undefined;
}

async function exists(
  { services }: NonNullable<IPanelServices['documents']>,
  path: string
): Promise<boolean> {
  try {
    await services.contents.get(path, { content: false });
    return true;
  } catch {
    // Gone, renamed, or not below the folder Lab shows: it cannot be opened.
    return false;
  }
}

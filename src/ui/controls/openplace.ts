import { NotebookPanel } from '@jupyterlab/notebook';

import type { IPanelServices } from '../services';

/**
 * Open a file, and show the cell or the line that is meant.
 *
 * @returns Whether there is such a file.
 */
export async function openPlace(
  { client, documents }: Pick<IPanelServices, 'client' | 'documents'>,
  path: string,
  cellId?: string
): Promise<boolean> {
  const found = documents?.findWidget(path);
  if (!documents || (!found && !(await exists(client, path)))) {
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

/**
 * Whether there is such a file. Asked for one that is gone, the contents API
 * leaves an error in the browser's console.
 */
async function exists(
  client: IPanelServices['client'],
  path: string
): Promise<boolean> {
  return (await client.request({ type: 'findFile', path })) === true;
}

import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';

/**
 * What can be done with code of the conversation in a notebook.
 */
export type CodeAction = 'insert' | 'replace' | 'run';

/**
 * Why it cannot be done: there is no notebook, or its cell is protected.
 */
export type CellObstacle = 'no-notebook' | 'read-only';

const MARKDOWN: ReadonlySet<string> = new Set(['markdown', 'md']);

/**
 * What stands in the way of a use of the notebook in front.
 */
export function obstacleTo(
  use: CodeAction,
  notebook: NotebookPanel | null
): CellObstacle | null {
  if (!notebook || notebook.isDisposed) {
    return 'no-notebook';
  }
  if (!notebook.content.model || notebook.content.model.readOnly) {
    return 'read-only';
  }
  const cell = notebook.content.activeCell?.model;
  if (use === 'replace' && (!cell || cell.getMetadata('editable') === false)) {
    return 'read-only';
  }
  return null;
}

/**
 * Put code into a notebook: into a new cell below the active one, or in place
 * of the active one. The notebook's own undo takes it back.
 */
export async function insertCode(
  use: CodeAction,
  { content, sessionContext }: NotebookPanel,
  code: string,
  language: string
): Promise<void> {
  if (use !== 'replace') {
    NotebookActions.insertBelow(content);
    const type = MARKDOWN.has(language.toLowerCase()) ? 'markdown' : 'code';
    if (content.activeCell?.model.type !== type) {
      NotebookActions.changeCellType(content, type);
    }
  }
  content.activeCell?.model.sharedModel.setSource(code);
  await content.scrollToItem(content.activeCellIndex, 'smart');
  if (use === 'run') {
    await NotebookActions.run(content, sessionContext);
  }
}

import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

import type { CellPart, IFromCell } from '../../../notebook/cells/cellparts';
import type { IPanelServices } from '../../../ui/services';
import { documentPath } from '../../../ui/notebookchoice';
import { MOST_IMAGES, PICTURES_SHARE, shrinkPicture } from './pictureupload';

/**
 * How many things besides pictures go along with one message.
 */
const MOST_ATTACHMENTS = 50;

/**
 * A cell of an open notebook.
 */
export interface ICellAt {
  readonly panel: NotebookPanel;
  readonly cell: Cell;
}

/**
 * The cell that is meant; the active one of the notebook in front if none is
 * named.
 */
export function findCell(
  { notebooks }: Pick<IPanelServices, 'notebooks'>,
  path?: string,
  cellId?: string
): ICellAt | null {
  let panel = notebooks?.currentWidget ?? null;
  if (path !== undefined && (!panel || documentPath(panel) !== path)) {
    panel = notebooks?.find(other => documentPath(other) === path) ?? null;
  }
  if (!panel || panel.isDisposed) {
    return null;
  }
  const { widgets, activeCell } = panel.content;
  const cell =
    cellId === undefined
      ? activeCell
      : widgets.find(({ model }) => model.id === cellId);
  return cell ? { panel, cell } : null;
}

/**
 * Let a part of a cell go along with what is being typed.
 *
 * @returns Why it does not, in words; `null` if it does.
 */
export async function attachPart(
  services: IPanelServices,
  part: CellPart,
  at: ICellAt | null = findCell(services),
  // The one on screen now, and not when the pictures are read.
  taskId: string | null = services.store.state?.currentTaskId ?? null
): Promise<string | null> {
  const { trans } = services;
  if (!at) {
    return trans.__('There is no cell to attach. Open a notebook first.');
  }
  const { takeFromCell } = await import('../../../notebook/cells/cellparts');
  const taken = takeFromCell(part, at.panel, at.cell, trans);
  if (!taken) {
    return Private.nothing(part, services);
  }
  const images = await Promise.all(taken.images.map(shrinkPicture));
  const fitting = images.filter(image => image !== null);
  const refusal = addToDraft(services, { ...taken, images: fitting }, taskId);
  return fitting.length < images.length
    ? trans.__('An image in the output is too large to attach.')
    : refusal;
}

/**
 * Put attachments and pictures to what is being typed.
 *
 * @param taskId - The conversation, if not the one on screen; `null` is one that
 * is yet to begin.
 *
 * @returns What was left out and why, in words; `null` if nothing was.
 */
export function addToDraft(
  {
    client,
    state,
    store,
    trans
  }: Pick<IPanelServices, 'client' | 'state' | 'store' | 'trans'>,
  { attachments, images }: IFromCell,
  taskId: string | null = store.state?.currentTaskId ?? null
): string | null {
  const draft = state.draft(taskId);
  const isKnown = (attachment: IFromCell['attachments'][number]) =>
    draft.attachments.some(
      other =>
        other.kind === attachment.kind &&
        other.path === attachment.path &&
        other.cellId === attachment.cellId &&
        other.content === attachment.content
    );
  const newOnes = attachments.filter(attachment => !isKnown(attachment));
  const room = Math.max(0, MOST_ATTACHMENTS - draft.attachments.length);
  const newImages = images.filter(image => !draft.images.includes(image));
  const taken = Private.fitting(
    draft.images,
    newImages,
    client.maxFrameBytes * PICTURES_SHARE
  );
  state.setDraft(taskId, {
    attachments: [...draft.attachments, ...newOnes.slice(0, room)],
    images: [...draft.images, ...taken]
  });
  if (newOnes.length > room) {
    return trans.__(
      'A message can have at most %1 attachments besides images.',
      MOST_ATTACHMENTS
    );
  }
  if (taken.length === newImages.length) {
    return null;
  }
  return draft.images.length + taken.length === MOST_IMAGES
    ? trans.__('A message can have at most %1 images.', MOST_IMAGES)
    : trans.__(
        'Together, these images are too large for one message. Send the others with the next message.'
      );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * Those of further pictures that go along, in their order.
   */
  export function fitting(
    before: readonly string[],
    further: readonly string[],
    mostBytes: number
  ): string[] {
    const size = (urls: readonly string[]) =>
      urls.reduce((sum, { length }) => sum + length, 0);
    const taken: string[] = [];
    for (const image of further) {
      const all = [...before, ...taken, image];
      if (all.length > MOST_IMAGES || size(all) > mostBytes) {
        break;
      }
      taken.push(image);
    }
    return taken;
  }

  export function nothing(
    part: CellPart,
    { trans }: Pick<IPanelServices, 'trans'>
  ): string {
    switch (part) {
      case 'cell':
        return trans.__('The cell is empty, so there is nothing to attach.');
      case 'selection':
        return trans.__('Nothing is selected in the cell.');
      case 'output':
        return trans.__('The cell has no output to attach.');
      case 'error':
        return trans.__('The cell did not fail, so there is no error.');
    }
  }
}

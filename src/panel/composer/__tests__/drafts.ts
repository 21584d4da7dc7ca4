import type { IAttachment } from '../../../state/panel/panelstate';

/** A cell that goes along with a message, or something else that does. */
export function attachment(
  change: Partial<Omit<IAttachment, 'label'>> = {},
  label = 'Cell 3'
): IAttachment {
  return {
    kind: 'cell',
    path: 'work.ipynb',
    cellId: 'c1',
    content: 'x = 1',
    ...change,
    label
  };
}

import { addIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { CellPart } from '../../../notebook/cells/cellparts';
import { IconButton } from '../../../ui/controls/iconbutton';
import { usePanel } from '../../../ui/services';
import { attachPart, findCell } from './attachpart';
import { openMenu } from '../../../ui/controls/popupmenu';

/**
 * Lets something go along: of the cell one is at, or files.
 */
export function AttachButton({
  onRefused,
  onFiles
}: {
  /**
   * Told in words why something was not attached.
   */
  readonly onRefused: (refusal: string) => void;
  readonly onFiles: (files: readonly File[]) => void;
}): JSX.Element {
  const services = usePanel();
  const { trans } = services;
  const chooser = React.useRef<HTMLInputElement>(null);
  const open = async (anchor: HTMLElement) => {
    const at = findCell(services);
    const { partsOf } = await import('../../../notebook/cells/cellparts');
    const parts = at ? partsOf(at.cell) : new Set<CellPart>();
    const entry = (part: CellPart, label: string) => ({
      label,
      isEnabled: parts.has(part),
      run: () =>
        void attachPart(services, part, at).then(
          refusal => refusal !== null && onRefused(refusal)
        )
    });
    openMenu(anchor, [
      entry('cell', trans.__('Current Cell')),
      entry('selection', trans.__('Selection in the Cell')),
      entry('output', trans.__('Output of the Cell')),
      entry('error', trans.__('Error of the Cell')),
      null,
      {
        label: trans.__('Images and Text Files…'),
        run: () => chooser.current?.click()
      }
    ]);
  };
  return (
    <>
      <IconButton
        icon={addIcon}
        label={trans.__('Attach a cell, its output or files')}
        aria-haspopup="menu"
        aria-expanded="false"
        onClick={event => void open(event.currentTarget)}
      />
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label={trans.__('Images and text files')}
        onChange={event => {
          onFiles([...(event.target.files ?? [])]);
          // The same file may be chosen again.
          event.target.value = '';
        }}
      />
    </>
  );
}

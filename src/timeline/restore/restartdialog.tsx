import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { RestartPreview } from '../../generated/rest';
import { plainName } from '../../ui/texts/visibletext';
import { hasEffects, RerunCells } from './reruncells';

/**
 * Show which cells would run in the restarted kernel, and ask whether to do it.
 */
export async function askRestart(
  { path, cells, kernel, busy }: RestartPreview,
  trans: TranslationBundle
): Promise<boolean> {
  const isGrave = hasEffects(cells) || busy;
  const label =
    kernel === undefined
      ? trans.__('Start and run')
      : trans.__('Restart and run');
  const { button } = await showDialog({
    title: trans._n(
      'Restart the kernel and run %1 cell of %2?',
      'Restart the kernel and run %1 cells of %2?',
      cells.length,
      plainName(path)
    ),
    body: (
      <div className="jp-hdspAgent-changes-preview jp-hdspAgent-timeline-preview">
        <p>
          {kernel === undefined
            ? trans.__('No kernel runs, so one is started.')
            : trans.__(
                'All variables of %1 are lost. A checkpoint is saved first, so that you can restore them.',
                kernel
              )}
        </p>
        {busy && <p>{trans.__('The running cell is stopped.')}</p>}
        <p>
          {trans.__(
            'These cells run from the top, in this order. If one fails, the rest do not run.'
          )}
        </p>
        <RerunCells cells={cells} trans={trans} />
      </div>
    ),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      isGrave ? Dialog.warnButton({ label }) : Dialog.okButton({ label })
    ],
    // Enter must do nothing outside of the kernel.
    defaultButton: isGrave ? 0 : 1
  });
  return button.accept;
}

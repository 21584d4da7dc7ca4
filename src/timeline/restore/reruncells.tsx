import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { RerunCell, VariablesPreview } from '../../generated/rest';
import type { IPanelServices } from '../../ui/services';
import { plainName } from '../../ui/texts/visibletext';
import { showError } from '../../ui/notifications';
import { namesText } from './restorepreview';
import { effectText, SHOWN_FOR } from '../timelinetexts';

/**
 * Run again the cells that make what no bytes could bring back, if the person
 * agrees. They run as if the person ran them: in the notebook, where it still
 * has them as they were, else only in its kernel.
 *
 * @returns Whether all of them ran.
 */
export async function runAgain(
  { documents, trans }: Pick<IPanelServices, 'documents' | 'trans'>,
  { path, rerun }: VariablesPreview
): Promise<boolean> {
  if (!(await agrees(path, rerun.cells, rerun.unexplained, trans))) {
    return false;
  }
  const panel = documents?.openOrReveal(path);
  if (!(panel instanceof NotebookPanel)) {
    showError(
      trans.__('%1 could not be opened, so no cell ran.', plainName(path))
    );
    return false;
  }
  await panel.context.ready;
  await panel.sessionContext.ready;
  for (const cell of rerun.cells) {
    const failure = await Private.run(panel, cell, trans);
    if (failure !== null) {
      showError(
        trans.__(
          'A cell of %1 did not finish, so the cells after it did not run. %2',
          plainName(path),
          failure
        )
      );
      return false;
    }
  }
  Notification.success(
    trans._n(
      '%1 cell of %2 ran again.',
      '%1 cells of %2 ran again.',
      rerun.cells.length,
      plainName(path)
    ),
    { autoClose: SHOWN_FOR }
  );
  return true;
}

async function agrees(
  path: string,
  cells: readonly RerunCell[],
  unexplained: readonly string[],
  trans: TranslationBundle
): Promise<boolean> {
  const isGrave = hasEffects(cells);
  const { button } = await showDialog({
    title: trans._n(
      'Run %1 cell of %2 again?',
      'Run %1 cells of %2 again?',
      cells.length,
      plainName(path)
    ),
    body: (
      <div className="jp-hdspAgent-changes-preview jp-hdspAgent-timeline-preview">
        <p>
          {trans.__(
            'These cells create what could not be saved. They run in this order, as if you ran them.'
          )}
        </p>
        <RerunCells cells={cells} trans={trans} />
        {unexplained.length > 0 && (
          <p>
            {trans.__(
              'No known cell creates %1, so it stays lost.',
              namesText(unexplained, trans)
            )}
          </p>
        )}
      </div>
    ),
    buttons: [
      Dialog.cancelButton({ label: trans.__("Don't run them") }),
      isGrave
        ? Dialog.warnButton({ label: trans.__('Run them') })
        : Dialog.okButton({ label: trans.__('Run them') })
    ],
    // Enter must do nothing outside of the kernel.
    defaultButton: isGrave ? 0 : 1
  });
  return button.accept;
}

/**
 * Whether running these does something outside of the kernel, or cannot be told.
 */
export function hasEffects(cells: readonly RerunCell[]): boolean {
  return cells.some(
    ({ effects, uncertain }) => effects.length > 0 || uncertain
  );
}

/**
 * The cells that would run, each with what it does besides.
 */
export function RerunCells({
  cells,
  trans
}: {
  cells: readonly RerunCell[];
  trans: TranslationBundle;
}): JSX.Element {
  return (
    <ol className="jp-hdspAgent-timeline-rerun">
      {cells.map(cell => (
        <li key={cell.run}>
          <pre tabIndex={0}>
            {cell.source ?? trans.__('Its text was too long to be kept.')}
          </pre>
          <Effects cell={cell} trans={trans} />
        </li>
      ))}
    </ol>
  );
}

function Effects({
  cell: { effects, overwrites, uncertain },
  trans
}: {
  cell: RerunCell;
  trans: TranslationBundle;
}): JSX.Element | null {
  const warnings = [
    ...effects.map(effect => effectText(effect, trans)),
    ...(overwrites.length > 0
      ? [
          trans.__(
            'It also changes %1, which is already right.',
            namesText(overwrites, trans)
          )
        ]
      : []),
    ...(uncertain
      ? [trans.__('Its code does not show what else it does.')]
      : [])
  ];
  return warnings.length === 0 ? null : (
    <ul className="jp-hdspAgent-timeline-warnings">
      {warnings.map(warning => (
        <li key={warning}>{warning}</li>
      ))}
    </ul>
  );
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * @returns Why it did not run to its end; `null` if it did.
   */
  export function run(
    panel: NotebookPanel,
    wanted: RerunCell,
    trans: TranslationBundle
  ): Promise<string | null> {
    const { cell: id, source } = wanted;
    const same = panel.content.widgets.filter(
      ({ model }) =>
        (source === undefined && model.id === id) ||
        (model.type === 'code' && model.sharedModel.getSource() === source)
    );
    // A cell that was cut and pasted has another id.
    const cell = same.find(({ model }) => model.id === id) ?? same.at(0);
    return cell ? runCell(panel, cell, trans) : runCode(panel, source, trans);
  }

  async function runCell(
    panel: NotebookPanel,
    cell: Cell,
    trans: TranslationBundle
  ): Promise<string | null> {
    const { content, sessionContext } = panel;
    return (await NotebookActions.runCells(content, [cell], sessionContext))
      ? null
      : trans.__('Its output says why.');
  }

  async function runCode(
    panel: NotebookPanel,
    code: string | undefined,
    trans: TranslationBundle
  ): Promise<string | null> {
    const kernel = panel.sessionContext.session?.kernel;
    if (!kernel) {
      return trans.__('The notebook has no kernel.');
    }
    if (code === undefined) {
      return trans.__('Its text was too long to be kept.');
    }
    const { content } = await kernel.requestExecute({
      code,
      stop_on_error: true
    }).done;
    switch (content.status) {
      case 'ok':
        return null;
      case 'error':
        return `${content.ename}: ${content.evalue}`;
      default:
        return trans.__('It was interrupted.');
    }
  }
}

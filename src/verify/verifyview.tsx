import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';

import type { VerifiedCell, VerifiedNotebook } from '../generated/rest';
import { CommandIDs } from '../ui/commandids';
import { PlaceLink } from '../ui/controls/placelink';
import { useSignalValue } from '../ui/hooks';
import { saveFile } from '../ui/savefile';
import { usePanel } from '../ui/services';
import { dateTimeText } from '../ui/texts/formats';
import { plainName } from '../ui/texts/visibletext';
import type { VerifyModel } from './verifymodel';
import {
  causeText,
  fixText,
  reportMarkdown,
  stageText,
  stateText,
  summaryText,
  verifyFailureText
} from './verifytexts';

/**
 * How a notebook is verified, and what came of it.
 */
export function VerifyView({
  model
}: {
  readonly model: VerifyModel;
}): JSX.Element {
  const { trans } = usePanel();
  const { changed } = model;
  const view = useSignalValue(changed, () => model.view);
  const error = useSignalValue(changed, () => model.error);
  const isRunning = useSignalValue(changed, () => model.isRunning);
  const name = plainName(PathExt.basename(model.path));
  return (
    <div className="jp-hdspAgent-verify">
      <h2>{trans.__('Verification of %1', name)}</h2>
      <p>
        {trans.__(
          'The notebook is run from the top, in a new kernel and a copy of its folder. What it shows is compared with what is saved.'
        )}
      </p>
      {error && <p role="alert">{verifyFailureText(error, trans)}</p>}
      {/* One region that stays: it is read aloud when something else begins. */}
      <p
        role="status"
        className={view?.report && 'jp-hdspAgent-verify-summary'}
        data-proved={view?.report?.isProved}
      >
        {isRunning
          ? stageText(view, trans)
          : view?.state === 'stopped'
            ? trans.__('The verification was stopped.')
            : view?.report
              ? summaryText(view.report, trans)
              : ''}
      </p>
      {isRunning && (
        <>
          <progress
            aria-label={trans.__('Progress of the verification')}
            max={view?.cells || undefined}
            value={view?.cells ? view.cell - 1 : undefined}
          />
          {view !== null && view.cells > 0 && (
            <p>{trans.__('Cell %1 of %2', view.cell, view.cells)}</p>
          )}
        </>
      )}
      {view?.error && (
        <p role="alert">{verifyFailureText(view.error, trans)}</p>
      )}
      {view?.endedTs !== undefined && (
        <p>{trans.__('Verified: %1', dateTimeText(view.endedTs))}</p>
      )}
      {view?.report && <Report path={model.path} report={view.report} />}
      <div className="jp-hdspAgent-actions">
        {isRunning ? (
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={() => void model.stop()}
          >
            {trans.__('Stop')}
          </button>
        ) : (
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={() => void model.start()}
          >
            {trans.__('Verify again')}
          </button>
        )}
        {view?.report && (
          <ReportActions path={model.path} report={view.report} />
        )}
      </div>
    </div>
  );
}

/**
 * What came of it, with the cells that differ first.
 */
function Report({
  path,
  report
}: {
  readonly path: string;
  readonly report: VerifiedNotebook;
}): JSX.Element {
  const { trans } = usePanel();
  const differing = report.cells.filter(({ state }) => state === 'differs');
  const others = report.cells.filter(({ state }) => state !== 'differs');
  return (
    <>
      {differing.length > 0 && (
        <ul aria-label={trans.__('Cells that show something else')}>
          {differing.map(cell => (
            <CellLine key={cell.number} path={path} cell={cell} />
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <details>
          <summary>
            {differing.length > 0
              ? trans.__('The other cells')
              : trans.__('Cells')}
          </summary>
          <ul>
            {others.map(cell => (
              <CellLine key={cell.number} path={path} cell={cell} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/**
 * One cell, which a click shows in the notebook.
 */
function CellLine({
  path,
  cell
}: {
  readonly path: string;
  readonly cell: VerifiedCell;
}): JSX.Element {
  const { trans } = usePanel();
  const { number, id, cause, detail } = cell;
  return (
    <li>
      <PlaceLink path={path} cellId={id || undefined}>
        {trans.__('Cell %1', number)}
      </PlaceLink>{' '}
      {cause ? causeText(cause, trans) : stateText(cell, trans)}
      {detail !== '' && (
        <p className="jp-hdspAgent-verify-detail" dir="ltr" lang="en">
          {detail}
        </p>
      )}
    </li>
  );
}

/**
 * What can be done about what came of it.
 */
function ReportActions({
  path,
  report
}: {
  readonly path: string;
  readonly report: VerifiedNotebook;
}): JSX.Element {
  const { commands, trans } = usePanel();
  const name = PathExt.basename(path).replace(/\.ipynb$/, '');
  return (
    <>
      {!report.isProved && (
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() =>
            void commands.execute(CommandIDs.ask, {
              text: fixText(path, report, trans)
            })
          }
        >
          {trans.__('Let the agent fix it…')}
        </button>
      )}
      <button
        type="button"
        className="jp-hdspAgent-button"
        onClick={() =>
          saveFile(
            `${name}-verification.md`,
            reportMarkdown(path, report, trans),
            'text/markdown'
          )
        }
      >
        {trans.__('Save the report')}
      </button>
    </>
  );
}

import { kernelIcon, runIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { CellExecuted, KernelChanged } from '../../../generated/wire';
import { usePanel } from '../../../ui/services';
import { BoundedText, OUTPUT_LINES } from '../../../ui/texts/boundedtext';
import { Fold } from '../../../ui/texts/fold';
import { durationText } from '../../../ui/texts/formats';
import { useRowParts } from '../rows/rowparts';
import { PictureList } from '../rows/picturelist';
import { PlaceLink } from '../../../ui/controls/placelink';
import { readJson } from '../../../ui/texts/readjson';
import { TerminalText } from '../../../ui/texts/terminaltext';
import { useElapsed } from '../../../ui/useelapsed';
import type { IRowContent } from '../rows/rowcontent';
import { RowHead } from '../rows/rowhead';
import { TableOutput } from './tableoutput';

/**
 * A cell the agent runs: how it fares, what it wrote, its value and pictures.
 */
export function CellRunRow({ message, parts }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const run = React.useMemo(
    () => readJson<CellExecuted>(message.text) ?? {},
    [message.text]
  );
  const said = useRowParts(parts);
  const printed = said
    .filter(({ say }) => say === 'command_output')
    .map(({ text }) => text ?? '')
    .join('');
  const traceback = said.find(({ say }) => say === 'error')?.text;
  const name = run.number ? trans.__('Cell %1', run.number) : trans.__('Code');
  return (
    <div className="jp-hdspAgent-cellRun" data-state={run.state}>
      <RowHead icon={runIcon}>
        {run.path && run.cellId ? (
          <PlaceLink path={run.path} cellId={run.cellId}>
            {name}
          </PlaceLink>
        ) : (
          <span>{name}</span>
        )}
        {run.executionCount !== undefined && (
          <code className="jp-hdspAgent-chat-quiet">
            [{run.executionCount}]
          </code>
        )}
        <RunState run={run} />
      </RowHead>
      {run.reason && (
        <p className="jp-hdspAgent-chat-problem-text">{run.reason}</p>
      )}
      {printed && <TerminalText id={`${message.ts}:printed`} text={printed} />}
      <Result
        id={`${message.ts}:result`}
        run={run}
        hasPictures={(message.images ?? []).length > 0}
      />
      {run.error && <p className="jp-hdspAgent-cellRun-error">{run.error}</p>}
      {traceback && (
        <Fold id={`${message.ts}:traceback`} summary={trans.__('Traceback')}>
          <TerminalText id={`${message.ts}:lines`} text={traceback} />
        </Fold>
      )}
      <PictureList images={message.images} />
    </div>
  );
}

/**
 * The value of a cell: a table as one, of a picture nothing but the picture.
 */
function Result({
  id,
  run: { result, table },
  hasPictures
}: {
  id: string;
  run: Partial<CellExecuted>;
  hasPictures: boolean;
}): JSX.Element | null {
  if (!result || (hasPictures && NAMES_PICTURE.test(result))) {
    return null;
  }
  const text = (
    <BoundedText
      id={id}
      text={result}
      lines={OUTPUT_LINES}
      render={shown => (
        <pre className="jp-hdspAgent-chat-plain" tabIndex={0}>
          {shown}
        </pre>
      )}
    />
  );
  return table ? <TableOutput id={id} html={table} otherwise={text} /> : text;
}

/**
 * What a program calls a picture that is shown, such as `<Figure size 640x480
 * with 1 Axes>`, and of which kind it is.
 */
const NAMES_PICTURE = /^(?:<[^\n]*>)?\n?(?:\[image\/[^\n]*\])?$/;

function RunState({ run }: { run: Partial<CellExecuted> }): JSX.Element {
  const { trans } = usePanel();
  const isRunning = run.state === 'running';
  const elapsed = useElapsed(run.startedAt ?? 0, isRunning);
  return (
    <span className="jp-hdspAgent-chat-badge" data-state={run.state}>
      {isRunning && (
        <span className="jp-hdspAgent-chat-spinner" aria-hidden="true" />
      )}
      {isRunning && run.startedAt
        ? trans.__('Running for %1', durationText(trans, elapsed))
        : stateText(run, trans)}
    </span>
  );
}

function stateText(
  { state, durationMs }: Partial<CellExecuted>,
  trans: TranslationBundle
): string {
  // Less than a second is at once, for a person.
  const took =
    durationMs === undefined || durationMs < 1_000
      ? null
      : durationText(trans, durationMs);
  switch (state) {
    case 'queued':
      return trans.__('Waiting for its turn');
    case 'running':
      return trans.__('Running');
    case 'ok':
      return took ? trans.__('Done in %1', took) : trans.__('Done');
    case 'error':
      return took ? trans.__('Failed after %1', took) : trans.__('Failed');
    case 'interrupted':
      return trans.__('Interrupted');
    case 'dead':
      return trans.__('The kernel died');
    case 'timed_out':
      return trans.__('Took too long');
    default:
      return '';
  }
}

/**
 * What happened to a kernel.
 */
export function KernelRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const changed = readJson<KernelChanged>(message.text) ?? {};
  return (
    <div
      className="jp-hdspAgent-chat-note"
      data-level={changed.change === 'died' ? 'error' : 'info'}
    >
      <kernelIcon.react
        tag="span"
        className="jp-hdspAgent-chat-tool-icon"
        aria-hidden="true"
      />
      <span>{kernelText(changed, trans)}</span>
      {changed.path && <PlaceLink path={changed.path} />}
    </div>
  );
}

function kernelText(
  { change, kernel }: Partial<KernelChanged>,
  trans: TranslationBundle
): string {
  const name = kernel ?? trans.__('kernel');
  switch (change) {
    case 'started':
      return trans.__('Started %1.', name);
    case 'restarted':
      return trans.__('Restarted %1. Its variables are gone.', name);
    case 'interrupted':
      return trans.__('Interrupted %1.', name);
    case 'died':
      return trans.__('%1 died. Its variables are gone.', name);
    default:
      return trans.__('The state of %1 changed.', name);
  }
}

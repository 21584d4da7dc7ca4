import { terminalIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { RiskFlagList } from '../../../ui/texts/riskflaglist';
import { flagsOn } from '../../../ui/texts/riskflags';
import { commandOf } from '../../asks/askcontent';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { VisibleText, plainName } from '../../../ui/texts/visibletext';
import { BoundedText } from '../../../ui/texts/boundedtext';
import { CopyButton } from '../../../ui/controls/copybutton';
import { useRowParts } from '../rows/rowparts';
import { PlaceLink } from '../../../ui/controls/placelink';
import { TerminalText } from '../../../ui/texts/terminaltext';
import {
  AskBadge,
  AskedElsewhere,
  AskFailure,
  useAskState
} from '../rows/askstate';
import { CommandState, runs } from './commandstate';
import type { IRowContent } from '../rows/rowcontent';
import { RowHead } from '../rows/rowhead';

/**
 * A command, what it writes, and how it ends.
 */
export function CommandRow({ message, parts }: IRowContent): JSX.Element {
  const { store, trans } = usePanel();
  const state = useAskState(message);
  const said = useRowParts(parts);
  const isRunning = useStore(store, store =>
    said.some(({ commandRun }) => commandRun && runs(store, commandRun))
  );
  const { command, folder } = commandOf(message.text ?? '');
  const output = said.map(({ text }) => text ?? '').join('');
  return (
    <div className="jp-hdspAgent-command" data-state={state}>
      <RowHead
        icon={terminalIcon}
        words={
          isRunning
            ? trans.__('Running a command')
            : state === 'done'
              ? trans.__('Ran a command')
              : trans.__('Run a command')
        }
      >
        {folder && <span>{trans.__('in %1', plainName(folder))}</span>}
        <AskBadge state={state} />
      </RowHead>
      <div className="jp-hdspAgent-command-text">
        <CopyButton text={command} label={trans.__('Copy the command')} />
        <BoundedText
          id={`${message.ts}:command`}
          text={command}
          render={command => (
            <pre className="jp-hdspAgent-chat-plain" tabIndex={0}>
              <VisibleText text={command} />
            </pre>
          )}
        />
      </div>
      <AskFailure message={message} />
      <AskedElsewhere message={message} />
      {/* While it waits, they stand at the question. */}
      {state !== 'waiting' && <RiskFlagList flags={flagsOn(message)} />}
      {said.map(
        ({ ts, commandRun, text }) =>
          commandRun && (
            <CommandState key={ts} run={commandRun} hasOutput={!!text} />
          )
      )}
      {output && <TerminalText id={`${message.ts}:output`} text={output} />}
    </div>
  );
}

/**
 * What a program wrote, where the command itself is not here.
 */
export function OutputRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { notebook, commandRun, text } = message;
  return (
    <div className="jp-hdspAgent-command">
      {notebook && <PlaceLink path={notebook.path} cellId={notebook.cellId} />}
      {commandRun && <CommandState run={commandRun} hasOutput={!!text} />}
      {text && <TerminalText id={`${message.ts}:output`} text={text} />}
    </div>
  );
}

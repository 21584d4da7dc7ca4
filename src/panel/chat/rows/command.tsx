import { terminalIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { useStore } from '../../hooks';
import { usePanel } from '../../services';
import { BoundedText } from '../boundedtext';
import { useChat } from '../chatcontext';
import { CopyButton } from '../copybutton';
import type { IExecution } from '../executions';
import { durationText } from '../../figures';
import { useParts } from '../parts';
import { PlaceLink } from '../placelink';
import { RequestButton } from '../requestbutton';
import { TerminalText } from '../terminaltext';
import { useElapsed } from '../useelapsed';
import type { AskState } from './askstate';
import { AskBadge, useAskState } from './askstate';
import type { IRowContent } from './content';

/**
 * A command, what it writes, and how it ends.
 */
export function CommandRow({ message, parts }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const state = useAskState(message);
  const execution = useExecution(message.ts);
  const said = useParts(parts);
  const { command, folder } = commandOf(message.text ?? '');
  const output = said.map(({ text }) => text ?? '').join('');
  return (
    <div className="jp-hdspAgent-command" data-state={state}>
      <div className="jp-hdspAgent-chat-tool-head">
        <terminalIcon.react
          tag="span"
          className="jp-hdspAgent-chat-tool-icon"
          aria-hidden="true"
        />
        <span className="jp-hdspAgent-chat-tool-words">
          {state === 'done'
            ? trans.__('Ran a command')
            : trans.__('Run a command')}
        </span>
        {folder && <span>{trans.__('in %1', folder)}</span>}
        <AskBadge state={state} />
        <CopyButton text={command} label={trans.__('Copy the command')} />
      </div>
      <BoundedText
        id={`${message.ts}:command`}
        text={command}
        render={command => (
          <pre className="jp-hdspAgent-chat-plain" tabIndex={0}>
            {command}
          </pre>
        )}
      />
      <HowItFares
        state={state}
        execution={execution}
        isWriting={said.some(({ partial }) => partial)}
        hasOutput={output !== ''}
      />
      {output && <TerminalText id={`${message.ts}:output`} text={output} />}
    </div>
  );
}

/**
 * What a program wrote, where the command itself is not here.
 */
export function OutputRow({ message, parts: _ }: IRowContent): JSX.Element {
  return (
    <div className="jp-hdspAgent-command">
      {message.notebook && (
        <PlaceLink
          path={message.notebook.path}
          cellId={message.notebook.cellId}
        />
      )}
      <TerminalText id={`${message.ts}:output`} text={message.text ?? ''} />
    </div>
  );
}

function HowItFares({
  state,
  execution,
  isWriting,
  hasOutput
}: {
  state: AskState;
  execution: IExecution | null;
  isWriting: boolean;
  hasOutput: boolean;
}): JSX.Element | null {
  const { store, trans } = usePanel();
  const isWorking = useStore(
    store,
    ({ state }) => state?.currentTaskStatus === 'running'
  );
  // What was cut off in the middle says for ever that it is not whole.
  const isRunning = execution?.isRunning ?? (isWriting && isWorking);
  const since = execution?.since ?? 0;
  const elapsed = useElapsed(since, isRunning && since > 0);
  if (isRunning) {
    return (
      <div className="jp-hdspAgent-command-state" data-state="running">
        <span className="jp-hdspAgent-chat-spinner" aria-hidden="true" />
        <span>
          {since > 0
            ? trans.__('Running for %1', durationText(trans, elapsed))
            : trans.__('Running')}
        </span>
        {execution?.pid && (
          <span className="jp-hdspAgent-chat-quiet">
            {trans.__('Process %1', execution.pid)}
          </span>
        )}
        <RequestButton
          label={trans.__('Stop')}
          title={trans.__('Ends the running commands of this conversation')}
          request={{ type: 'terminalOperation', terminalOperation: 'abort' }}
        />
        <RequestButton
          label={trans.__('Let it go on')}
          title={trans.__('The agent goes on while the command runs')}
          request={{ type: 'terminalOperation', terminalOperation: 'continue' }}
        />
      </div>
    );
  }
  const text = execution ? endText(execution, trans) : null;
  const isSilent = state === 'done' && !hasOutput && execution !== null;
  return text || isSilent ? (
    <div
      className="jp-hdspAgent-command-state"
      data-state={execution?.exitCode === 0 ? 'ok' : 'failed'}
    >
      <span>{text}</span>
      {execution?.duration !== null && execution !== null && (
        <span className="jp-hdspAgent-chat-quiet">
          {durationText(trans, execution.duration)}
        </span>
      )}
      {isSilent && (
        <span className="jp-hdspAgent-chat-quiet">
          {trans.__('It wrote nothing.')}
        </span>
      )}
    </div>
  ) : null;
}

function endText(
  { hasTimedOut, exitCode }: IExecution,
  trans: TranslationBundle
): string {
  if (hasTimedOut) {
    return trans.__('Stopped: it took too long');
  }
  switch (exitCode) {
    case null:
      return trans.__('Stopped');
    case 0:
      return trans.__('Succeeded');
    default:
      return trans.__('Failed with exit code %1', exitCode);
  }
}

/**
 * A command, and the folder it runs in where the server names one in front.
 */
function commandOf(text: string): { command: string; folder: string | null } {
  const match = /^# in ([^\n]+)\n([^]*)$/.exec(text);
  return match
    ? { command: match[2], folder: match[1] }
    : { command: text, folder: null };
}

function useExecution(ts: number): IExecution | null {
  const { executions } = useChat();
  const subscribe = React.useCallback(
    (listener: () => void) => {
      executions.changed.connect(listener);
      return () => void executions.changed.disconnect(listener);
    },
    [executions]
  );
  return React.useSyncExternalStore(subscribe, () => executions.of(ts));
}

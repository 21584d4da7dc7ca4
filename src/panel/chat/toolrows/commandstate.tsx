import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { CommandRun } from '../../../generated/wire';
import type { AgentStore } from '../../../state/store';
import { awaitedCommand } from '../../asks/runningcommand';
import { durationText } from '../../../ui/texts/formats';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { RequestButton } from '../../../ui/controls/requestbutton';
import { useElapsed } from '../../../ui/useelapsed';

/**
 * How a command fares, or how it ended and how long it took.
 */
export function CommandState({
  run,
  hasOutput
}: {
  run: CommandRun;
  hasOutput: boolean;
}): JSX.Element {
  const { store, trans } = usePanel();
  const isRunning = useStore(store, store => runs(store, run));
  if (isRunning) {
    return <Running run={run} />;
  }
  const isSilent = run.state !== 'running' && !hasOutput;
  return (
    <div
      className="jp-hdspAgent-command-state"
      data-state={run.exitCode === 0 ? 'ok' : 'failed'}
    >
      <span>{endText(run, trans)}</span>
      {run.durationMs !== undefined && run.durationMs >= 1_000 && (
        <span className="jp-hdspAgent-chat-quiet">
          {durationText(trans, run.durationMs)}
        </span>
      )}
      {isSilent && (
        <span className="jp-hdspAgent-chat-quiet">
          {trans.__('No output.')}
        </span>
      )}
    </div>
  );
}

/**
 * Whether a command runs. What a server that was killed has left says for ever
 * that it does.
 */
export function runs({ state }: AgentStore, run: CommandRun): boolean {
  return (
    run.state === 'running' &&
    (state?.runningCommands?.some(
      ({ executionId }) => executionId === run.executionId
    ) ??
      false)
  );
}

function Running({
  run: { executionId, startedAt }
}: {
  run: CommandRun;
}): JSX.Element {
  const { store, trans } = usePanel();
  const pid = useStore(
    store,
    ({ state }) =>
      state?.runningCommands?.find(other => other.executionId === executionId)
        ?.pid
  );
  const isAwaited = useStore(
    store,
    store => awaitedCommand(store)?.executionId === executionId
  );
  const elapsed = useElapsed(startedAt, true);
  const line = React.useRef<HTMLDivElement>(null);
  useSight(line, isAwaited ? executionId : null);
  return (
    <div ref={line} className="jp-hdspAgent-command-state" data-state="running">
      <span className="jp-hdspAgent-chat-spinner" aria-hidden="true" />
      <span>
        {isAwaited
          ? trans.__('Running for %1', durationText(trans, elapsed))
          : trans.__(
              'Running in the background for %1',
              durationText(trans, elapsed)
            )}
      </span>
      {pid !== undefined && (
        <span className="jp-hdspAgent-chat-quiet">
          {trans.__('Process %1', pid)}
        </span>
      )}
      {isAwaited && (
        <>
          <RequestButton
            label={trans.__('Stop the command')}
            title={trans.__('Stops the running commands of this conversation')}
            request={{ type: 'terminalOperation', terminalOperation: 'abort' }}
          />
          <RequestButton
            label={trans.__('Continue without waiting')}
            title={trans.__('The agent continues while the command runs')}
            request={{
              type: 'terminalOperation',
              terminalOperation: 'continue'
            }}
          />
        </>
      )}
    </div>
  );
}

/**
 * Has the panel know while a running command is in sight: what can be done
 * about it is not offered twice.
 */
function useSight(
  line: React.RefObject<HTMLDivElement>,
  executionId: string | null
): void {
  const { state } = usePanel();
  React.useEffect(() => {
    if (
      line.current === null ||
      executionId === null ||
      typeof IntersectionObserver !== 'function'
    ) {
      return;
    }
    const leave = () => {
      if (state.commandInSight === executionId) {
        state.commandInSight = null;
      }
    };
    const watch = new IntersectionObserver(
      entries => {
        if (entries.at(-1)?.isIntersecting) {
          state.commandInSight = executionId;
        } else {
          leave();
        }
      },
      { threshold: 1 }
    );
    watch.observe(line.current);
    return () => {
      watch.disconnect();
      leave();
    };
  }, [state, line, executionId]);
}

function endText(
  { state, exitCode }: CommandRun,
  trans: TranslationBundle
): string {
  switch (state) {
    case 'timed_out':
      return trans.__('Stopped: it took too long');
    case 'stopped':
      return trans.__('Stopped');
    case 'running':
      return trans.__('Exit status unknown.');
    case 'exited':
      break;
  }
  if (exitCode === undefined || exitCode === 0) {
    return trans.__('Succeeded');
  }
  return exitCode < 0
    ? trans.__('Ended by signal %1', -exitCode)
    : trans.__('Failed with exit code %1', exitCode);
}

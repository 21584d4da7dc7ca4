import * as React from 'react';

import type { CommandStarted } from '../../generated/wire';
import type { AgentStore } from '../../state/store';
import { usePanelState, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { named } from '../../state/panel/askanswers';
import { TransientNote } from '../../ui/controls/transientnote';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';

/**
 * What one can do about a command the agent waits for; nothing when there is
 * none, or its row is in sight and offers the same.
 */
export function RunningCommand(): JSX.Element | null {
  const { client, state, store, trans } = usePanel();
  const inSight = usePanelState(state, ({ commandInSight }) => commandInSight);
  const command = useStore(store, awaitedCommand);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const [letGo, setLetGo] = React.useState<string | null>(null);
  const { isBusy, error, run } = useAction();
  if (
    command === null ||
    command.executionId === letGo ||
    command.executionId === inSight
  ) {
    return null;
  }
  const operate = (terminalOperation: 'continue' | 'abort') =>
    void run(async () => {
      await client.request({
        type: 'terminalOperation',
        terminalOperation,
        ...named(taskId)
      });
      setLetGo(command.executionId);
    });
  return (
    <TransientNote
      className="jp-hdspAgent-ask"
      role="group"
      aria-label={trans.__('Running command')}
      data-ask="command_output"
    >
      <p className="jp-hdspAgent-ask-sentence">
        {trans.__('Waiting for this command')}
      </p>
      <pre className="jp-hdspAgent-ask-code" data-size="line">
        {command.command}
      </pre>
      <div className="jp-hdspAgent-ask-buttons">
        <button
          type="button"
          className="jp-hdspAgent-button"
          aria-disabled={isBusy}
          onClick={() => operate('abort')}
        >
          {trans.__('Stop the command')}
        </button>
        <button
          type="button"
          className="jp-hdspAgent-button"
          aria-disabled={isBusy}
          onClick={() => operate('continue')}
        >
          {trans.__('Continue without waiting')}
        </button>
      </div>
      <ProblemNote error={error} />
    </TransientNote>
  );
}

/**
 * The command the work waits for. One that goes on in the background is none:
 * the model was asked again since.
 */
export function awaitedCommand(store: AgentStore): CommandStarted | null {
  const running = store.state?.runningCommands ?? [];
  const newest = running.at(-1);
  if (newest === undefined || store.state?.currentTaskStatus !== 'running') {
    return null;
  }
  for (let index = store.order.length - 1; index >= 0; index--) {
    const message = store.message(store.order[index]);
    if (message?.say === 'api_req_started') {
      return null;
    }
    if (message?.ask === 'command' && message.isAnswered) {
      return newest;
    }
  }
  return null;
}

import { stopIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { asErrorBody } from '../../errors';
import type { ErrorBody } from '../../generated/wire';
import { externalAgent } from '../../state/externalagent';
import { useLasting, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { isWorking } from '../../state/panel/senddraft';
import { plainName } from '../../ui/texts/visibletext';

/**
 * How long an answer may take before it is told that there is none yet.
 */
const PATIENCE_MILLISECONDS = 3_000;

/**
 * Stops the task on screen; an empty place when it does not work.
 */
export function StopButton({
  onFailed
}: {
  readonly onFailed: (error: ErrorBody) => void;
}): JSX.Element {
  const { client, store, trans } = usePanel();
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const works = useStore(store, isWorking);
  const agent = useStore(store, externalAgent);
  const [stopping, setStopping] = React.useState<string | null>(null);
  const isStopping = works && stopping === taskId && taskId !== null;
  const isLate = useLasting(isStopping, PATIENCE_MILLISECONDS);
  React.useEffect(() => {
    if (!works) {
      setStopping(null);
    }
  }, [works]);
  if (!works || taskId === null) {
    // Its place stays: what moved there would get the clicks of impatient people.
    return <span className="jp-hdspAgent-composer-stop" aria-hidden="true" />;
  }
  const label = isStopping ? trans.__('Stopping…') : trans.__('Stop');
  const stop = async () => {
    setStopping(taskId);
    try {
      await client.request({ type: 'cancelTask', taskId });
    } catch (reason) {
      onFailed(asErrorBody(reason));
    }
    setStopping(current => (current === taskId ? null : current));
  };
  return (
    <>
      {isLate && (
        <span className="jp-hdspAgent-composer-note" role="status">
          {trans.__("Stopping… The server hasn't confirmed yet.")}
        </span>
      )}
      <button
        type="button"
        className="jp-hdspAgent-button jp-hdspAgent-composer-stop"
        aria-label={label}
        title={
          isStopping
            ? label
            : agent === null
              ? trans.__('Stop the agent')
              : trans.__('Stop %1', plainName(agent))
        }
        disabled={isStopping}
        onClick={() => void stop()}
      >
        <stopIcon.react tag="span" aria-hidden="true" />
      </button>
    </>
  );
}

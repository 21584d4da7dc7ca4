import type { LabIcon } from '@jupyterlab/ui-components';
import { undoIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { CommandIDs } from '../../../ui/commandids';
import type { Changed } from '../../../generated/rest';
import type { ClineMessage } from '../../../generated/wire';
import { checkpointIcon } from '../../../ui/icons/checkpointicon';
import { reasonText } from '../../../timeline/checkpointtexts';
import { changedText, whenText } from '../../../timeline/timelinetexts';
import { restoreCheckpoint } from '../../changes/restorecheckpoint';
import { durationText } from '../../../ui/texts/formats';
import { IconButton } from '../../../ui/controls/iconbutton';
import { differenceIcon } from '../../../ui/icons/conversationicons';
import { timelineIcon } from '../../../ui/icons/timelineicons';
import { ProblemNote } from '../../../ui/controls/problemnote';
import { useAction } from '../../../ui/useaction';
import { usePanelState, useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import type { IRowContent } from './rowcontent';
import { RowHead } from './rowhead';

/**
 * What takes less is not worth a word.
 */
const NOTICEABLE_MS = 1_000;

/**
 * Everything was kept as it was before something the agent did: what it was
 * before, and ways to see what is different now and to go back.
 */
export function CheckpointRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const isHere = useIsHere(message);
  const reason = message.checkpoint?.reason;
  const what =
    typeof reason === 'string'
      ? reasonText(reason, trans)
      : message.checkpoint?.isFirst === true
        ? trans.__('First checkpoint')
        : trans.__('Saved checkpoint');
  const changed = changedIn(message);
  const took = longIn(message);
  return (
    <div className="jp-hdspAgent-chat-note jp-hdspAgent-checkpoint">
      <RowHead
        icon={checkpointIcon}
        words={
          <>
            <span className="jp-hdspAgent-checkpoint-reason" title={what}>
              {what}
            </span>{' '}
            <time
              className="jp-hdspAgent-chat-quiet"
              dateTime={new Date(message.ts).toISOString()}
            >
              {whenText(message.ts)}
            </time>{' '}
            {changed !== null && (
              <>
                <span
                  className="jp-hdspAgent-chat-quiet"
                  title={trans.__('Since the previous checkpoint')}
                >
                  {changedText(changed, trans)}
                </span>{' '}
              </>
            )}
            {took !== null && (
              <>
                <span className="jp-hdspAgent-chat-quiet">
                  {trans.__('saved in %1', durationText(trans, took))}
                </span>{' '}
              </>
            )}
            {isHere && (
              <strong className="jp-hdspAgent-chat-badge">
                {trans.__('You are here')}
              </strong>
            )}
          </>
        }
      />
      <Actions message={message} />
    </div>
  );
}

/**
 * How much changed since the checkpoint before it; `null` if nothing did, or
 * that is not known, as of the first.
 */
function changedIn({ checkpoint }: ClineMessage): Changed | null {
  const changed = checkpoint?.changed as Partial<Changed> | null | undefined;
  const { files = 0, cells = 0, variables = 0 } = changed ?? {};
  return files + cells + variables > 0 ? { files, cells, variables } : null;
}

/**
 * How long it took to save, in milliseconds, if anybody had to wait for it.
 */
function longIn({ checkpoint }: ClineMessage): number | null {
  const took = checkpoint?.durationMs;
  return typeof took === 'number' && took >= NOTICEABLE_MS ? took : null;
}

/**
 * Whether everything is as a checkpoint has it, because nothing was done since
 * it was saved or gone back to.
 */
function useIsHere({ text, checkpoint }: ClineMessage): boolean {
  const { state: panel, store } = usePanel();
  const current = useStore(store, ({ state }) => state?.currentCheckpoint);
  const restored = usePanelState(panel, ({ restored }) => restored);
  if (current === undefined || restored === null) {
    return current === text;
  }
  const { checkpoint: led, target, parts, kept } = restored.result.operation;
  // Where a restore led to has a commit of its own if any byte is another: in a
  // notebook's file what is around its cells may be.
  const isBack =
    led?.commit === current &&
    target === checkpoint?.id &&
    parts.includes('files') &&
    parts.includes('notebooks') &&
    kept === 0;
  return isBack || current === text;
}

/**
 * What can be done with a checkpoint; nothing where there is no time line.
 */
function Actions({ message }: { message: ClineMessage }): JSX.Element | null {
  const services = usePanel();
  const { commands, store, trans } = services;
  const taskId = useStore(store, ({ state }) => state?.currentTaskId);
  const { isBusy, error, run } = useAction();
  const checkpoint = message.checkpoint?.id ?? message.text;
  if (
    taskId === undefined ||
    typeof checkpoint !== 'string' ||
    !commands.hasCommand(CommandIDs.openTimeline)
  ) {
    return null;
  }
  const show = (against: 'now' | 'previous') =>
    commands.execute(CommandIDs.openTimeline, {
      taskId,
      only: 'task',
      checkpoint,
      against
    });
  const button = (
    icon: LabIcon,
    label: string,
    work: () => Promise<unknown>
  ) => (
    <IconButton
      icon={icon}
      label={label}
      aria-disabled={isBusy}
      onClick={() => void run(work)}
    />
  );
  return (
    <>
      <div
        className="jp-hdspAgent-checkpoint-actions"
        role="group"
        aria-label={trans.__('Checkpoint actions')}
      >
        {button(differenceIcon, trans.__('See what changed since'), () =>
          show('now')
        )}
        {button(undoIcon, trans.__('Restore…'), () =>
          restoreCheckpoint(services, taskId, checkpoint)
        )}
        {button(timelineIcon, trans.__('Show in timeline'), () =>
          show('previous')
        )}
      </div>
      <ProblemNote error={error} />
    </>
  );
}

import { checkIcon, refreshIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { AnswerNumbersView } from '../../generated/rest';
import type { ClineMessage } from '../../generated/wire';
import { CopyButton } from '../../ui/controls/copybutton';
import { IconButton } from '../../ui/controls/iconbutton';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useStore } from '../../ui/hooks';
import { useRenderContext } from '../../ui/rendercontext';
import { usePanel } from '../../ui/services';
import { useAction } from '../../ui/useaction';
import { retryAnswer } from '../changes/conversationchanges';
import { AnswerNumbers } from './answernumbers';
import { ReasonField } from './reasonfield';
import { thumbDownIcon, thumbUpIcon } from './thumbicons';

type Rating = 'up' | 'down';

/**
 * What can be done with an answer: copy it, have the model answer anew, see where
 * its numbers stand, and say whether it was of use.
 */
export function AnswerTools({
  message
}: {
  message: ClineMessage;
}): JSX.Element | null {
  const services = usePanel();
  const { client, store, trans } = services;
  const { announcements } = useRenderContext();
  const { ts, text = '', feedback } = message;
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const { isBusy, error, run } = useAction();
  const [isAsking, setAsking] = React.useState(false);
  const down = React.useRef<HTMLButtonElement>(null);
  const [numbers, setNumbers] = React.useState<AnswerNumbersView | null>(null);
  const rate = (rating: Rating | null, reason: string = '') =>
    run(() =>
      client.request({
        type: 'rateMessage',
        ...(taskId === null ? {} : { taskId }),
        messageTs: ts,
        ...(rating === null ? {} : { rating }),
        ...(reason === '' ? {} : { reason })
      })
    );
  const press = (rating: Rating) => {
    const next = feedback?.rating === rating ? null : rating;
    void rate(next).then(isDone => setAsking(isDone && next === 'down'));
  };
  const endAsking = () => {
    setAsking(false);
    // The field that had the focus is gone.
    down.current?.focus();
  };
  if (taskId === null) {
    return null;
  }
  const checkNumbers = async () => {
    const { HistoryApi } = await import('../../rest/historyapi');
    const api = new HistoryApi(services.serverSettings);
    const found = await api.numbers(taskId, ts);
    setNumbers(found);
    announcements.say(
      trans._n('%1 number checked', '%1 numbers checked', found.numbers.length)
    );
  };
  return (
    <>
      <div
        className="jp-hdspAgent-chat-row-tools"
        role="group"
        aria-label={trans.__('Answer actions')}
      >
        <CopyButton text={text} label={trans.__('Copy as Markdown')} />
        <IconButton
          icon={refreshIcon}
          label={trans.__('Try again')}
          aria-disabled={isBusy}
          onClick={() => void run(() => retryAnswer(services, taskId, ts))}
        />
        {/\d/.test(text) && (
          <IconButton
            icon={checkIcon}
            label={trans.__('Check the numbers')}
            aria-expanded={numbers !== null}
            aria-disabled={isBusy}
            onClick={() =>
              numbers === null ? void run(checkNumbers) : setNumbers(null)
            }
          />
        )}
        <IconButton
          icon={thumbUpIcon}
          label={trans.__('Good answer')}
          aria-pressed={feedback?.rating === 'up'}
          aria-disabled={isBusy}
          onClick={() => press('up')}
        />
        <IconButton
          ref={down}
          icon={thumbDownIcon}
          label={trans.__('Bad answer')}
          aria-pressed={feedback?.rating === 'down'}
          aria-disabled={isBusy}
          onClick={() => press('down')}
        />
      </div>
      {isAsking && (
        <ReasonField
          reason={feedback?.reason ?? ''}
          isBusy={isBusy}
          onCancel={endAsking}
          onSave={reason =>
            void rate('down', reason).then(isDone => {
              if (isDone) {
                endAsking();
                announcements.say(trans.__('Saved'));
              }
            })
          }
        />
      )}
      {numbers && <AnswerNumbers found={numbers} />}
      <ProblemNote error={error} />
    </>
  );
}

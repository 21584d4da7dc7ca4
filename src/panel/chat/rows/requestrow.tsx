import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ClineApiReqInfo, ClineMessage } from '../../../generated/wire';
import { useMessage, useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import {
  costText,
  durationText,
  fullCount,
  shortCount,
  whole
} from '../../../ui/texts/formats';
import { readJson } from '../../../ui/texts/readjson';
import { useElapsed } from '../../../ui/useelapsed';
import { hasAnswered, isFailureShown, requestBefore } from './wholeanswer';
import type { IRowContent } from './rowcontent';
import { failureText } from '../../../modelfailuretexts';

/**
 * The model was asked: how long it thinks, then what that took; a thin line.
 */
export function RequestRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { store, trans } = usePanel();
  const info = React.useMemo(
    () => readJson<ClineApiReqInfo>(message.text) ?? {},
    [message.text]
  );
  const isWorking = useStore(
    store,
    ({ state, order }) =>
      state?.currentTaskStatus === 'running' && order.at(-1) === message.ts
  );
  const isBegun = useStore(store, store => hasAnswered(store, message.ts));
  const isTold = useStore(store, store => isFailureShown(store, message.ts));
  const isAsked = info.cost === undefined && info.tokensOut === undefined;
  const isThinking = isAsked && isWorking && !info.cancelReason;
  const elapsed = useElapsed(message.ts, isThinking);
  if (isThinking) {
    return (
      <div className="jp-hdspAgent-request" data-state="running">
        <span className="jp-hdspAgent-chat-spinner" aria-hidden="true" />
        <span>{trans.__('Thinking… %1', durationText(trans, elapsed))}</span>
      </div>
    );
  }
  // What was begun and stopped says so at its own end; why nothing came, a row
  // of its own.
  const isSaidElsewhere =
    info.cancelReason === 'user_cancelled' ? isBegun : isTold && !isBegun;
  const isHere = info.cancelReason && !isSaidElsewhere;
  return (
    <div className="jp-hdspAgent-request">
      {isHere && (
        <span className="jp-hdspAgent-request-stopped">
          {cancelText(info, { isBegun, isTold }, trans)}
        </span>
      )}
      {info.tokensIn !== undefined && info.tokensOut !== undefined && (
        <span
          role="img"
          aria-label={tokensText(info, trans)}
          title={tokensText(info, trans)}
        >
          {trans.__(
            '↑ %1 ↓ %2',
            shortCount(info.tokensIn),
            shortCount(info.tokensOut)
          )}
        </span>
      )}
      {!!info.cost && <span>{costText(info.cost)}</span>}
    </div>
  );
}

function tokensText(
  {
    tokensIn = 0,
    tokensOut = 0,
    cacheReads = 0,
    cacheWrites = 0
  }: Partial<ClineApiReqInfo>,
  trans: TranslationBundle
): string {
  return trans.__(
    '%1 tokens sent to the model, %2 received, %3 read from its cache, %4 written to it',
    fullCount(tokensIn),
    fullCount(tokensOut),
    fullCount(cacheReads),
    fullCount(cacheWrites)
  );
}

/**
 * Whether a message says nothing but what it took to ask the model.
 */
export function isFigures(message: ClineMessage | undefined): boolean {
  if (message?.say !== 'api_req_started') {
    return false;
  }
  const info = readJson<ClineApiReqInfo>(message.text);
  return info?.tokensOut !== undefined && !info.cancelReason;
}

function cancelText(
  { cancelReason, streamingFailedMessage }: Partial<ClineApiReqInfo>,
  { isBegun, isTold }: { isBegun: boolean; isTold: boolean },
  trans: TranslationBundle
): string {
  if (cancelReason === 'user_cancelled') {
    return trans.__('Stopped');
  }
  // One failure is told once.
  const why = isTold ? '' : streamingFailedMessage;
  if (!isBegun) {
    return why ? trans.__('No answer: %1', why) : trans.__('No answer.');
  }
  return why
    ? trans.__('The answer was cut off: %1', why)
    : trans.__('The answer was cut off.');
}

/**
 * Says below the last words of an answer that the person stopped it there.
 */
export function StoppedHere({ ts }: { ts: number }): JSX.Element | null {
  const { store, trans } = usePanel();
  const asked = useStore(store, store => requestBefore(store, ts));
  const request = useMessage(store, asked ?? -1);
  const isStopped = React.useMemo(
    () =>
      readJson<ClineApiReqInfo>(request?.text)?.cancelReason ===
      'user_cancelled',
    [request?.text]
  );
  return isStopped ? (
    <p className="jp-hdspAgent-chat-stopped">{trans.__('Stopped')}</p>
  ) : null;
}

/**
 * The model is asked again, or its turn comes, in a while.
 */
export function WaitRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const isWaiting = message.partial === true;
  const isRetry = message.say === 'api_req_retry_delayed';
  const { text: said, seconds } = waitOf(message);
  const text = failureText(message.modelFailure, said, trans);
  return (
    <div
      className="jp-hdspAgent-request"
      data-state={isWaiting ? 'running' : 'over'}
    >
      {isWaiting && (
        <span className="jp-hdspAgent-chat-spinner" aria-hidden="true" />
      )}
      <span>
        {isRetry
          ? isWaiting
            ? whole(trans.__('Retrying in %1 s.', seconds))
            : retryText(message, trans)
          : isWaiting
            ? whole(
                trans.__(
                  'Waiting %1 s: the profile limits the request rate.',
                  seconds
                )
              )
            : trans.__('Waited because of the request limit.')}
      </span>
      {isRetry && text && (
        <span className="jp-hdspAgent-request-why">{text}</span>
      )}
    </div>
  );
}

/**
 * What became of a wait before a retry: it may have been cut off.
 */
function retryText(
  { modelFailure }: ClineMessage,
  trans: TranslationBundle
): string {
  return modelFailure?.retried === false
    ? trans.__('Not retried.')
    : trans.__('Retried.');
}

function waitOf({ text = '' }: ClineMessage): {
  text: string;
  seconds: number;
} {
  const limit = readJson<{ seconds: number }>(text);
  if (limit) {
    return { text: '', seconds: limit.seconds ?? 0 };
  }
  const timer = /<retry_timer>(\d+)<\/retry_timer>/.exec(text);
  return {
    text: text.replace(/<retry_timer>\d+<\/retry_timer>/, '').trim(),
    seconds: Number(timer?.[1] ?? 0)
  };
}

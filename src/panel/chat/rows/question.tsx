import * as React from 'react';

import type { FollowUpData } from '../../../generated/wire';
import { useMessage, useStore } from '../../hooks';
import { usePanel } from '../../services';
import { Markdown } from '../markdown/markdown';
import { readJson } from '../readjson';
import { AskBadge, useAskState } from './askstate';
import type { IRowContent } from './content';

/**
 * What the agent asks the person, and which of the answers offered was taken.
 */
export function QuestionRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const state = useAskState(message);
  const text = message.text ?? '';
  const data = readJson<FollowUpData>(text);
  const answer = useAnswer(message.ts);
  // While it streams, the text is a part of JSON and nothing to read.
  const question =
    data?.question ?? (text.startsWith('{') ? trans.__('…') : text);
  return (
    <div className="jp-hdspAgent-chat-question" data-state={state}>
      <div className="jp-hdspAgent-chat-question-head">
        <span className="jp-hdspAgent-speaker">
          {trans.__('The agent asks')}
        </span>
        <AskBadge state={state} />
      </div>
      <Markdown text={question} isGrowing={message.partial} />
      {state !== 'waiting' && (data?.suggest?.length ?? 0) > 0 && (
        <ul className="jp-hdspAgent-chat-question-answers">
          {data?.suggest?.map((suggestion, index) => (
            <li key={index} data-chosen={suggestion.answer === answer}>
              {suggestion.answer === answer
                ? trans.__('Chosen: %1', suggestion.answer)
                : suggestion.answer}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/**
 * What the person said to a question: what they said next.
 */
function useAnswer(ts: number): string | null {
  const { store } = usePanel();
  const next = useStore(
    store,
    ({ order }) => order[order.indexOf(ts) + 1] ?? 0
  );
  const message = useMessage(store, next);
  return message?.say === 'user_feedback' ? (message.text ?? null) : null;
}

/**
 * The agent is stuck.
 */
export function MistakesRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const state = useAskState(message);
  return (
    <div className="jp-hdspAgent-chat-question" data-state={state}>
      <div className="jp-hdspAgent-chat-question-head">
        <span className="jp-hdspAgent-speaker">
          {trans.__('The agent does not get on')}
        </span>
        <AskBadge state={state} />
      </div>
      <p>{message.text}</p>
      <p>
        {trans.__('Tell it what to do differently, or use a stronger model.')}
      </p>
    </div>
  );
}

/**
 * What may be done without asking is used up.
 */
export function LimitRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const state = useAskState(message);
  const { type, count } =
    readJson<{ type: string; count: number | string }>(message.text) ?? {};
  return (
    <div className="jp-hdspAgent-chat-question" data-state={state}>
      <div className="jp-hdspAgent-chat-question-head">
        <span className="jp-hdspAgent-speaker">
          {trans.__('Limit reached')}
        </span>
        <AskBadge state={state} />
      </div>
      <p>
        {type === 'cost'
          ? trans.__(
              'The agent has spent the $%1 it may spend without asking.',
              count
            )
          : trans.__(
              'The agent has asked the model as often as it may without asking you: %1 times.',
              count
            )}
      </p>
    </div>
  );
}

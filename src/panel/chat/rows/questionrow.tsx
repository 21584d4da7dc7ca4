import * as React from 'react';

import type { ClineMessage, FollowUpData } from '../../../generated/wire';
import { limitText, mistakesText } from '../../asks/limittexts';
import { useMessage, useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { Markdown } from '../../../ui/markdown/markdown';
import { readJson } from '../../../ui/texts/readjson';
import { AskBadge, useAskState } from './askstate';
import type { IRowContent } from './rowcontent';

/**
 * What the agent asks the person, and which of the answers offered was taken.
 */
export function QuestionRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const text = message.text ?? '';
  const data = readJson<FollowUpData>(text);
  const answer = useAnswer(message.ts);
  // While it streams, the text is a part of JSON and nothing to read.
  const question =
    data?.question ?? (text.startsWith('{') ? trans.__('…') : text);
  return (
    <Asked
      message={message}
      speaker={trans.__('The agent asks')}
      always={<Markdown text={question} isGrowing={message.partial} />}
    >
      {() =>
        (data?.suggest?.length ?? 0) > 0 && (
          <ul className="jp-hdspAgent-chat-question-answers">
            {data?.suggest?.map((suggestion, index) => (
              <li key={index} data-chosen={suggestion.answer === answer}>
                {suggestion.answer === answer
                  ? trans.__('Chosen: %1', suggestion.answer)
                  : suggestion.answer}
              </li>
            ))}
          </ul>
        )
      }
    </Asked>
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
  return (
    <Asked message={message} speaker={trans.__('The agent is stuck')}>
      {() => <p>{mistakesText(message, trans)}</p>}
    </Asked>
  );
}

/**
 * What may be done without asking is used up.
 */
export function LimitRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  return (
    <Asked message={message} speaker={trans.__('Limit reached')}>
      {() => <p>{limitText(message.text, trans)}</p>}
    </Asked>
  );
}

/**
 * Something that is asked.
 *
 * @param always - What it says in any case.
 * @param children - What it says when it does not wait: while it does, that is
 * said below, with the buttons.
 */
function Asked({
  message,
  speaker,
  always,
  children
}: {
  message: ClineMessage;
  speaker: string;
  always?: React.ReactNode;
  children: () => React.ReactNode;
}): JSX.Element {
  const { trans } = usePanel();
  const state = useAskState(message);
  return (
    <div className="jp-hdspAgent-chat-question" data-state={state}>
      <div className="jp-hdspAgent-chat-question-head">
        <span className="jp-hdspAgent-speaker">{speaker}</span>
        {/* There is nothing to approve in a question. */}
        <AskBadge state={state} waiting={trans.__('Waiting for you')} />
      </div>
      {always}
      {state !== 'waiting' && children()}
    </div>
  );
}

import * as React from 'react';

import { ClearedReport, CondenseReport } from '../../context/condensereport';
import { UndoCondenseButton } from '../../context/undocondensebutton';
import { usePanel } from '../../../ui/services';
import { Fold } from '../../../ui/texts/fold';
import { costText, shortCount } from '../../../ui/texts/formats';
import { Markdown } from '../../../ui/markdown/markdown';
import type { IRowContent } from './rowcontent';

/**
 * What came before was condensed into a summary, for the model.
 */
export function CondenseRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { store, trans } = usePanel();
  const condensed = message.contextCondense;
  const isFirst = React.useMemo(
    () =>
      !store.order.some(
        ts => ts < message.ts && store.message(ts)?.contextCondense
      ),
    [store, message.ts]
  );
  if (!condensed) {
    return (
      <div className="jp-hdspAgent-chat-note">
        <span className="jp-hdspAgent-chat-spinner" aria-hidden="true" />
        <span>{trans.__('Condensing the conversation…')}</span>
      </div>
    );
  }
  const { prevContextTokens, newContextTokens, cost, summary } = condensed;
  const { kept, dropped, markId } = condensed;
  return (
    <div className="jp-hdspAgent-divider">
      <div className="jp-hdspAgent-divider-line">
        <span>
          {trans.__(
            'Conversation condensed: %1 → %2 tokens',
            shortCount(prevContextTokens),
            shortCount(newContextTokens)
          )}
        </span>
        {cost > 0 && (
          <span className="jp-hdspAgent-chat-quiet">{costText(cost)}</span>
        )}
      </div>
      {!isFirst && (
        <p className="jp-hdspAgent-chat-quiet">
          {trans.__(
            'The more often a conversation is condensed, the less accurate the model becomes. Start a new conversation when you can.'
          )}
        </p>
      )}
      {(kept ?? dropped) && (
        <Fold
          id={`${message.ts}:account`}
          summary={trans.__('What was kept, and what was dropped')}
        >
          <CondenseReport condensed={condensed} />
          <UndoCondenseButton
            ts={message.ts}
            markId={markId}
            tokens={Math.max(0, prevContextTokens - newContextTokens)}
          />
        </Fold>
      )}
      {summary && (
        <Fold
          id={`${message.ts}:summary`}
          summary={trans.__('What the model remembers')}
        >
          <Markdown text={summary} />
        </Fold>
      )}
    </div>
  );
}

/**
 * Old messages, or old outputs of tools, were left out for the model.
 */
export function TruncationRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const {
    messagesRemoved = 0,
    cleared,
    end,
    prevContextTokens = 0,
    newContextTokens = 0,
    markId
  } = message.contextTruncation ?? {};
  const saved = Math.max(0, prevContextTokens - newContextTokens);
  return (
    <div className="jp-hdspAgent-divider">
      <div className="jp-hdspAgent-divider-line">
        <span>
          {cleared
            ? trans._n(
                'To make room, the model no longer sees %1 tool output. You still do.',
                'To make room, the model no longer sees %1 tool outputs. You still do.',
                cleared.outputs
              )
            : end === 'newest'
              ? trans._n(
                  'The provider refused the newest step, so the model no longer sees its %1 message. You still do.',
                  'The provider refused the newest step, so the model no longer sees its %1 messages. You still do.',
                  messagesRemoved
                )
              : trans._n(
                  'To make room, the model no longer sees %1 older message. You still do.',
                  'To make room, the model no longer sees %1 older messages. You still do.',
                  messagesRemoved
                )}
        </span>
        {saved > 0 && (
          <span className="jp-hdspAgent-chat-quiet">
            {trans.__('%1 tokens', `−${shortCount(saved)}`)}
          </span>
        )}
      </div>
      {cleared && (
        <Fold
          id={`${message.ts}:account`}
          summary={trans.__('Which outputs, and why')}
        >
          <ClearedReport cleared={cleared} />
        </Fold>
      )}
      <UndoCondenseButton ts={message.ts} markId={markId} tokens={saved} />
    </div>
  );
}

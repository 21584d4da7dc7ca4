import * as React from 'react';

import { usePanel } from '../../services';
import { Fold } from '../fold';
import { costText, shortCount } from '../../figures';
import { Markdown } from '../markdown/markdown';
import type { IRowContent } from './content';

/**
 * What came before was condensed into a summary, for the model.
 */
export function CondenseRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const condensed = message.contextCondense;
  if (!condensed) {
    return (
      <div className="jp-hdspAgent-chat-note">
        <span className="jp-hdspAgent-chat-spinner" aria-hidden="true" />
        <span>{trans.__('Condensing the conversation…')}</span>
      </div>
    );
  }
  const { prevContextTokens, newContextTokens, cost, summary } = condensed;
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
 * Old messages were left out, for the model.
 */
export function TruncationRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  const { messagesRemoved = 0 } = message.contextTruncation ?? {};
  return (
    <div className="jp-hdspAgent-divider">
      <div className="jp-hdspAgent-divider-line">
        <span>
          {trans._n(
            'The model does not see %1 older message any more, to make room. You still do.',
            'The model does not see %1 older messages any more, to make room. You still do.',
            messagesRemoved
          )}
        </span>
      </div>
    </div>
  );
}

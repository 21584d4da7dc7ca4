import * as React from 'react';

import type { HistoryItem } from '../../generated/wire';
import { focusComposer } from '../../ui/focuscomposer';
import { showConversation } from '../../ui/conversations/conversationactions';
import { dateTimeText } from '../../ui/texts/formats';
import { titleOf } from '../../ui/conversations/opentasks';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { useHistory } from '../history/usehistory';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';

const MOST = 4;

// Some of those that come may be subtasks.
const FETCHED = 12;

/**
 * The last conversations, to go on with; nothing when there are none.
 */
export function RecentConversations(): JSX.Element | null {
  const services = usePanel();
  const { client, node, state: panel, store, trans } = services;
  const pages = useHistory(FETCHED);
  const isFolded = useStore(
    store,
    ({ state }) => state?.settings?.historyPreviewCollapsed ?? false
  );
  const { run, error, isBusy } = useAction();
  // Subtasks are gone on with where they began.
  const items = (pages?.items ?? [])
    .filter(({ parentTaskId }) => parentTaskId === undefined)
    .slice(0, MOST);
  if (items.length === 0) {
    return null;
  }
  const open = ({ id }: HistoryItem) => {
    // The button goes with the list.
    focusComposer(node);
    void run(() => showConversation(services, id));
  };
  return (
    <section
      className="jp-hdspAgent-recent"
      aria-label={trans.__('Recent conversations')}
    >
      <button
        type="button"
        className="jp-hdspAgent-link"
        aria-expanded={!isFolded}
        disabled={isBusy}
        onClick={() =>
          void run(() =>
            client.request({
              type: 'updateSettings',
              updatedSettings: { historyPreviewCollapsed: !isFolded }
            })
          )
        }
      >
        {trans.__('Continue a recent conversation')}
      </button>
      <ProblemNote error={error} />
      {!isFolded && (
        <>
          <ul>
            {items.map(item => (
              <li key={item.id}>
                <button
                  type="button"
                  className="jp-hdspAgent-entry jp-hdspAgent-recent-open"
                  disabled={isBusy}
                  onClick={() => open(item)}
                >
                  <span
                    className="jp-hdspAgent-history-title"
                    dir="auto"
                    title={titleOf(item, trans)}
                  >
                    {titleOf(item, trans)}
                  </span>
                  <span className="jp-hdspAgent-history-about">
                    {dateTimeText(item.ts)}
                  </span>
                </button>
              </li>
            ))}
          </ul>
          <button
            type="button"
            className="jp-hdspAgent-link"
            onClick={() => {
              panel.page = 'history';
            }}
          >
            {trans.__('Show all conversations')}
          </button>
        </>
      )}
    </section>
  );
}

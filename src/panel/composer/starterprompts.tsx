import * as React from 'react';

import { usePanelState, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { useFrontPath } from '../../ui/notebookchoice';
import { focusComposer } from '../../ui/focuscomposer';
import { starterPrompts } from './promptlist';

/**
 * Things to begin an empty conversation with; nothing where none can be begun.
 */
export function StarterPrompts(): JSX.Element | null {
  const { node, notebooks, state, store, trans } = usePanel();
  const isSupported = useStore(
    store,
    ({ conversations }) => conversations === 'supported'
  );
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const choice = usePanelState(state, ({ notebookChoice }) => notebookChoice);
  const front = useFrontPath(notebooks);
  if (!isSupported) {
    return null;
  }
  const hasNotebook =
    choice.kind === 'chosen' || (choice.kind === 'front' && front !== null);
  return (
    <section
      className="jp-hdspAgent-starters"
      aria-label={trans.__('Suggested prompts')}
    >
      <p className="jp-hdspAgent-starters-title">
        {trans.__('Start with one of these, or write below:')}
      </p>
      {starterPrompts(trans, hasNotebook).map(({ label, text }) => (
        <button
          key={label}
          type="button"
          className="jp-hdspAgent-button jp-hdspAgent-starter"
          title={text}
          onClick={() => {
            state.offerText(taskId, text);
            focusComposer(node);
          }}
        >
          {label}
        </button>
      ))}
    </section>
  );
}

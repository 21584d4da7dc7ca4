import { editIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { errorText } from '../../errors';
import type { Suggestion } from '../../generated/wire';
import { IconButton } from '../../ui/controls/iconbutton';
import { modeName } from '../../ui/texts/modenames';
import type { AskMessage } from '../../state/pendingask';
import { focusComposer } from '../../ui/focuscomposer';
import { isBlank } from '../../state/panel/senddraft';
import { usePanelState, useSecondsUntil, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { named } from '../../state/panel/askanswers';
import { followUpOf } from './askcontent';
import { useAction } from '../../ui/useaction';
import { useAnswers } from './useanswers';

/**
 * The answers the agent suggests to its question, and how long one has before
 * the first of them is taken.
 */
export function FollowUp({ ask }: { ask: AskMessage }): JSX.Element {
  const { state, store, answers, node, trans } = usePanel();
  const suggestions = React.useMemo(() => followUpOf(ask).suggest ?? [], [ask]);
  const isBusy = useAnswers(answers, ({ isBusy }) => isBusy);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const write = (answer: string) => {
    const { text } = state.draft(taskId);
    state.setDraft(taskId, {
      text: [text, answer].filter(part => part !== '').join('\n')
    });
    focusComposer(node);
  };
  return (
    <>
      {suggestions.length > 0 && (
        <>
          <AutoAnswer ask={ask} taskId={taskId} />
          <ul
            className="jp-hdspAgent-ask-suggestions"
            aria-label={trans.__('Suggested answers')}
          >
            {suggestions.map((suggestion, index) => (
              <li key={index}>
                <SuggestionButtons
                  suggestion={suggestion}
                  isBusy={isBusy}
                  onSend={() =>
                    void answers.say(ask, suggestion.answer, suggestion.mode)
                  }
                  onEdit={() => write(suggestion.answer)}
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function SuggestionButtons({
  suggestion: { answer, mode },
  isBusy,
  onSend,
  onEdit
}: {
  suggestion: Suggestion;
  isBusy: boolean;
  onSend: () => void;
  onEdit: () => void;
}): JSX.Element {
  const { store, trans } = usePanel();
  const own = useStore(store, ({ state }) => state?.customModes);
  return (
    <>
      <button
        type="button"
        className="jp-hdspAgent-button jp-hdspAgent-ask-suggestion"
        aria-disabled={isBusy}
        title={answer}
        onClick={onSend}
      >
        <span className="jp-hdspAgent-ask-suggestion-text" dir="auto">
          {answer}
        </span>
        {mode && (
          <span className="jp-hdspAgent-ask-badge">
            {trans.__('in the mode %1', modeName(trans, mode, own))}
          </span>
        )}
      </button>
      <IconButton
        icon={editIcon}
        label={trans.__('Edit this answer before it is sent: %1', answer)}
        title={trans.__('Edit this answer before it is sent')}
        onClick={onEdit}
      />
    </>
  );
}

/**
 * Counts down to the automatic answer; nothing where there is none. Whoever
 * begins to write answers themselves.
 */
function AutoAnswer({
  ask,
  taskId
}: {
  ask: AskMessage;
  taskId: string | null;
}): JSX.Element | null {
  const { client, store, state, answers, trans } = usePanel();
  const until = useStore(store, () => answers.clock.at(ask));
  const seconds = useSecondsUntil(until);
  const writes = usePanelState(state, state => !isBlank(state.draft(taskId)));
  const { isBusy, error, run } = useAction();
  const cancelled = React.useRef<number | null>(null);
  const cancel = () => {
    cancelled.current = until;
    void run(async () => {
      await client.request({ type: 'cancelAutoApproval', ...named(taskId) });
    });
  };
  React.useEffect(() => {
    if (writes && until !== null && cancelled.current !== until) {
      cancel();
    }
  });
  if (seconds === null) {
    return null;
  }
  return (
    <p className="jp-hdspAgent-ask-countdown">
      {/* Not read aloud: it changes every second. */}
      <span aria-hidden="true">
        {trans._n(
          'The first suggestion is sent in %1 second.',
          'The first suggestion is sent in %1 seconds.',
          seconds
        )}
      </span>{' '}
      <button
        type="button"
        className="jp-hdspAgent-ask-link"
        aria-disabled={isBusy}
        onClick={cancel}
      >
        {trans.__("I'll answer")}
      </button>
      {error && <span role="alert">{errorText(trans, error)}</span>}
    </p>
  );
}

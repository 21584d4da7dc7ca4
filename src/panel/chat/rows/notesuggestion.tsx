import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { NoteSuggestion } from '../../../generated/wire';
import { ProblemNote } from '../../../ui/controls/problemnote';
import { focusComposer } from '../../../ui/focuscomposer';
import { useStore } from '../../../ui/hooks';
import { isComposing } from '../../../ui/inputmethod';
import { usePanel } from '../../../ui/services';
import { fullCount } from '../../../ui/texts/formats';
import { useAction } from '../../../ui/useaction';
import { MemoryLink } from './memorylink';

/**
 * How long a note may be; the server says the same.
 */
const LONGEST = 2_000;

/**
 * A note that the agent proposes with its result, until the person decides; then
 * what they remembered. Nothing of one that they dismissed.
 */
export function SuggestedNote({
  ts,
  suggestion
}: {
  /** Which message suggests it. */
  ts: number;
  suggestion: NoteSuggestion;
}): JSX.Element | null {
  const { store, trans } = usePanel();
  const isOff = useStore(
    store,
    ({ state }) =>
      state?.settings?.noteSuggestionsEnabled === false ||
      state?.settings?.memoryEnabled === false
  );
  if (suggestion.decision === 'kept') {
    return (
      <div className="jp-hdspAgent-note-suggestion">
        <p>{trans.__('Remembered')}</p>
        <blockquote dir="auto">{suggestion.text}</blockquote>
        <MemoryLink />
      </div>
    );
  }
  if (suggestion.decision === 'dismissed' || isOff) {
    return null;
  }
  return <OpenSuggestion ts={ts} suggestion={suggestion} />;
}

function OpenSuggestion({
  ts,
  suggestion
}: {
  ts: number;
  suggestion: NoteSuggestion;
}): JSX.Element {
  const { client, node, store, trans } = usePanel();
  const { isBusy, error, run } = useAction();
  const [text, setText] = React.useState<string | null>(null);
  const editButton = React.useRef<HTMLButtonElement>(null);
  const isEdited = text !== null;
  const wasEdited = React.useRef(false);
  React.useEffect(() => {
    if (wasEdited.current && !isEdited) {
      // The field that had the focus is gone.
      editButton.current?.focus();
    }
    wasEdited.current = isEdited;
  }, [isEdited]);
  const title = React.useId();
  const taskId = useStore(store, ({ state }) => state?.currentTaskId);
  const decide = (keep: boolean) =>
    void run(async () => {
      await client.request({
        type: 'decideNoteSuggestion',
        taskId,
        messageTs: ts,
        keep,
        ...(keep && text !== null ? { text: text.trim() } : {})
      });
      // The buttons go.
      focusComposer(node);
    });
  return (
    <section
      className="jp-hdspAgent-note-suggestion"
      aria-labelledby={title}
      aria-busy={isBusy}
    >
      <p id={title}>{question(suggestion, trans)}</p>
      {text === null ? (
        <blockquote dir="auto">{suggestion.text}</blockquote>
      ) : (
        <NoteField
          text={text}
          onChange={setText}
          onCancel={() => setText(null)}
        />
      )}
      <div className="jp-hdspAgent-actions">
        <button
          type="button"
          className="jp-hdspAgent-button jp-mod-accept"
          aria-disabled={isBusy || !isSound(text)}
          onClick={() => isSound(text) && decide(true)}
        >
          {isBusy ? trans.__('Saving…') : trans.__('Remember')}
        </button>
        {text === null ? (
          <>
            <button
              ref={editButton}
              type="button"
              className="jp-hdspAgent-button"
              aria-disabled={isBusy}
              onClick={() => isBusy || setText(suggestion.text)}
            >
              {trans.__('Edit…')}
            </button>
            <button
              type="button"
              className="jp-hdspAgent-button"
              aria-disabled={isBusy}
              onClick={() => decide(false)}
            >
              {trans.__('Dismiss')}
            </button>
            <button
              type="button"
              className="jp-hdspAgent-chat-link"
              aria-disabled={isBusy}
              onClick={() =>
                void run(async () => {
                  await client.request({
                    type: 'updateSettings',
                    updatedSettings: { noteSuggestionsEnabled: false }
                  });
                  // All of it goes.
                  focusComposer(node);
                })
              }
            >
              {trans.__('Stop suggesting notes')}
            </button>
          </>
        ) : (
          <button
            type="button"
            className="jp-hdspAgent-button"
            aria-disabled={isBusy}
            onClick={() => isBusy || setText(null)}
          >
            {trans.__('Cancel')}
          </button>
        )}
      </div>
      <ProblemNote error={error} />
    </section>
  );
}

/**
 * Where the note is changed before it is kept.
 */
function NoteField({
  text,
  onChange,
  onCancel
}: {
  text: string;
  onChange: (text: string) => void;
  onCancel: () => void;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <>
      <textarea
        autoFocus
        dir="auto"
        rows={3}
        aria-label={trans.__('What to remember')}
        value={text}
        // Escape leaves the panel elsewhere.
        data-lm-suppress-shortcuts="true"
        onChange={event => onChange(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape' && !isComposing(event.nativeEvent)) {
            event.stopPropagation();
            onCancel();
          }
        }}
      />
      {text.trim().length > LONGEST && (
        <p className="jp-hdspAgent-problem" role="alert">
          {trans.__(
            'This is too long: %1 of %2 characters.',
            fullCount(text.trim().length),
            fullCount(LONGEST)
          )}
        </p>
      )}
    </>
  );
}

/**
 * Whether a note of this text can be kept; `null` is the one that was suggested.
 */
function isSound(text: string | null): boolean {
  return text === null || (text.trim() !== '' && text.trim().length <= LONGEST);
}

function question({ scope }: NoteSuggestion, trans: TranslationBundle): string {
  switch (scope) {
    case 'workspace':
      return trans.__('Remember this for everyone who works in this folder?');
    case 'notebook':
      return trans.__('Remember this for everyone who opens this notebook?');
    default:
      return trans.__('Remember this for all your conversations?');
  }
}

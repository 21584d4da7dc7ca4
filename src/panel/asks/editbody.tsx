import * as React from 'react';

import { errorText } from '../../errors';
import type { ProposalMessage, ProposedText } from '../../generated/wire';
import type { AskMessage } from '../../state/pendingask';
import { isComposing } from '../../ui/inputmethod';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import type { IAnswer } from '../../ui/useanswer';
import { useAnswer } from '../../ui/useanswer';
import { named } from '../../state/panel/askanswers';
import { requestReply } from '../../comm/requestreply';
import { useAnswers } from './useanswers';

/**
 * Lets a person edit what the agent proposes, and approve what they made of it.
 */
export default function EditBody({
  ask,
  onDone
}: {
  ask: AskMessage;
  onDone: () => void;
}): JSX.Element {
  const { trans } = usePanel();
  const { answer, error } = useProposal(ask);
  if (answer !== null) {
    return <EditForm ask={ask} proposed={answer} onDone={onDone} />;
  }
  return (
    <>
      {error === null ? (
        <p role="status">{trans.__('Loading…')}</p>
      ) : (
        <p role="alert">{errorText(trans, error)}</p>
      )}
      <div className="jp-hdspAgent-ask-buttons">
        <button type="button" className="jp-hdspAgent-button" onClick={onDone}>
          {trans.__('Cancel')}
        </button>
      </div>
    </>
  );
}

function EditForm({
  ask,
  proposed,
  onDone
}: {
  ask: AskMessage;
  proposed: readonly ProposedText[];
  onDone: () => void;
}): JSX.Element {
  const { answers, trans } = usePanel();
  const isBusy = useAnswers(answers, ({ isBusy }) => isBusy);
  const [texts, setTexts] = React.useState(() =>
    proposed.map(({ text }) => text)
  );
  return (
    <form
      className="jp-hdspAgent-ask-edit"
      onSubmit={event => {
        event.preventDefault();
        void answers.approve(ask, texts);
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && !isComposing(event.nativeEvent)) {
          event.stopPropagation();
          onDone();
        }
      }}
    >
      {proposed.map(({ name }, index) => (
        <label key={index}>
          <span>{Private.label(name, trans)}</span>
          <textarea
            autoFocus={index === 0}
            spellCheck={false}
            dir="auto"
            rows={Private.rows(texts[index] ?? '')}
            value={texts[index]}
            onChange={({ target: { value } }) =>
              setTexts(texts.map((text, at) => (at === index ? value : text)))
            }
          />
        </label>
      ))}
      <div className="jp-hdspAgent-ask-buttons">
        <button
          type="submit"
          className="jp-hdspAgent-button jp-mod-accept"
          aria-disabled={isBusy}
        >
          {trans.__('Approve as edited')}
        </button>
        <button type="button" className="jp-hdspAgent-button" onClick={onDone}>
          {trans.__('Cancel')}
        </button>
      </div>
    </form>
  );
}

/**
 * What is proposed.
 */
function useProposal(ask: AskMessage): IAnswer<readonly ProposedText[]> {
  const { client, store } = usePanel();
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const { ts } = ask;
  return useAnswer(
    React.useCallback(async () => {
      const { texts } = await requestReply(
        client,
        { type: 'requestProposal', messageTs: ts, ...named(taskId) },
        (message): message is ProposalMessage =>
          message.type === 'proposal' && message.messageTs === ts
      );
      return texts;
    }, [client, taskId, ts])
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The name of a text as people read it.
   */
  export function label(
    name: string,
    trans: ReturnType<typeof usePanel>['trans']
  ): string {
    switch (name) {
      case 'command':
        return trans.__('Command');
      case 'code':
        return trans.__('Code');
      default:
        break;
    }
    const cell = /^cell (\d+)$/.exec(name);
    if (cell) {
      return trans.__('Cell %1', cell[1]);
    }
    return name.startsWith('new cell ') ? trans.__('New cell') : name;
  }

  /**
   * How high the field of a text is, in lines.
   */
  export function rows(text: string): number {
    return Math.min(Math.max(text.split('\n').length, 2), 16);
  }
}

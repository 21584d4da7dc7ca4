import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { errorText } from '../../errors';
import type { AskMessage } from '../../state/pendingask';
import type { AgentStore } from '../../state/store';
import { isBlank } from '../../state/panel/senddraft';
import { beginConversation } from '../../ui/conversations/conversationactions';
import { usePanelState, usePendingAsk, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { AskText } from './asktext';
import { IconButton } from '../../ui/controls/iconbutton';
import { TransientNote } from '../../ui/controls/transientnote';
import { flagTexts } from '../../ui/texts/riskflags';
import { FollowUp } from './followup';
import { Popover } from '../../ui/controls/popover';
import { RunningCommand } from './runningcommand';
import { ProblemNote } from '../../ui/controls/problemnote';
import { useAction } from '../../ui/useaction';
import { useAnswers } from './useanswers';
import type { IAskTexts } from './asktexts';
import { describeAsk } from './asktexts';

const RulesBody = React.lazy(() => import('./rulesbody'));
const NeverBody = React.lazy(() => import('./denyrulebody'));
const EditBody = React.lazy(() => import('./editbody'));

/**
 * What the agent waits for, in words and buttons; nothing when it does not.
 */
export function AskBar(): JSX.Element {
  const { store, trans } = usePanel();
  const ask = usePendingAsk(store);
  const wentBack = useStore(store, store => Private.wentBack(store, ask));
  const modes = useStore(store, ({ state }) => state?.customModes);
  const renames = useStore(
    store,
    ({ state }) => state?.currentTaskItem?.renames
  );
  const words = React.useMemo(
    () => ask && describeAsk(ask, trans, { modes, wentBack, renames }),
    [ask, trans, modes, wentBack, renames]
  );
  return (
    <div className="jp-hdspAgent-asks">
      {/* It is heard without the focus going anywhere. */}
      <div className="jp-hdspAgent-announcement" role="status">
        {words && Private.spoken(words, trans)}
      </div>
      <AnswerTrouble />
      {ask && words ? (
        <Ask key={ask.ts} ask={ask} words={words} />
      ) : (
        <RunningCommand />
      )}
    </div>
  );
}

function Ask({
  ask,
  words
}: {
  ask: AskMessage;
  words: IAskTexts;
}): JSX.Element {
  const { trans } = usePanel();
  const [isEditing, setIsEditing] = React.useState(false);
  const [wasEditing, setWasEditing] = React.useState(false);
  return (
    <TransientNote
      className="jp-hdspAgent-ask"
      role="group"
      aria-label={trans.__('The agent waits for you')}
      data-ask={ask.ask}
    >
      <AskText words={words} />
      {ask.ask === 'followup' && <FollowUp ask={ask} />}
      {isEditing ? (
        <React.Suspense fallback={trans.__('Loading…')}>
          <EditBody
            ask={ask}
            onDone={() => {
              setIsEditing(false);
              setWasEditing(true);
            }}
          />
        </React.Suspense>
      ) : (
        <AskButtons
          ask={ask}
          words={words}
          onEdit={() => setIsEditing(true)}
          focusesEdit={wasEditing}
        />
      )}
    </TransientNote>
  );
}

function AskButtons({
  ask,
  words,
  onEdit,
  focusesEdit
}: {
  ask: AskMessage;
  words: IAskTexts;
  onEdit: () => void;
  focusesEdit: boolean;
}): JSX.Element | null {
  const { answers, store, state, trans } = usePanel();
  const isBusy = useAnswers(answers, ({ isBusy }) => isBusy);
  const given = useAnswers(answers, answers => answers.given(ask));
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const hasNote = usePanelState(state, state => !isBlank(state.draft(taskId)));
  const { approve, canEdit, deny, canLeave, hasRules, shouldLeave } = words;
  if (!approve && !deny && !canLeave) {
    return null;
  }
  return (
    <>
      {hasNote && approve && given === null && (
        <p className="jp-hdspAgent-ask-note">
          {deny
            ? trans.__('What you typed goes along with your answer.')
            : trans.__('What you typed goes along.')}
        </p>
      )}
      <div className="jp-hdspAgent-ask-buttons">
        {approve && (
          <button
            type="button"
            className={`jp-hdspAgent-button${shouldLeave ? '' : ' jp-mod-accept'}`}
            aria-disabled={isBusy}
            onClick={() => void answers.approve(ask)}
          >
            {given === 'yesButtonClicked' ? trans.__('Sending…') : approve}
          </button>
        )}
        {canEdit && (
          <button
            type="button"
            className="jp-hdspAgent-button"
            aria-disabled={isBusy}
            autoFocus={focusesEdit}
            onClick={() => isBusy || onEdit()}
          >
            {trans.__('Edit…')}
          </button>
        )}
        {hasRules && (
          <Popover
            label={trans.__('Approve always…')}
            className="jp-hdspAgent-button jp-hdspAgent-ask-always"
            face={
              <>
                {trans.__('Always')}
                <caretDownIcon.react tag="span" aria-hidden="true" />
              </>
            }
          >
            {close => (
              <React.Suspense fallback={trans.__('Loading…')}>
                <RulesBody ask={ask} onDone={close} />
              </React.Suspense>
            )}
          </Popover>
        )}
        {deny && (
          <button
            type="button"
            className="jp-hdspAgent-button"
            aria-disabled={isBusy}
            onClick={() => void answers.deny(ask)}
          >
            {given === 'noButtonClicked' ? trans.__('Sending…') : deny}
          </button>
        )}
        {deny && ask.ask === 'command' && (
          <Popover
            label={trans.__('Never allow…')}
            className="jp-hdspAgent-button jp-hdspAgent-ask-always"
            face={
              <>
                {trans.__('Never')}
                <caretDownIcon.react tag="span" aria-hidden="true" />
              </>
            }
          >
            {close => (
              <React.Suspense fallback={trans.__('Loading…')}>
                <NeverBody ask={ask} onDone={close} />
              </React.Suspense>
            )}
          </Popover>
        )}
        {canLeave && <NewConversation isFirst={!approve || !!shouldLeave} />}
      </div>
    </>
  );
}

function NewConversation({ isFirst }: { isFirst: boolean }): JSX.Element {
  const services = usePanel();
  const { trans } = services;
  const { isBusy, error, run } = useAction();
  return (
    <>
      <button
        type="button"
        className={`jp-hdspAgent-button${isFirst ? ' jp-mod-accept' : ''}`}
        aria-disabled={isBusy}
        onClick={() => void run(() => beginConversation(services))}
      >
        {trans.__('New conversation')}
      </button>
      <ProblemNote error={error} />
    </>
  );
}

/**
 * Says why the last answer was not taken, until it is put away.
 */
function AnswerTrouble(): JSX.Element | null {
  const { answers, store, trans } = usePanel();
  const trouble = useAnswers(answers, ({ trouble }) => trouble);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  if (trouble === null || trouble.taskId !== taskId) {
    return null;
  }
  return (
    <TransientNote className="jp-hdspAgent-ask-trouble" role="alert">
      <p>
        {trouble.isLate
          ? trans.__(
              'This was answered already, perhaps on another tab. Your answer came later and nothing was done with it.'
            )
          : errorText(trans, trouble.error)}
        {trouble.gaveBack && (
          <> {trans.__('What you typed is in the field again.')}</>
        )}
      </p>
      <IconButton
        icon={closeIcon}
        label={trans.__('Close')}
        onClick={() => answers.dismissProblem()}
      />
    </TransientNote>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * A question as it is read aloud, with what is warned of.
   */
  export function spoken(
    { announcement, sentence, flags = [] }: IAskTexts,
    trans: TranslationBundle
  ): string {
    const question = announcement ?? sentence;
    const warnings = flags.map(flag => flagTexts(flag, trans).label).join(', ');
    return warnings
      ? trans.__('%1 Warnings: %2.', question, warnings)
      : question;
  }

  /**
   * Whether the last thing before a question was that the person went back.
   */
  export function wentBack(
    { order, state }: AgentStore,
    ask: AskMessage | null
  ): boolean {
    const mark = state?.currentTaskMarks?.undoable;
    if (ask?.ask !== 'resume_task' || mark?.kind !== 'rewind') {
      return false;
    }
    const before = order[order.indexOf(ask.ts) - 1] ?? 0;
    return before < mark.ts && mark.ts <= ask.ts;
  }
}

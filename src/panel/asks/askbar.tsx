import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { errorText } from '../../errors';
import { externalAgent } from '../../state/externalagent';
import type { AskMessage } from '../../state/pendingask';
import type { AgentStore } from '../../state/store';
import { isBlank } from '../../state/panel/senddraft';
import { beginConversation } from '../../ui/conversations/conversationactions';
import { usePanelState, usePendingAsk, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { ReviewActions } from '../chat/filechanges/reviewactions';
import { AskText } from './asktext';
import { IconButton } from '../../ui/controls/iconbutton';
import { TransientNote } from '../../ui/controls/transientnote';
import { flagTexts } from '../../ui/texts/riskflags';
import { plainName } from '../../ui/texts/visibletext';
import { FollowUp } from './followup';
import { Popover } from '../../ui/controls/popover';
import { RunningCommand } from './runningcommand';
import { ProblemNote } from '../../ui/controls/problemnote';
import { listText } from '../../ui/texts/listtext';
import { useAction } from '../../ui/useaction';
import { useAnswers } from './useanswers';
import type { IAskTexts } from './asktexts';
import { mcpUseOf } from './askcontent';
import { describeAsk } from './asktexts';

const RulesBody = React.lazy(() => import('./rulesbody'));
const ToolRuleBody = React.lazy(() => import('./toolrulebody'));
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
  const notebook = useStore(
    store,
    ({ state }) => state?.currentTaskItem?.notebook?.path
  );
  const agent = useStore(store, externalAgent) ?? undefined;
  const words = React.useMemo(
    () =>
      ask &&
      describeAsk(ask, trans, { agent, modes, notebook, wentBack, renames }),
    [ask, trans, agent, modes, notebook, wentBack, renames]
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
  const { store, trans } = usePanel();
  const agent = useStore(store, externalAgent);
  const [isEditing, setIsEditing] = React.useState(false);
  const [wasEditing, setWasEditing] = React.useState(false);
  return (
    <TransientNote
      className="jp-hdspAgent-ask"
      role="group"
      aria-label={
        agent === null
          ? trans.__('The agent is waiting for you')
          : trans.__('%1 is waiting for you', plainName(agent))
      }
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
  const {
    approve,
    approveAndRun,
    canEdit,
    deny,
    canLeave,
    hasRules,
    shouldLeave
  } = words;
  if (!approve && !deny && !canLeave) {
    return null;
  }
  return (
    <>
      {hasNote && approve && given === null && (
        <p className="jp-hdspAgent-ask-note">
          {trans.__('Your text is sent with your answer.')}
        </p>
      )}
      <div className="jp-hdspAgent-ask-buttons">
        {approveAndRun && (
          <button
            type="button"
            className="jp-hdspAgent-button jp-mod-accept"
            aria-disabled={isBusy}
            onClick={() => void answers.approve(ask, undefined, true)}
          >
            {approveAndRun}
          </button>
        )}
        {approve && (
          <span className="jp-hdspAgent-ask-split">
            <button
              type="button"
              className={`jp-hdspAgent-button${shouldLeave || approveAndRun ? '' : ' jp-mod-accept'}`}
              aria-disabled={isBusy}
              onClick={() => void answers.approve(ask)}
            >
              {given === 'yesButtonClicked' ? trans.__('Sending…') : approve}
            </button>
            {hasRules && (
              <MoreButton
                label={trans.__('Approve always…')}
                isAccept={!approveAndRun}
              >
                {close =>
                  mcpUseOf(ask)?.type === 'use_mcp_tool' ? (
                    <ToolRuleBody ask={ask} onDone={close} />
                  ) : (
                    <RulesBody ask={ask} onDone={close} />
                  )
                }
              </MoreButton>
            )}
          </span>
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
        {deny && (
          <span className="jp-hdspAgent-ask-split">
            <button
              type="button"
              className="jp-hdspAgent-button"
              aria-disabled={isBusy}
              onClick={() => void answers.deny(ask)}
            >
              {given === 'noButtonClicked' ? trans.__('Sending…') : deny}
            </button>
            {ask.ask === 'command' && (
              <MoreButton label={trans.__('Never allow…')}>
                {close => <NeverBody ask={ask} onDone={close} />}
              </MoreButton>
            )}
          </span>
        )}
        {ask.ask === 'completion_result' && <ReviewActions />}
        {canLeave && <NewConversation isFirst={!approve || !!shouldLeave} />}
      </div>
    </>
  );
}

/**
 * The part of a button that leads to what else it can do.
 */
function MoreButton({
  label,
  isAccept = false,
  children
}: {
  label: string;
  isAccept?: boolean;
  children: (close: () => void) => React.ReactNode;
}): JSX.Element {
  const { trans } = usePanel();
  return (
    <Popover
      label={label}
      className={`jp-hdspAgent-button jp-hdspAgent-ask-more${isAccept ? ' jp-mod-accept' : ''}`}
      face={<caretDownIcon.react tag="span" aria-hidden="true" />}
    >
      {close => (
        <React.Suspense fallback={trans.__('Loading…')}>
          {children(close)}
        </React.Suspense>
      )}
    </Popover>
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
              'This was already answered, perhaps in another tab. Your answer was not used.'
            )
          : errorText(trans, trouble.error)}
        {trouble.gaveBack && (
          <> {trans.__('Your text is back in the message box.')}</>
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
   * How much of what would run is read aloud with the question.
   */
  const LONGEST_CODE = 200;

  /**
   * A question as it is read aloud, with what would run and what is warned of.
   */
  export function spoken(
    { announcement, sentence, code = '', flags = [] }: IAskTexts,
    trans: TranslationBundle
  ): string {
    const question =
      announcement ?? `${sentence} ${code.slice(0, LONGEST_CODE)}`.trim();
    const warnings = listText(
      flags.map(flag => flagTexts(flag, trans).label),
      trans
    );
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

import * as React from 'react';

import { asErrorBody, errorText } from '../../errors';
import type { ErrorBody } from '../../generated/wire';
import { Notice } from '../../ui/controls/notice';
import { usePanelState, useStore } from '../../ui/hooks';
import { externalAgent } from '../../state/externalagent';
import { plainName } from '../../ui/texts/visibletext';
import type { IDraft } from '../../state/panel/panelstate';
import { usePanel } from '../../ui/services';
import { attachPart } from './attachments/attachpart';
import { NotebookChoiceRow } from './notebookchoicerow';
import { DraftChips } from './attachments/draftchips';
import { ComposerBar } from './composerbar';
import { useEnhancing } from './enhance';
import { PromptField } from './promptfield';
import { focusComposer } from '../../ui/focuscomposer';
import { SendBlockedNote, blockerText } from './sendblockednote';
import { QueueList } from './queuelist';
import { isBlank } from '../../state/panel/senddraft';
import { SuggestionList } from './suggestions/suggestionlist';
import { withMentions } from './suggestions/suggestions';
import { takeFiles, takePictures } from './attachments/takefiles';
import { useDrop } from './attachments/usedrop';
import { useSending } from './usesending';
import {
  useSendBlocker,
  useComposerState,
  useProblem
} from './usecomposerstate';
import { useSuggestions } from './suggestions/usesuggestions';
import { placeholderOf, sendLabelOf } from './composertexts';

const NOTE_ID = 'jp-hdspAgent-composer-note';

/**
 * Where one types, and what goes along with it; nothing while no conversation
 * can be begun.
 */
export function Composer(): JSX.Element | null {
  const { store } = usePanel();
  const isSupported = useStore(
    store,
    ({ conversations }) => conversations === 'supported'
  );
  return isSupported ? <OpenComposer /> : null;
}

/**
 * The composer while there is a server that has conversations.
 */
function OpenComposer(): JSX.Element {
  const { node, store, trans } = usePanel();
  const root = React.useRef<HTMLElement>(null);
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const [trouble, setTrouble] = useProblem(taskId);
  const obstacle = useSendBlocker(store);
  // An empty panel tells at length how to set up a model.
  const isTold =
    useStore(store, ({ order }) => order.length === 0) &&
    obstacle?.kind !== 'offline';
  const reason = obstacle && blockerText(obstacle, false, trans);
  const now = useComposerState(store);
  const agent = useStore(store, externalAgent);
  const onFailed = (error: ErrorBody) => setTrouble(errorText(trans, error));
  const { draft, change, onText, onFiles, isOver } = useWriting(
    root,
    taskId,
    setTrouble
  );
  const { text } = draft;
  const enhancing = useEnhancing({ taskId, text, onText, onFailed });
  const { caret, suggestions, list } = useCompletion(
    taskId,
    text,
    onText,
    setTrouble,
    onFailed
  );
  const isReady = obstacle === null && !enhancing.isBusy;
  const { isBusy: isSending, send } = useSending({
    taskId,
    isReady,
    onBegun: () => setTrouble(null),
    onFailed
  });
  const isOffline = obstacle?.kind === 'offline';
  // That there is no connection, the banner tells.
  const note = isTold || (isOffline && !isSending) ? null : obstacle;
  const canSend = isReady && !isSending && !isBlank(draft);
  const onSend = () => {
    // A button that nobody can press any more loses the focus.
    focusComposer(node);
    send();
  };
  return (
    <section
      ref={root}
      className="jp-hdspAgent-composer"
      aria-label={trans.__('Write to the agent')}
      data-dropping={isOver || undefined}
      data-hindrance={obstacle?.kind}
    >
      <QueueList />
      {trouble !== null && (
        <Notice
          level="error"
          text={trouble}
          textRole="alert"
          onDismiss={() => setTrouble(null)}
        />
      )}
      {note && (
        <SendBlockedNote id={NOTE_ID} hindrance={note} isSending={isSending} />
      )}
      {isOffline && note === null && (
        <span id={NOTE_ID} hidden>
          {reason}
        </span>
      )}
      <NotebookChoiceRow />
      <div className="jp-hdspAgent-composer-box">
        {list && <SuggestionList view={list} />}
        <DraftChips
          key={taskId ?? ''}
          draft={draft}
          onChange={part => {
            change(part);
            focusComposer(node);
          }}
        />
        <PromptField
          taskId={taskId}
          value={text}
          placeholder={placeholderOf(now, trans, plainName(agent ?? ''))}
          describedBy={note || isOffline ? NOTE_ID : undefined}
          isReadOnly={enhancing.isBusy}
          caret={caret}
          onChange={onText}
          onSend={onSend}
          onPasteFiles={onFiles}
          suggestions={suggestions}
        />
        <ComposerBar
          enhancing={enhancing}
          isOurs={agent === null}
          isOffline={isOffline}
          canEnhance={obstacle === null && text.trim() !== ''}
          canSend={canSend}
          sendLabel={sendLabelOf(now, isSending, trans)}
          blockedReason={reason ?? undefined}
          onSend={onSend}
          onFiles={onFiles}
          onRefused={setTrouble}
          onFailed={onFailed}
        />
      </div>
    </section>
  );
}

/**
 * What is being written in a conversation, and how it changes: typed, pasted,
 * dropped.
 */
function useWriting(
  root: React.RefObject<HTMLElement>,
  taskId: string | null,
  setTrouble: (trouble: string | null) => void
) {
  const services = usePanel();
  const { state } = services;
  const draft = usePanelState(state, panel => panel.draft(taskId));
  const change = (part: Partial<IDraft>) => state.setDraft(taskId, part);
  const onText = (text: string) => {
    change({ text });
    setTrouble(null);
  };
  const onFiles = (files: readonly File[]) =>
    void takeFiles(services, files).then(setTrouble);
  const isOver = useDrop(root, {
    onFiles,
    onPaths: paths => onText(withMentions(state.draft(taskId).text, paths)),
    onCells: cells =>
      cells.forEach(
        at => void attachPart(services, 'cell', at).then(setTrouble)
      ),
    onVariable: ({ path, name }) => {
      void import('./attachments/attachvariable')
        .then(({ attachVariable }) =>
          attachVariable(services, path, name, taskId)
        )
        .catch((reason: unknown) =>
          errorText(services.trans, asErrorBody(reason))
        )
        .then(setTrouble);
    },
    onPictures: pictures =>
      void takePictures(services, pictures).then(setTrouble)
  });
  return { draft, change, onText, onFiles, isOver };
}

/**
 * What may be meant by what is typed, and where the caret goes when it is
 * chosen.
 */
function useCompletion(
  taskId: string | null,
  text: string,
  onText: (text: string) => void,
  onRefused: (refusal: string) => void,
  onFailed: (error: ErrorBody) => void
) {
  const { client } = usePanel();
  const caret = React.useRef<number | null>(null);
  const [suggestions, list] = useSuggestions({
    text,
    place: taskId,
    onChange: (text, at) => {
      caret.current = at;
      onText(text);
    },
    onRefused,
    onMode: slug =>
      void client
        .request({ type: 'mode', text: slug })
        .catch((reason: unknown) => onFailed(asErrorBody(reason)))
  });
  return { caret, suggestions, list };
}

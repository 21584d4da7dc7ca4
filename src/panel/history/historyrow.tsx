import type { TranslationBundle } from '@jupyterlab/translation';
import { ellipsesIcon } from '@jupyterlab/ui-components';
import { PathExt } from '@jupyterlab/coreutils';
import * as React from 'react';

import { CommandIDs } from '../../ui/commandids';
import type {
  HistorySnippet,
  HistorySnippetPart,
  RecallFound
} from '../../generated/rest';
import type { HistoryItem } from '../../generated/wire';
import { EXPORT_FORMATS } from '../../ui/conversations/conversationactions';
import { costText, dateTimeText, shortCount } from '../../ui/texts/formats';
import { IconButton } from '../../ui/controls/iconbutton';
import {
  favoriteIcon,
  notFavoriteIcon
} from '../../ui/icons/conversationicons';
import type { OpenTaskPhase } from '../../ui/conversations/opentasks';
import { phaseText, titleOf } from '../../ui/conversations/opentasks';
import { Marked, textOf } from '../../ui/texts/marked';
import { plainName } from '../../ui/texts/visibletext';
import { useMenu } from '../../ui/usemenu';
import { usePanel } from '../../ui/services';

/**
 * One conversation of the list.
 */
export const HistoryRow = React.memo(function HistoryRow({
  item,
  snippet,
  passage,
  phase,
  isCurrent,
  isMarked,
  onOpen,
  onFavor,
  onMark,
  onDelete
}: HistoryRow.IProps): JSX.Element {
  const { trans } = usePanel();
  // As it is shown, and as what is found in it is quoted.
  const title = titleOf(item, trans).replace(/\s+/g, ' ');
  const within = snippet === undefined ? [] : withoutEnd(snippet.parts);
  // Where the title says it, saying it twice adds nothing.
  const isTitle = within.length > 0 && title.startsWith(textOf(within));
  const quoted = quoteOf(isTitle ? undefined : snippet, passage, title);
  const isFavorite = item.isFavorited === true;
  return (
    <div className="jp-hdspAgent-history-row">
      <input
        type="checkbox"
        aria-label={trans.__('Select “%1”', title)}
        checked={isMarked}
        onChange={event => onMark(item.id, event.currentTarget.checked)}
      />
      <button
        type="button"
        className="jp-hdspAgent-entry jp-hdspAgent-history-open"
        data-task={item.id}
        aria-current={isCurrent ? 'true' : undefined}
        aria-keyshortcuts="Delete"
        onClick={() => onOpen(item, quoted?.ts ?? null)}
        onKeyDown={event => {
          if (event.key === 'Delete') {
            onDelete([item]);
          }
        }}
      >
        <span className="jp-hdspAgent-history-title" dir="auto" title={title}>
          {isTitle ? (
            <>
              <Marked parts={within} />
              {title.slice(textOf(within).length)}
            </>
          ) : (
            title
          )}
        </span>
        {quoted !== null && (
          <span
            className="jp-hdspAgent-history-snippet"
            dir="auto"
            title={textOf(quoted.parts)}
          >
            <Marked parts={quoted.parts} />
          </span>
        )}
        <span className="jp-hdspAgent-history-about">
          <Facts item={item} phase={phase} />
        </span>
      </button>
      <IconButton
        icon={isFavorite ? favoriteIcon : notFavoriteIcon}
        label={trans.__('Favorite: “%1”', title)}
        aria-pressed={isFavorite}
        onClick={() => onFavor(item)}
      />
      <RowMenu taskId={item.id} title={title} />
    </div>
  );
});

/**
 * The namespace for `HistoryRow` statics.
 */
export namespace HistoryRow {
  /**
   * What can be done with conversations of the list.
   */
  export interface IActions {
    /**
     * Show a conversation, with the message that is quoted of it.
     */
    readonly onOpen: (item: HistoryItem, ts: number | null) => void;
    readonly onFavor: (item: HistoryItem) => void;
    readonly onMark: (taskId: string, isMarked: boolean) => void;
    readonly onDelete: (items: readonly HistoryItem[]) => void;
  }

  /**
   * The properties of a row.
   */
  export interface IProps extends IActions {
    readonly item: HistoryItem;
    readonly snippet: HistorySnippet | undefined;

    /**
     * The message of it that answers best.
     */
    readonly passage: RecallFound | undefined;

    /**
     * How it is, if it is open.
     */
    readonly phase: OpenTaskPhase | null;
    readonly isCurrent: boolean;
    readonly isMarked: boolean;
  }
}

/**
 * What is quoted of a conversation below its title, and which message that is,
 * if it is known.
 */
interface IQuote {
  readonly parts: readonly HistorySnippetPart[];
  readonly ts: number | null;
}

/**
 * The message that answers best, unless the title says the same, or only the
 * snippet has the words themselves.
 */
function quoteOf(
  snippet: HistorySnippet | undefined,
  passage: RecallFound | undefined,
  title: string
): IQuote | null {
  const hasWords = passage?.snippet.some(({ found }) => found) === true;
  if (passage !== undefined && (hasWords || snippet === undefined)) {
    const isTitle = title.startsWith(textOf(withoutEnd(passage.snippet)));
    return isTitle
      ? null
      : { parts: passage.snippet, ts: Number(passage.place) };
  }
  return snippet === undefined ? null : { parts: snippet.parts, ts: null };
}

/**
 * What a snippet quotes, without the sign that more follows.
 */
function withoutEnd(
  parts: readonly HistorySnippetPart[]
): readonly HistorySnippetPart[] {
  const last = parts.at(-1);
  return last?.found === false
    ? [...parts.slice(0, -1), { ...last, text: last.text.replace(/…$/, '') }]
    : parts;
}

function Facts({
  item,
  phase
}: {
  item: HistoryItem;
  phase: OpenTaskPhase | null;
}): JSX.Element {
  const { trans } = usePanel();
  const tokens = item.tokensIn + item.tokensOut;
  const agent =
    item.externalAgent === undefined ? null : plainName(item.externalAgent);
  return (
    <>
      {phase !== null && phase !== 'resting' ? (
        <span data-phase={phase}>{phaseText(phase, trans)}</span>
      ) : (
        <Left item={item} />
      )}
      {agent !== null && agent !== titleOf(item, trans) && (
        <span data-agent={agent}>{agent}</span>
      )}
      <span>{dateTimeText(item.ts)}</span>
      {item.notebook !== undefined && (
        <span title={item.notebook.path}>
          {PathExt.basename(item.notebook.path)}
        </span>
      )}
      {tokens > 0 && <span>{trans.__('%1 tokens', shortCount(tokens))}</span>}
      {item.totalCost > 0 && <span>{costText(item.totalCost)}</span>}
      {item.parentTaskId !== undefined && <span>{trans.__('subtask')}</span>}
    </>
  );
}

/**
 * How a conversation was left that nobody works on.
 */
function Left({ item }: { item: HistoryItem }): JSX.Element | null {
  const { trans } = usePanel();
  const { state } = item;
  if (state === undefined) {
    return item.status === 'completed' ? (
      <span data-state="completed">{phaseText('done', trans)}</span>
    ) : null;
  }
  return (
    <span data-state={state} title={trans.__('Open it to continue')}>
      {stateText(state, trans)}
    </span>
  );
}

function stateText(
  state: NonNullable<HistoryItem['state']>,
  trans: TranslationBundle
): string {
  switch (state) {
    case 'paused':
      return trans.__('paused');
    case 'failed':
      return trans.__('interrupted');
    case 'timeout':
      return trans.__('timed out');
  }
}

/**
 * What else can be done with a conversation.
 */
function RowMenu({
  taskId,
  title
}: {
  taskId: string;
  title: string;
}): JSX.Element {
  const { trans } = usePanel();
  const { button, isOpen, open } = useMenu(menu => {
    const args = { taskId, title };
    menu.addItem({ command: CommandIDs.renameConversation, args });
    for (const format of EXPORT_FORMATS) {
      menu.addItem({
        command: CommandIDs.exportConversation,
        args: { ...args, format }
      });
    }
    menu.addItem({ command: CommandIDs.shareConversation, args });
    menu.addItem({ command: CommandIDs.copyRequest, args });
    menu.addItem({ type: 'separator' });
    menu.addItem({ command: CommandIDs.deleteConversation, args });
  });
  return (
    <IconButton
      ref={button}
      icon={ellipsesIcon}
      label={trans.__('Actions for “%1”', title)}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={open}
    />
  );
}

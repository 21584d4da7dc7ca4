import {
  caretDownIcon,
  caretUpIcon,
  closeIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';

import { asErrorBody } from '../../errors';
import type { ErrorBody } from '../../generated/wire';
import { HistoryApi } from '../../rest/historyapi';
import { IconButton } from '../../ui/controls/iconbutton';
import { ProblemNote } from '../../ui/controls/problemnote';
import { usePanelState, useStore } from '../../ui/hooks';
import { isComposing } from '../../ui/inputmethod';
import { focusNext } from '../../ui/nextfocus';
import { usePanel } from '../../ui/services';
import { fullCount } from '../../ui/texts/formats';
import { focusRow } from '../chat/rowkeys';
import type { IChatRow } from '../chat/rowmodel';
import { rowAt } from '../chat/rowmodel';
import { ConversationFind } from './conversationfind';
import { WordHighlights } from './wordhighlights';

/**
 * How long nothing is typed, in milliseconds, before it is looked for.
 */
const TYPED = 200;

/**
 * Finds a text in all of the conversation on screen, once somebody wants to.
 */
export function FindBar(props: IFindBarProps): JSX.Element | null {
  const { state } = usePanel();
  const find = ConversationFind.of(state);
  const subscribe = React.useCallback(
    (listener: () => void) => {
      find.changed.connect(listener);
      return () => void find.changed.disconnect(listener);
    },
    [find]
  );
  const isOpen = React.useSyncExternalStore(subscribe, () => find.isOpen);
  const asked = React.useSyncExternalStore(subscribe, () => find.asked);
  return isOpen ? <OpenBar {...props} find={find} asked={asked} /> : null;
}

interface IFindBarProps {
  readonly rows: readonly IChatRow[];

  /**
   * What holds the rows.
   */
  readonly box: React.RefObject<HTMLElement>;
}

function OpenBar({
  rows,
  box,
  find,
  asked
}: IFindBarProps & {
  find: ConversationFind;
  asked: number;
}): JSX.Element {
  const { node, trans } = usePanel();
  const [text, setText] = React.useState(find.text);
  const { hits, error } = useHits(text, box);
  useHighlights(box, text, rowOf(rows, hits.current));
  const field = React.useRef<HTMLInputElement>(null);
  const bar = React.useRef<HTMLDivElement>(null);
  const origin = React.useRef<Element | null>(null);
  React.useLayoutEffect(() => {
    const taken = find.takeOrigin();
    if (taken === null) {
      return;
    }
    if (!bar.current?.contains(taken.origin)) {
      origin.current = taken.origin;
    }
    field.current?.focus();
    field.current?.select();
  }, [asked, find]);
  const close = () => {
    find.close();
    leave(box.current, rowOf(rows, hits.current), origin.current, node);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const { key, shiftKey, ctrlKey, metaKey, nativeEvent } = event;
    if (isComposing(nativeEvent)) {
      return;
    }
    if (key === 'Escape') {
      event.stopPropagation();
      close();
    } else if (key === 'Enter' && event.target === field.current) {
      event.preventDefault();
      hits.step(shiftKey ? -1 : 1);
    } else if (key.toLowerCase() === 'f' && (ctrlKey || metaKey)) {
      event.preventDefault();
      field.current?.select();
    }
  };
  const isEmpty = hits.found === null || hits.found.length === 0;
  return (
    <div
      ref={bar}
      className="jp-hdspAgent-find"
      role="search"
      aria-label={trans.__('Find in conversation')}
      // Escape closes it; to Lab it means to leave the panel.
      data-lm-suppress-shortcuts="true"
      onKeyDown={onKeyDown}
    >
      <input
        ref={field}
        type="text"
        dir="auto"
        className="jp-hdspAgent-input"
        aria-label={trans.__('Find in conversation')}
        placeholder={trans.__('Find in conversation')}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          find.text = target.value;
          setText(target.value);
        }}
      />
      <span className="jp-hdspAgent-find-count" role="status">
        {hits.found !== null &&
          (isEmpty
            ? trans.__('No results')
            : trans._n(
                '%2 of %3 message',
                '%2 of %3 messages',
                hits.found.length,
                fullCount(hits.at + 1),
                hits.isMore
                  ? `${fullCount(hits.found.length)}+`
                  : fullCount(hits.found.length)
              ))}
      </span>
      <IconButton
        icon={caretUpIcon}
        label={trans.__('Previous result')}
        aria-disabled={isEmpty}
        onClick={() => hits.step(-1)}
      />
      <IconButton
        icon={caretDownIcon}
        label={trans.__('Next result')}
        aria-disabled={isEmpty}
        onClick={() => hits.step(1)}
      />
      <IconButton icon={closeIcon} label={trans.__('Close')} onClick={close} />
      <ProblemNote error={error} />
    </div>
  );
}

/**
 * Put the focus on what was found, to read on there, or else back to where one
 * was.
 */
function leave(
  box: HTMLElement | null,
  found: number | null,
  origin: Element | null,
  panel: HTMLElement
): void {
  if (box !== null && found !== null) {
    focusRow(box, found, undefined, () => {
      if (!box.contains(document.activeElement)) {
        box.focus({ preventScroll: true });
      }
    });
  } else if (
    origin instanceof HTMLElement &&
    origin.isConnected &&
    origin !== document.body
  ) {
    origin.focus();
  } else {
    focusNext(panel);
  }
}

/**
 * The messages that have a text, and the one of them that one is at.
 */
interface IHits {
  /**
   * `null` while nothing is looked for, or it is not known yet.
   */
  readonly found: readonly number[] | null;
  readonly isMore: boolean;

  /**
   * The index of the one that one is at.
   */
  readonly at: number;

  readonly current: number | null;

  /**
   * Go to another one, around the ends.
   */
  readonly step: (by: 1 | -1) => void;
}

function useHits(
  text: string,
  box: React.RefObject<HTMLElement>
): { hits: IHits; error: ErrorBody | null } {
  const { serverSettings, state, store } = usePanel();
  const taskId = useStore(store, ({ state }) => state?.currentTaskId ?? null);
  const newest = useStore(store, ({ order }) => order.at(-1));
  const [answer, setAnswer] = React.useState<{
    text: string;
    found: readonly number[];
    isMore: boolean;
  } | null>(null);
  const [current, setCurrent] = React.useState<number | null>(null);
  const [error, setError] = React.useState<ErrorBody | null>(null);
  const goTo = React.useCallback(
    (ts: number | undefined) => {
      setCurrent(ts ?? null);
      if (ts !== undefined && taskId !== null) {
        state.wantedMessage = { taskId, ts, keepsFocus: true };
      }
    },
    [state, taskId]
  );
  const before = React.useRef<string | null>(null);
  const ahead = React.useRef({ text: '', by: 0 });
  const wanted = text.trim();
  React.useEffect(() => {
    if (wanted === '' || taskId === null) {
      before.current = null;
      setAnswer(null);
      setCurrent(null);
      setError(null);
      return;
    }
    let isWanted = true;
    const look = async () => {
      const { found, more } = await new HistoryApi(serverSettings).find(
        taskId,
        wanted
      );
      if (!isWanted) {
        return;
      }
      setError(null);
      setAnswer({ text: wanted, found, isMore: more });
      if (before.current !== wanted) {
        before.current = wanted;
        const from = firstInSight(box.current);
        const next = found.findIndex(ts => ts >= from);
        const { text, by } = ahead.current;
        ahead.current = { text: '', by: 0 };
        const at = next < 0 ? found.length - 1 : next;
        goTo(around(found, at + (text === wanted ? by : 0)));
      }
    };
    const timer = setTimeout(() => {
      look().catch((reason: unknown) => {
        if (isWanted) {
          setAnswer(null);
          setError(asErrorBody(reason));
        }
      });
    }, TYPED);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
    // What is said meanwhile may have it too.
  }, [wanted, taskId, newest, serverSettings, goTo, box]);
  const found = answer?.found ?? null;
  const at = Math.max(0, found?.indexOf(current ?? NaN) ?? 0);
  const step = (by: 1 | -1) => {
    if (wanted !== (answer?.text ?? '')) {
      // From where the answer that is awaited begins.
      const { text, by: sofar } = ahead.current;
      ahead.current = { text: wanted, by: by + (text === wanted ? sofar : 0) };
    } else if (found !== null) {
      goTo(around(found, at + by));
    }
  };
  return {
    hits: { found, isMore: answer?.isMore ?? false, at, current, step },
    error
  };
}

/**
 * The one at an index that may be beyond the ends; `undefined` of none.
 */
function around(found: readonly number[], index: number): number | undefined {
  return found.at(index % found.length);
}

/**
 * Marks what was found, as long as the bar is there.
 */
function useHighlights(
  box: React.RefObject<HTMLElement>,
  text: string,
  row: number | null
): void {
  const { state } = usePanel();
  const wanted = usePanelState(state, ({ wantedMessage }) => wantedMessage);
  const highlights = React.useRef<WordHighlights | null>(null);
  React.useLayoutEffect(() => {
    if (box.current === null) {
      return;
    }
    const marks = new WordHighlights(box.current);
    highlights.current = marks;
    return () => marks.dispose();
  }, [box]);
  React.useEffect(() => highlights.current?.show(text, row), [text, row]);
  React.useEffect(() => {
    // Once the row is in its place.
    if (wanted === null && row !== null) {
      highlights.current?.reveal();
    }
  }, [wanted, row]);
}

function rowOf(rows: readonly IChatRow[], ts: number | null): number | null {
  return ts === null || rows.length === 0 || ts < rows[0].ts
    ? null
    : (rows[rowAt(rows, ts)]?.ts ?? null);
}

/**
 * The message whose row is the first in sight.
 */
function firstInSight(box: HTMLElement | null): number {
  const top = box?.getBoundingClientRect().top ?? 0;
  const row = [...(box?.querySelectorAll<HTMLElement>('[data-ts]') ?? [])].find(
    row => row.getBoundingClientRect().bottom > top
  );
  return Number(row?.dataset.ts ?? 0);
}

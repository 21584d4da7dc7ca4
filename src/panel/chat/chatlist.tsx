import * as React from 'react';
import type { CustomContainerComponentProps, VirtualizerHandle } from 'virtua';
import { Virtualizer } from 'virtua';

import { asErrorBody, errorText } from '../../errors';
import type { IWantedMessage } from '../../state/panel/panelstate';
import type { AgentStore } from '../../state/store';
import { usePanelState, useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { FindBar } from '../find/findbar';
import { ChatRow } from './chatrow';
import { FollowBottom } from './followbottom';
import { NewestButton } from './newestbutton';
import { awaitRow, focusRow, isMeasured, moveByRow } from './rowkeys';
import type { IChatRow } from './rowmodel';
import { rowAt, rowsOf } from './rowmodel';
import { isFigures } from './rows/requestrow';

/**
 * How near to the beginning, in pixels, older messages are loaded.
 */
const AHEAD = 1_200;

/**
 * How many messages are loaded at once on the way to one that is far away.
 */
const FAR = 200;

/**
 * How often the page is looked at for a row far away, with a list that has only
 * just been put there.
 */
const WANTED_TRIES = 60;

/**
 * How long, in milliseconds, the wheel is taken to go on turning.
 */
const WHEEL_TURN = 500;

/**
 * The rows of the conversation, of which only those in sight are on the page.
 */
export function ChatList(): JSX.Element {
  const { state, store, trans } = usePanel();
  const box = React.useRef<HTMLDivElement>(null);
  const list = React.useRef<VirtualizerHandle>(null);
  const { rows, growsUpwards } = useRows(store);
  const hasOlder = useStore(store, ({ hasOlderMessages }) => hasOlderMessages);
  const follow = useFollow(box);
  const older = useOlder(store, follow);
  React.useEffect(() => {
    const show = () => follow.current?.follow();
    state.newestWanted.connect(show);
    return () => void state.newestWanted.disconnect(show);
  }, [state, follow]);
  useWantedMessage({ rows, box, list, follow, older });
  useClearWantedMessage();
  const [focused, setFocused] = React.useState<number | null>(null);
  // The newest one grows and shrinks as it is rendered: where it falls out of
  // sight for a moment, all of it would be rendered anew.
  const kept = [rows.findIndex(({ ts }) => ts === focused), rows.length - 1];

  const { load } = older;
  const onScroll = React.useCallback(
    (offset: number) => {
      if (
        offset < AHEAD &&
        follow.current?.isFollowing === false &&
        !isWantedHere(state.wantedMessage, store)
      ) {
        load();
      }
    },
    [load, follow, state, store]
  );
  const newest = React.useRef<number | undefined>(undefined);
  React.useEffect(() => {
    // What one was at was taken back, and what comes instead is at the end.
    const before = newest.current;
    newest.current = store.order.at(-1);
    if (before !== undefined && !store.message(before)) {
      follow.current?.follow();
    }
  }, [rows, store, follow]);
  React.useEffect(() => {
    // What is there may be less than the box has room for.
    const node = box.current;
    if (node && node.scrollHeight <= node.clientHeight && node.clientHeight) {
      load();
    }
  }, [rows, load]);
  const wheelTurnsUntil = React.useRef(0);
  const onWheel = React.useCallback(
    ({ deltaY }: React.WheelEvent) => {
      wheelTurnsUntil.current = performance.now() + WHEEL_TURN;
      // At the very beginning nothing scrolls that would tell of it.
      if (deltaY < 0 && (box.current?.scrollTop ?? AHEAD) < AHEAD) {
        load();
      }
    },
    [load]
  );

  return (
    <div className="jp-hdspAgent-chat">
      <FindBar rows={rows} box={box} />
      {(older.isLoading || older.problem) && <OlderMessages {...older} />}
      <div
        ref={box}
        className="jp-hdspAgent-chat-box"
        role="feed"
        tabIndex={0}
        aria-label={trans.__('Conversation')}
        aria-busy={older.isLoading}
        onFocus={({ target }) => setFocused(rowOf(target))}
        onBlur={({ relatedTarget }) => setFocused(rowOf(relatedTarget))}
        onWheel={onWheel}
        onKeyDown={event =>
          moveByRow(
            event,
            rows,
            list.current,
            ({ ts }) => !isFigures(store.message(ts))
          )
        }
      >
        <WheelTurnsUntil.Provider value={wheelTurnsUntil}>
          <Virtualizer
            ref={list}
            as={Rows}
            scrollRef={box}
            data={rows}
            shift={growsUpwards}
            keepMounted={kept.filter(
              (at, index) => at >= 0 && kept.indexOf(at) === index
            )}
            onScroll={onScroll}
          >
            {(row: IChatRow, index: number) => (
              <ChatRow
                key={row.ts}
                row={row}
                position={index + 1}
                total={hasOlder ? -1 : rows.length}
              />
            )}
          </Virtualizer>
        </WheelTurnsUntil.Provider>
      </div>
      <NewestButton follow={follow} box={box} />
    </div>
  );
}

/**
 * Until when the wheel is taken to turn, in the page's milliseconds.
 */
const WheelTurnsUntil = React.createContext<React.RefObject<number>>({
  current: 0
});

/**
 * What holds the rows. They take clicks while they scroll, which Virtua would
 * not let them: an answer that comes scrolls all the time, and what was pressed
 * when it began to would not be clicked.
 *
 * #### Notes
 * While the wheel turns they take none. All of a turn goes to what was under the
 * pointer first, and a row leaves the page in the middle of it.
 */
const Rows = React.forwardRef<HTMLDivElement, CustomContainerComponentProps>(
  function Rows({ style, children }, ref) {
    const until = React.useContext(WheelTurnsUntil);
    const isTurning = performance.now() < (until.current ?? 0);
    const pointerEvents = isTurning ? style.pointerEvents : undefined;
    return (
      <div ref={ref} style={{ ...style, pointerEvents }}>
        {children}
      </div>
    );
  }
);

/**
 * That older messages are on their way, or why they are not.
 */
function OlderMessages({ isLoading, problem, load }: IOlder): JSX.Element {
  const { trans } = usePanel();
  return (
    <div className="jp-hdspAgent-chat-older" role="status">
      {isLoading ? trans.__('Loading older messages…') : problem}
      {!isLoading && (
        <button className="jp-hdspAgent-button" onClick={() => load()}>
          {trans.__('Try again')}
        </button>
      )}
    </div>
  );
}

/**
 * The row the focus is in. It stays on the page when it is scrolled out of
 * sight: the focus would be lost with it.
 */
function rowOf(target: EventTarget | null): number | null {
  const row = target instanceof Element ? target.closest('[data-ts]') : null;
  return row instanceof HTMLElement ? Number(row.dataset.ts) : null;
}

function useRows(store: AgentStore): {
  rows: readonly IChatRow[];
  growsUpwards: boolean;
} {
  const order = useStore(store, ({ order }) => order);
  const before = React.useRef<{
    order: readonly number[] | null;
    rows: readonly IChatRow[];
    growsUpwards: boolean;
  }>({ order: null, rows: [], growsUpwards: false });
  if (before.current.order !== order) {
    const { rows } = before.current;
    const now = rowsOf(order, ts => store.message(ts), rows);
    const first = rows[0]?.ts;
    before.current = {
      order,
      rows: now,
      growsUpwards: first !== undefined && now[0]?.ts !== first
    };
  }
  return before.current;
}

/**
 * Brings a message that somebody looks for into sight, with the focus on it,
 * once it is here.
 */
function useWantedMessage({
  rows,
  box,
  list,
  follow,
  older
}: {
  rows: readonly IChatRow[];
  box: React.RefObject<HTMLDivElement>;
  list: React.RefObject<VirtualizerHandle>;
  follow: React.RefObject<FollowBottom | null>;
  older: IOlder;
}): void {
  const { state, store } = usePanel();
  const wanted = usePanelState(state, ({ wantedMessage }) => wantedMessage);
  const { isLoading, problem, load } = older;
  React.useEffect(() => {
    if (!isWantedHere(wanted, store)) {
      follow.current?.arrive();
      return;
    }
    if (rows.length === 0) {
      return;
    }
    follow.current?.leave();
    if (wanted.ts < store.order[0] && store.hasOlderMessages) {
      if (!isLoading && problem === null) {
        load(FAR);
      } else if (problem !== null) {
        follow.current?.arrive();
      }
      return;
    }
    // What was taken back since is not here any more; what came after it is.
    const index = rowAt(rows, wanted.ts);
    list.current?.scrollToIndex(index, { align: 'start' });
    if (box.current) {
      const { ts } = rows[index];
      const done = () => {
        if (state.wantedMessage === wanted) {
          state.wantedMessage = null;
          if (!wanted.keepsFocus) {
            markFocused();
          }
        }
      };
      // Until then other rows may come before it, and it has another index.
      if (wanted.keepsFocus) {
        awaitRow(box.current, ts, WANTED_TRIES, isMeasured, done);
      } else {
        focusRow(box.current, ts, WANTED_TRIES, done);
      }
    }
  }, [wanted, rows, box, list, follow, isLoading, problem, load, state, store]);
}

/**
 * Forget a message that did not come when its conversation is left, or another
 * one than its is shown: it would be jumped to much later.
 */
function useClearWantedMessage(): void {
  const { state, store } = usePanel();
  const [taskId] = React.useState(() => store.state?.currentTaskId);
  React.useEffect(
    () => () => {
      const wanted = state.wantedMessage;
      if (!isWantedHere(wanted, store) || wanted.taskId === taskId) {
        state.wantedMessage = null;
      }
    },
    [state, store, taskId]
  );
}

/**
 * Let the row with the focus stand out until one goes on: who pressed a button
 * with the mouse is shown no focus.
 */
function markFocused(): void {
  const row = document.activeElement;
  if (row instanceof HTMLElement && row.dataset.ts !== undefined) {
    row.dataset.wanted = 'true';
    row.addEventListener('blur', () => delete row.dataset.wanted, {
      once: true
    });
  }
}

function isWantedHere(
  wanted: IWantedMessage | null,
  store: AgentStore
): wanted is IWantedMessage {
  return wanted !== null && wanted.taskId === store.state?.currentTaskId;
}

/**
 * What keeps the box at its end, unless another place is looked for.
 */
function useFollow(
  box: React.RefObject<HTMLDivElement>
): React.RefObject<FollowBottom | null> {
  const { state, store } = usePanel();
  const follow = React.useRef<FollowBottom | null>(null);
  React.useLayoutEffect(() => {
    const node = box.current;
    const content = node?.firstElementChild;
    if (!node || !(content instanceof HTMLElement)) {
      return;
    }
    const following = new FollowBottom(node, content);
    follow.current = following;
    if (isWantedHere(state.wantedMessage, store)) {
      following.leave();
    } else {
      following.follow();
    }
    return () => following.dispose();
  }, [box, state, store]);
  return follow;
}

interface IOlder {
  readonly isLoading: boolean;
  readonly problem: string | null;
  readonly load: (limit?: number) => void;
}

/**
 * Loads older messages, one page at a time, and lets go of them when one is
 * back at the newest.
 */
function useOlder(
  store: AgentStore,
  follow: React.RefObject<FollowBottom | null>
): IOlder {
  const { trans } = usePanel();
  const [state, setState] = React.useState<Omit<IOlder, 'load'>>({
    isLoading: false,
    problem: null
  });
  const isLoading = React.useRef(false);
  const load = React.useCallback(
    (limit?: number) => {
      if (isLoading.current || !store.hasOlderMessages) {
        return;
      }
      isLoading.current = true;
      setState({ isLoading: true, problem: null });
      const ended = (problem: string | null) => {
        isLoading.current = false;
        setState({ isLoading: false, problem });
      };
      store.loadOlder(limit).then(
        () => ended(null),
        (reason: unknown) => ended(errorText(trans, asErrorBody(reason)))
      );
    },
    [store, trans]
  );
  React.useEffect(() => {
    const following = follow.current;
    const release = () => {
      if (following?.isFollowing) {
        store.releaseOlder();
      }
    };
    following?.changed.connect(release);
    return () => void following?.changed.disconnect(release);
  }, [store, follow]);
  return { ...state, load };
}

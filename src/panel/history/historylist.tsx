import * as React from 'react';

import { openTasks, phaseOf } from '../../ui/conversations/opentasks';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import type { IFound } from './foundpassages';
import { HistoryRow } from './historyrow';
import type { HistoryPages } from './historypages';
import type { IHistoryBranch } from './historytree';
import { historyTree } from './historytree';
import type { ISubtasks } from './usehistory';

/**
 * The conversations themselves; subtasks are below what they are part of,
 * except in the results of a search, whose order says what fits best.
 */
export function HistoryList(props: HistoryList.IProps): JSX.Element | null {
  const { pages } = props;
  const { trans } = usePanel();
  const { known, load } = props.subtasks;
  const [unfolded, setUnfolded] = React.useState<ReadonlySet<string>>(
    new Set()
  );
  const isSearch = pages.filter.query !== '';
  const { items } = pages;
  const tree = React.useMemo(
    () =>
      isSearch
        ? (items ?? []).map(item => ({ item, children: [], missing: [] }))
        : historyTree(items ?? [], known),
    [isSearch, items, known]
  );
  const unfold = React.useCallback(
    ({ item, missing }: IHistoryBranch, isUnfolded: boolean) => {
      setUnfolded(before => {
        const after = new Set(before);
        if (isUnfolded) {
          after.add(item.id);
        } else {
          after.delete(item.id);
        }
        return after;
      });
      if (isUnfolded) {
        load(missing);
      }
    },
    [load]
  );
  const list = React.useRef<HTMLUListElement>(null);
  const remember = useKeptPlace(list, tree);
  if (tree.length === 0) {
    return null;
  }
  return (
    <ul
      ref={list}
      onFocus={remember}
      className="jp-hdspAgent-history-list"
      aria-label={trans.__('Conversations')}
      onKeyDown={moveAmongRows}
    >
      <Branches
        {...props}
        branches={tree}
        unfolded={unfolded}
        onUnfold={unfold}
      />
    </ul>
  );
}

/**
 * The namespace for `HistoryList` statics.
 */
export namespace HistoryList {
  /**
   * The properties of the list.
   */
  export interface IProps extends HistoryRow.IActions {
    readonly pages: HistoryPages;

    /**
     * Where conversations say what was looked for, by their ids.
     */
    readonly passages: IFound['listed'] | null;
    readonly subtasks: ISubtasks;
    readonly marked: ReadonlySet<string>;
  }
}

interface IBranchesProps extends HistoryList.IProps {
  readonly branches: readonly IHistoryBranch[];
  readonly unfolded: ReadonlySet<string>;
  readonly onUnfold: (branch: IHistoryBranch, isUnfolded: boolean) => void;
}

function Branches(props: IBranchesProps): JSX.Element {
  const { store, trans } = usePanel();
  const current = useStore(store, ({ state }) => state?.currentTaskId);
  const open = useStore(store, openTasks);
  const { branches, unfolded, pages, passages, marked } = props;
  return (
    <>
      {branches.map(branch => {
        const { item, children } = branch;
        const task = open.find(({ taskId }) => taskId === item.id);
        const isUnfolded = unfolded.has(item.id);
        return (
          <li key={item.id} className="jp-hdspAgent-history-item">
            <HistoryRow
              item={item}
              snippet={pages.snippet(item.id)}
              passage={passages?.get(item.id)}
              phase={task === undefined ? null : phaseOf(task)}
              isCurrent={item.id === current}
              isMarked={marked.has(item.id)}
              onOpen={props.onOpen}
              onFavor={props.onFavor}
              onMark={props.onMark}
              onDelete={props.onDelete}
            />
            <Fold branch={branch} isUnfolded={isUnfolded} {...props} />
            {isUnfolded && children.length > 0 && (
              <ul aria-label={trans.__('Subtasks')}>
                <Branches {...props} branches={children} />
              </ul>
            )}
          </li>
        );
      })}
    </>
  );
}

function Fold({
  branch,
  isUnfolded,
  onUnfold
}: {
  branch: IHistoryBranch;
  isUnfolded: boolean;
  onUnfold: IBranchesProps['onUnfold'];
}): JSX.Element | null {
  const { trans } = usePanel();
  const count = branch.children.length + branch.missing.length;
  if (count === 0) {
    return null;
  }
  return (
    <button
      type="button"
      className="jp-hdspAgent-link jp-hdspAgent-history-fold"
      aria-expanded={isUnfolded}
      onClick={() => onUnfold(branch, !isUnfolded)}
    >
      {trans._n('%1 subtask', '%1 subtasks', count)}
    </button>
  );
}

/**
 * Keeps the focus in the list when the conversation that has it goes: it is
 * on the one that takes its place then.
 *
 * @returns Hears what has the focus.
 */
function useKeptPlace(
  list: React.RefObject<HTMLElement>,
  tree: readonly IHistoryBranch[]
): (event: React.FocusEvent<HTMLElement>) => void {
  const place = React.useRef<{ taskId?: string; index: number } | null>(null);
  React.useEffect(() => {
    const before = place.current;
    const rows = list.current === null ? [] : rowsOf(list.current);
    const isGone =
      before !== null &&
      !rows.some(({ dataset }) => dataset.task === before.taskId);
    if (isGone) {
      place.current = null;
      if (document.activeElement === document.body) {
        rows[Math.min(before.index, rows.length - 1)]?.focus();
      }
    }
  }, [list, tree]);
  return event => {
    const item = event.target.closest('.jp-hdspAgent-history-item');
    const rows = rowsOf(event.currentTarget);
    const index = rows.findIndex(row => item?.contains(row));
    place.current = { taskId: rows[index]?.dataset.task, index };
  };
}

/**
 * The buttons that open conversations, in their order on screen.
 */
function rowsOf(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('.jp-hdspAgent-history-open')];
}

/**
 * Arrows go from one conversation to the next, without the buttons between.
 */
export function moveAmongRows(event: React.KeyboardEvent<HTMLElement>): void {
  const rows = rowsOf(event.currentTarget);
  const at = rows.indexOf(event.target as HTMLElement);
  if (at === -1) {
    return;
  }
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[
    event.key
  ];
  if (to !== undefined) {
    rows.at(Math.min(to, rows.length - 1))?.focus();
    event.preventDefault();
  }
}

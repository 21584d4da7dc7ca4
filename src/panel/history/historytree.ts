import type { HistoryItem } from '../../generated/wire';

/**
 * A conversation with the subtasks of it that are known.
 */
export interface IHistoryBranch {
  readonly item: HistoryItem;
  readonly children: readonly IHistoryBranch[];

  /**
   * Subtasks there are, but that are not known here.
   */
  readonly missing: readonly string[];
}

/**
 * Put subtasks below what they are part of. One whose parent is not known
 * stays where it is.
 *
 * @param items - The conversations, in the order of the list.
 *
 * @param others - Subtasks that are known, but not part of the list itself.
 */
export function historyTree(
  items: readonly HistoryItem[],
  others: ReadonlyMap<string, HistoryItem>
): IHistoryBranch[] {
  const known = new Map([
    ...others,
    ...items.map(item => [item.id, item] as const)
  ]);
  const childIds = new Map<string, Set<string>>();
  // A parent names its subtasks in their order; that of others is not known.
  for (const { id, childIds: named } of known.values()) {
    childIds.set(id, new Set(named));
  }
  for (const { id, parentTaskId } of known.values()) {
    if (parentTaskId !== undefined) {
      const siblings = childIds.get(parentTaskId) ?? new Set();
      childIds.set(parentTaskId, siblings.add(id));
    }
  }
  const placed = new Set<string>();
  const branch = (item: HistoryItem): IHistoryBranch => {
    placed.add(item.id);
    const ids = [...(childIds.get(item.id) ?? [])];
    const children = ids.flatMap(id => {
      const child = known.get(id);
      // One that is its own ancestor is placed already.
      return child === undefined || placed.has(id) ? [] : [branch(child)];
    });
    return { item, children, missing: ids.filter(id => !known.has(id)) };
  };
  const roots: IHistoryBranch[] = [];
  for (const item of items) {
    const hasParent =
      item.parentTaskId !== undefined && known.has(item.parentTaskId);
    if (!hasParent && !placed.has(item.id)) {
      roots.push(branch(item));
    }
  }
  // What is left is part of a circle, or of a task that is known but not listed.
  for (const item of items) {
    if (!placed.has(item.id)) {
      roots.push(branch(item));
    }
  }
  return roots;
}

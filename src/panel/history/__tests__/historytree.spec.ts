import { anItem } from '../../header/__tests__/conversations';
import type { IHistoryBranch } from '../historytree';
import { historyTree } from '../historytree';

function shape(branches: readonly IHistoryBranch[]): unknown[] {
  return branches.map(({ item, children, missing }) => [
    item.id,
    shape(children),
    missing
  ]);
}

describe('asTree', () => {
  const none = new Map();

  it('should put subtasks below their parents, at any depth', () => {
    const items = [
      anItem({ id: 'a', childIds: ['b'] }),
      anItem({ id: 'b', parentTaskId: 'a' }),
      anItem({ id: 'c', parentTaskId: 'b' })
    ];
    expect(shape(historyTree(items, none))).toEqual([
      ['a', [['b', [['c', [], []]], []]], []]
    ]);
  });

  it('should name the subtasks that are not known', () => {
    const items = [anItem({ id: 'a', childIds: ['b'] })];
    expect(shape(historyTree(items, none))).toEqual([['a', [], ['b']]]);
    const others = new Map([['b', anItem({ id: 'b', parentTaskId: 'a' })]]);
    expect(shape(historyTree(items, others))).toEqual([
      ['a', [['b', [], []]], []]
    ]);
  });

  it('should leave a subtask in the list whose parent is not known', () => {
    const items = [anItem({ id: 'b', parentTaskId: 'gone' })];
    expect(shape(historyTree(items, none))).toEqual([['b', [], []]]);
  });

  it('should show each task of a circle once', () => {
    const items = [
      anItem({ id: 'a', parentTaskId: 'b' }),
      anItem({ id: 'b', parentTaskId: 'a' })
    ];
    expect(shape(historyTree(items, none))).toEqual([
      ['a', [['b', [], []]], []]
    ]);
  });
});

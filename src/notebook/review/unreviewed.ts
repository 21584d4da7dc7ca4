import type { ICellChange, IRemovedCell } from '../operations';

/**
 * A change of the agent that nobody has looked at.
 */
export interface IReportedChange {
  readonly path: string;
  readonly taskId: string | null;
  readonly change: ICellChange;
}

/**
 * The changes in what the server answers to `openNotebooks`: those of notebooks
 * that this page has only now, or in another form than before.
 */
export function unreviewedIn(answer: unknown): IReportedChange[] {
  const { unreviewed } = (answer ?? {}) as Private.IAnswer;
  return Object.entries(unreviewed ?? {}).flatMap(([path, changes]) =>
    changes.map(({ taskId, ...change }) => ({
      path,
      taskId: taskId ?? null,
      change: Private.changeOf(change)
    }))
  );
}

/**
 * Functions of this module alone.
 */
namespace Private {
  /**
   * A change as it comes: what is absent is nothing.
   */
  interface IChange {
    readonly cellId: string;
    readonly taskId?: string;
    readonly before?: string;
    readonly after?: string;
    readonly removed?: Omit<IRemovedCell, 'behind'> & {
      readonly behind?: string;
    };
  }

  export interface IAnswer {
    readonly unreviewed?: Readonly<Record<string, readonly IChange[]>>;
  }

  export function changeOf({
    cellId,
    before,
    after,
    removed
  }: IChange): ICellChange {
    return {
      cellId,
      before: before ?? null,
      after: after ?? null,
      ...(removed && {
        removed: { ...removed, behind: removed.behind ?? null }
      })
    };
  }
}

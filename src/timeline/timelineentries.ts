import type {
  CheckpointView,
  OperationView,
  VerifiedView
} from '../generated/rest';

/**
 * A row of the timeline. What the agent did in one step is one row, though it
 * was saved before and after.
 */
export interface ITimelineEntry {
  /**
   * `step`: what the agent did. `edits`: what the person changed between two
   * checkpoints. `other`: saves by hand, restores and so on.
   */
  readonly kind: 'step' | 'edits' | 'other';

  /**
   * What led to the state that the row shows.
   */
  readonly operation: OperationView;

  /**
   * The save right before a step, which knows its request.
   */
  readonly before?: OperationView;

  /**
   * What was verified right before a step, unless that save is a row of its own.
   */
  readonly verifiedBefore?: readonly VerifiedView[];
}

/**
 * Rows that belong to one request of the person, newest first; or a row that
 * belongs to none.
 */
export interface IEntryGroup {
  /**
   * Stays the same while newer steps of the request come.
   */
  readonly key: string;

  /**
   * How the request begins; `null` where it is of none, or not known.
   */
  readonly request: string | null;
  readonly entries: readonly ITimelineEntry[];
}

/**
 * The rows of what was done, newest first.
 *
 * @param open - The row that is open: it is shown as a row of its own.
 */
export function entriesOf(
  operations: readonly OperationView[],
  open: string | null = null
): readonly ITimelineEntry[] {
  const befores = Private.befores(operations);
  const paired = new Set(befores.values());
  return operations.flatMap((operation): ITimelineEntry[] => {
    const before = befores.get(operation);
    if (before !== undefined) {
      const isRow = before.id === open || Private.hasCounted(before.checkpoint);
      const verifiedBefore = isRow ? undefined : before.verified;
      return [{ kind: 'step', operation, before, verifiedBefore }];
    }
    const { checkpoint } = operation;
    if (checkpoint === undefined || !Private.isFound(operation)) {
      return [{ kind: 'other', operation }];
    }
    const hasCounted = Private.hasCounted(checkpoint);
    // What was saved late may have some of the step in it.
    const isLate = checkpoint.kind === 'while';
    if (hasCounted && checkpoint.author === 'person' && !isLate) {
      return [{ kind: 'edits', operation }];
    }
    return hasCounted || !paired.has(operation) || operation.id === open
      ? [{ kind: 'other', operation }]
      : [];
  });
}

/**
 * Whether a row is about nothing that changed. What a person saved or verified
 * themselves is always worth a row.
 */
export function isUnchanged({
  operation,
  verifiedBefore = []
}: ITimelineEntry): boolean {
  const { kind, status, error, checkpoint, verified } = operation;
  if (verified.length + verifiedBefore.length > 0) {
    return false;
  }
  if (kind !== 'save' || status !== 'done' || error !== undefined) {
    return false;
  }
  return (
    checkpoint !== undefined &&
    checkpoint.kind !== 'note' &&
    checkpoint.kind !== 'asked_for' &&
    (checkpoint.changed
      ? !Private.hasCounted(checkpoint)
      : checkpoint.sameFiles)
  );
}

/**
 * The same rows in the same order, those of one request together.
 */
export function groupsOf(
  entries: readonly ITimelineEntry[]
): readonly IEntryGroup[] {
  const groups: { request: string | null; entries: ITimelineEntry[] }[] = [];
  let last: string | null = null;
  for (const entry of entries) {
    const key = Private.requestKey(entry);
    const group = groups.at(-1);
    if (group !== undefined && key !== null && key === last) {
      group.entries.push(entry);
    } else {
      const request = key === null ? null : Private.requestOf(entry);
      groups.push({ request, entries: [entry] });
    }
    last = key;
  }
  return groups.map(({ request, entries }) => ({
    key: `request:${entries[entries.length - 1].operation.id}`,
    request,
    entries
  }));
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * Of each save after a step of the agent, the one before it, as far as both
   * are loaded.
   */
  export function befores(
    operations: readonly OperationView[]
  ): ReadonlyMap<OperationView, OperationView> {
    const found = new Map<OperationView, OperationView>();
    // Read from the newest on: by conversation, the step that is looked for.
    const wanted = new Map<string, OperationView>();
    for (const operation of operations) {
      const { kind, checkpoint } = operation;
      const task = checkpoint?.taskId;
      if (kind !== 'save' || checkpoint === undefined || task === undefined) {
        continue;
      }
      const after = wanted.get(task);
      if (checkpoint.kind === 'after') {
        wanted.set(task, operation);
      } else if (
        after?.checkpoint &&
        (checkpoint.kind === 'before' || checkpoint.kind === 'while') &&
        toolOf(checkpoint) === toolOf(after.checkpoint)
      ) {
        found.set(after, operation);
        wanted.delete(task);
      }
    }
    return found;
  }

  /**
   * Whether a save only found what there was, because something was to follow.
   */
  export function isFound({ kind, checkpoint }: OperationView): boolean {
    return (
      kind === 'save' &&
      checkpoint !== undefined &&
      ['before', 'while', 'look'].includes(checkpoint.kind)
    );
  }

  /**
   * Whether something changed, by what was counted.
   */
  export function hasCounted(checkpoint: CheckpointView | undefined): boolean {
    return Object.values(checkpoint?.changed ?? {}).some(Boolean);
  }

  export function requestKey({
    operation,
    before
  }: ITimelineEntry): string | null {
    const { step, checkpoint } = before ?? operation;
    return step?.request === undefined
      ? null
      : `${checkpoint?.taskId}:${step.requestTs}`;
  }

  export function requestOf({
    operation,
    before
  }: ITimelineEntry): string | null {
    return (before ?? operation).step?.request ?? null;
  }

  function toolOf({ reason }: CheckpointView): string {
    return reason.replace(/^\S+ /, '');
  }
}

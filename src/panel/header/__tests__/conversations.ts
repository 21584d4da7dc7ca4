import type {
  ExtensionState,
  HistoryItem,
  OpenTask
} from '../../../generated/wire';

/** A conversation in the history. */
export function anItem(change: Partial<HistoryItem> = {}): HistoryItem {
  return {
    id: 'a',
    number: 1,
    ts: 1_700_000_000_000,
    task: 'Plot the sales',
    tokensIn: 1200,
    tokensOut: 300,
    totalCost: 0.5,
    mode: 'code',
    ...change
  };
}

/** A conversation on the strip. */
export function anOpenTask(
  taskId: string,
  title: string,
  change: Partial<OpenTask> = {}
): OpenTask {
  return { taskId, title, status: 'idle', needsYou: false, ...change };
}

/** A state with one conversation on screen. */
export function showing(
  item: HistoryItem,
  change: ExtensionState = {}
): ExtensionState {
  return {
    canStartTasks: true,
    currentTaskId: item.id,
    currentTaskItem: item,
    currentTaskStatus: 'idle',
    openTasks: [anOpenTask(item.id, item.task)],
    clineMessages: [{ ts: 1, type: 'say', say: 'text', text: item.task }],
    ...change
  };
}

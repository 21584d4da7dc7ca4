import type {
  LearnedItemView,
  MemoryOverview,
  MemoryRun,
  MemoryView,
  NoteLine
} from '../../generated/rest';

/** A note; what is not said is as one would guess. */
export function aNote(part: Partial<NoteLine> = {}): NoteLine {
  return {
    id: 'n1',
    scope: 'person',
    text: 'Use polars',
    pinned: false,
    ...part
  };
}

/** A line that was learned. */
export function aLine(part: Partial<LearnedItemView> = {}): LearnedItemView {
  return {
    id: 'l1',
    file: 'MEMORY.md',
    section: 'Task Group: churn › learnings',
    text: 'Ages are in months',
    sources: [
      {
        taskId: 't1',
        beganAt: '2026-11-20T10:00:00+00:00',
        slug: 'clean-churn'
      }
    ],
    ...part
  };
}

/** A run of the memory work. */
export function aRun(part: Partial<MemoryRun> = {}): MemoryRun {
  return {
    kind: 'extract',
    key: 't1',
    beganAt: '2026-11-27T10:00:00+00:00',
    endedAt: '2026-11-27T10:01:00+00:00',
    outcome: 'saved',
    used: { tokensIn: 1_000, tokensOut: 100, cost: 0 },
    ...part
  };
}

/** What is remembered. */
export function remembered(
  part: Partial<MemoryOverview> = {},
  view: Partial<MemoryView> = {}
): MemoryView {
  return {
    enabled: true,
    running: false,
    memory: {
      folder: '/home/ada/.hdsp-agent/memories',
      notes: [],
      learned: [],
      conversations: 0,
      canUndo: false,
      spending: { runs: 0, failed: 0, tokensIn: 0, tokensOut: 0, cost: 0 },
      recent: [],
      usage: {},
      ...part
    },
    ...view
  };
}

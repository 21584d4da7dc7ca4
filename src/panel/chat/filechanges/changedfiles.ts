import type { CellEdit, ClineMessage, Rename } from '../../../generated/wire';
import { addedLines } from '../../../ui/texts/diff';
import { readJson } from '../../../ui/texts/readjson';
import type { Tool } from '../toolrows/tooltexts';
import { presentPath } from '../../../ui/renamedpaths';

/**
 * One change the agent made of a file.
 */
export interface IFileChange {
  /**
   * The message that tells of it.
   */
  readonly ts: number;

  /**
   * Line by line; of a notebook there are the changes of its cells instead.
   */
  readonly diff?: string;
  readonly cellEdits?: readonly CellEdit[];
}

/**
 * A file or notebook the agent changed, by the name it has now.
 */
export interface IChangedFile {
  readonly path: string;
  readonly isOutside: boolean;

  /**
   * Oldest first.
   */
  readonly changes: readonly IFileChange[];

  /**
   * Lines added and removed, in all changes together.
   */
  readonly added: number;
  readonly removed: number;
}

/**
 * Whether a message may tell of a change; what comes of it is told later.
 */
export function isToolUse(message: ClineMessage | undefined): boolean {
  return message?.ask === 'tool' || message?.say === 'tool';
}

/**
 * The files that messages say were changed, in the order of their first change.
 */
export function changedFiles(
  messages: readonly ClineMessage[],
  renames: readonly Rename[] | undefined
): readonly IChangedFile[] {
  const files = new Map<string, Private.IGrowingFile>();
  for (const message of messages) {
    for (const change of Private.changesOf(message)) {
      const path = presentPath(change.path, message.ts, renames);
      const file = files.get(path) ?? Private.newFile(path);
      files.set(path, file);
      file.isOutside ||= change.isOutside;
      file.added += change.added;
      file.removed += change.removed;
      file.changes.push(change);
    }
  }
  return [...files.values()];
}

/**
 * A namespace for private data.
 */
namespace Private {
  export interface IGrowingFile extends IChangedFile {
    isOutside: boolean;
    added: number;
    removed: number;
    readonly changes: IFileChange[];
  }

  export interface INamedChange extends IFileChange {
    readonly path: string;
    readonly isOutside: boolean;
    readonly added: number;
    readonly removed: number;
  }

  export function newFile(path: string): IGrowingFile {
    return { path, isOutside: false, added: 0, removed: 0, changes: [] };
  }

  export function changesOf(message: ClineMessage): readonly INamedChange[] {
    const known = KNOWN.get(message);
    if (known) {
      return known;
    }
    const found = wasDone(message) ? read(message) : [];
    KNOWN.set(message, found);
    return found;
  }

  function wasDone({ type, partial, isAnswered, failure }: ClineMessage) {
    return type === 'say' ? !partial : isAnswered === true && !failure;
  }

  function read({ ts, text }: ClineMessage): readonly INamedChange[] {
    const tool = readJson<Tool>(text) ?? {};
    if (!WRITING.has(tool.tool ?? '')) {
      return [];
    }
    const isOutside = tool.isOutsideWorkspace ?? false;
    if (tool.batchDiffs?.length) {
      return tool.batchDiffs.map(({ path, diffStats, diffs, content }) => ({
        ts,
        path,
        isOutside,
        ...(diffStats ?? NO_LINES),
        diff: diffs?.map(({ content }) => content).join('\n') ?? content
      }));
    }
    return tool.path
      ? [
          {
            ts,
            path: tool.path,
            isOutside,
            ...(tool.diffStats ?? NO_LINES),
            diff: tool.diff ?? (tool.content && addedLines(tool.content)),
            cellEdits: tool.cellEdits
          }
        ]
      : [];
  }

  const NO_LINES = { added: 0, removed: 0 };

  const WRITING: ReadonlySet<string> = new Set([
    'editedExistingFile',
    'appliedDiff',
    'newFileCreated',
    'generateImage',
    'editCells',
    'createNotebook'
  ]);

  /**
   * A message is replaced when it changes, so each is read once.
   */
  const KNOWN = new WeakMap<ClineMessage, readonly INamedChange[]>();
}

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  CellCode,
  CellEdit,
  ClineSayTool,
  ModeConfig
} from '../../generated/wire';
import { reasonText } from '../../timeline/checkpointtexts';
import { modeName } from '../../ui/texts/modenames';
import type { AskMessage } from '../../state/pendingask';
import { presentPath } from '../../ui/renamedpaths';
import { plainName } from '../../ui/texts/visibletext';
import type { AskFlag } from '../../ui/texts/riskflags';
import { flagsOn, placeFacts } from '../../ui/texts/riskflags';
import { toolOf } from './askcontent';
import type { IAskSituation, IAskTexts } from './asktexts';

type Tool = Partial<ClineSayTool>;

/**
 * What proposes texts that can be edited before they are approved.
 */
const EDITABLE: ReadonlySet<string> = new Set([
  'newFileCreated',
  'editedExistingFile',
  'appliedDiff',
  'editCells',
  'runCode',
  'remember'
]);

/**
 * Put the question whether a tool may be used into words.
 */
export function describeTool(
  ask: AskMessage,
  trans: TranslationBundle,
  { modes, notebook, renames }: IAskSituation
): IAskTexts {
  const tool = atPresent(toolOf(ask) ?? {}, path =>
    presentPath(path, ask.ts, renames)
  );
  return {
    approve: trans.__('Approve'),
    deny: trans.__('Deny'),
    hasRules: true,
    canEdit: EDITABLE.has(tool.tool ?? ''),
    ...(tool.diffStats ? { stats: tool.diffStats } : {}),
    ...wordsOf(tool, trans, modes, notebook),
    flags: flagsOn(ask, factsOf(tool, ask))
  };
}

/**
 * A tool with what it is used on by its present names.
 */
function atPresent(tool: Tool, present: (path: string) => string): Tool {
  const { path, batchDiffs, batchFiles } = tool;
  const renamed = <T extends { path: string }>(item: T): T => ({
    ...item,
    path: present(item.path)
  });
  return {
    ...tool,
    ...(path ? { path: present(path) } : {}),
    ...(batchDiffs ? { batchDiffs: batchDiffs.map(renamed) } : {}),
    ...(batchFiles ? { batchFiles: batchFiles.map(renamed) } : {})
  };
}

type Texts = Partial<IAskTexts> & { readonly sentence: string };

function wordsOf(
  tool: Tool,
  trans: TranslationBundle,
  modes: readonly ModeConfig[] | undefined,
  own: string | undefined
): Texts {
  switch (tool.tool) {
    case 'editedExistingFile':
    case 'appliedDiff':
    case 'newFileCreated':
    case 'generateImage':
      return fileTexts(tool, trans);
    case 'editCells':
    case 'createNotebook':
      return notebookTexts(tool, trans, own);
    case 'runCells':
    case 'runCode':
    case 'installPackages':
      return runTexts(tool, trans, own);
    case 'startKernel':
    case 'interruptKernel':
    case 'restartKernel':
      return kernelTexts(tool, trans);
    case 'remember':
    case 'forget':
      return noteTexts(tool, trans);
    case 'restoreCheckpoint':
    case 'undoRestore':
      return restoreTexts(tool, trans);
    case 'switchMode':
    case 'newTask':
    case 'finishTask':
    case 'updateTodoList':
    case 'runSlashCommand':
    case 'skill':
      return flowTexts(tool, trans, modeName(trans, tool.mode ?? '', modes));
    default:
      return readTexts(tool, trans);
  }
}

function fileTexts(tool: Tool, trans: TranslationBundle): Texts {
  const path = plainName(tool.path ?? '');
  if (tool.batchDiffs?.length) {
    return {
      sentence: trans._n(
        'Edit %1 file?',
        'Edit %1 files?',
        tool.batchDiffs.length
      ),
      approve: trans.__('Save all')
    };
  }
  switch (tool.tool) {
    case 'newFileCreated':
      return {
        sentence: trans.__('Create %1?', path),
        approve: trans.__('Save')
      };
    case 'generateImage':
      return {
        sentence: trans.__('Create the image %1?', path),
        approve: trans.__('Approve')
      };
    default:
      return {
        sentence: trans.__('Edit %1?', path),
        approve: trans.__('Save')
      };
  }
}

function notebookTexts(
  tool: Tool,
  trans: TranslationBundle,
  own: string | undefined
): Texts {
  const path = plainName(tool.path ?? '');
  const edits = tool.cellEdits ?? [];
  if (tool.tool === 'createNotebook') {
    return {
      sentence: tool.kernel
        ? trans.__(
            'Create the notebook %1 for the kernel %2?',
            path,
            tool.kernel
          )
        : trans.__('Create the notebook %1?', path),
      approve: trans.__('Create')
    };
  }
  const sentence =
    edits.length === 1
      ? editSentence(edits[0], trans)
      : trans._n(
          'Make %1 change to the cells?',
          'Make %1 changes to the cells?',
          edits.length
        );
  return {
    sentence: tool.path === own ? sentence : trans.__('%1: %2', path, sentence),
    approve: trans.__('Apply'),
    ...(tool.canRun ? { approveAndRun: trans.__('Apply and run') } : {})
  };
}

function editSentence(
  { op, number, cellType }: CellEdit,
  trans: TranslationBundle
): string {
  const cell = String(number ?? '?');
  switch (op) {
    case 'insert':
      return trans.__('Add a cell?');
    case 'delete':
      return trans.__('Delete cell %1?', cell);
    case 'move':
      return trans.__('Move cell %1?', cell);
    case 'clearOutputs':
      return trans.__('Clear the output of cell %1?', cell);
    case 'changeType':
      return typeSentence(cell, cellType, trans);
    default:
      return trans.__('Edit cell %1?', cell);
  }
}

function typeSentence(
  cell: string,
  cellType: CellEdit['cellType'],
  trans: TranslationBundle
): string {
  switch (cellType) {
    case 'code':
      return trans.__('Turn cell %1 into a code cell?', cell);
    case 'markdown':
      return trans.__('Turn cell %1 into a Markdown cell?', cell);
    default:
      return trans.__('Turn cell %1 into a raw cell?', cell);
  }
}

function runTexts(
  tool: Tool,
  trans: TranslationBundle,
  own: string | undefined
): Texts {
  const path = plainName(tool.path ?? '');
  const cells = tool.cells ?? [];
  if (tool.tool === 'installPackages') {
    return {
      sentence: trans.__('Install packages for the kernel of %1?', path),
      approve: trans.__('Install')
    };
  }
  const approve = trans.__('Run');
  if (tool.tool === 'runCode') {
    return {
      sentence: trans.__('Run this code in the kernel of %1?', path),
      approve
    };
  }
  const which = numbers(cells);
  const sentence =
    which === null
      ? trans._n('Run %1 cell?', 'Run %1 cells?', cells.length)
      : cells.length === 1
        ? trans.__('Run cell %1?', which)
        : trans.__('Run cells %1?', which);
  return {
    sentence: tool.path === own ? sentence : trans.__('%1: %2', path, sentence),
    approve
  };
}

/**
 * The numbers of cells, those that follow each other as one range: 2–4, 7.
 *
 * @returns `null` if one of them is not known.
 */
function numbers(cells: readonly CellCode[]): string | null {
  const ranges: [first: number, last: number][] = [];
  for (const { number } of cells) {
    if (!number) {
      return null;
    }
    const range = ranges.at(-1);
    if (range?.[1] === number - 1) {
      range[1] = number;
    } else {
      ranges.push([number, number]);
    }
  }
  return ranges
    .map(([first, last]) =>
      first === last
        ? String(first)
        : last === first + 1
          ? `${first}, ${last}`
          : `${first}–${last}`
    )
    .join(', ');
}

function kernelTexts(tool: Tool, trans: TranslationBundle): Texts {
  const path = plainName(tool.path ?? '');
  switch (tool.tool) {
    case 'startKernel':
      return {
        sentence: tool.kernel
          ? trans.__('Start the kernel %1 for %2?', tool.kernel, path)
          : trans.__('Start a kernel for %1?', path),
        approve: trans.__('Start')
      };
    case 'interruptKernel':
      return {
        sentence: trans.__('Interrupt the kernel of %1?', path),
        approve: trans.__('Interrupt')
      };
    default:
      return {
        sentence: trans.__('Restart the kernel of %1?', path),
        approve: trans.__('Restart')
      };
  }
}

/**
 * No rule allows another agent to take work back unasked.
 */
function restoreTexts(
  { tool, description }: Tool,
  trans: TranslationBundle
): Texts {
  return tool === 'undoRestore'
    ? {
        sentence: trans.__('Undo the last restore?'),
        approve: trans.__('Undo'),
        hasRules: false
      }
    : {
        sentence: description
          ? trans.__(
              'Restore the checkpoint “%1”?',
              plainName(reasonText(description, trans))
            )
          : trans.__('Restore a checkpoint?'),
        approve: trans.__('Restore'),
        hasRules: false
      };
}

function noteTexts(tool: Tool, trans: TranslationBundle): Texts {
  return tool.tool === 'forget'
    ? { sentence: trans.__('Forget this?'), approve: trans.__('Forget') }
    : {
        sentence: noteSentence(tool, trans),
        approve: trans.__('Remember')
      };
}

function noteSentence(
  { source, originalContent }: Tool,
  trans: TranslationBundle
): string {
  if (originalContent) {
    return trans.__('Change the note to this?');
  }
  switch (source) {
    case 'workspace':
      return trans.__('Remember this for everyone who works in this folder?');
    case 'notebook':
      return trans.__('Remember this for everyone who opens this notebook?');
    default:
      return trans.__('Remember this for all your conversations?');
  }
}

function flowTexts(tool: Tool, trans: TranslationBundle, mode: string): Texts {
  switch (tool.tool) {
    case 'switchMode':
      return {
        sentence: tool.reason
          ? trans.__('Switch to the mode “%1”? %2', mode, tool.reason)
          : trans.__('Switch to the mode “%1”?', mode)
      };
    case 'newTask':
      return {
        sentence: trans.__('Start this subtask in the mode “%1”?', mode)
      };
    case 'finishTask':
      return {
        sentence: trans.__('Accept the result of this subtask?')
      };
    case 'updateTodoList':
      return {
        sentence: trans.__('Change the plan?')
      };
    case 'runSlashCommand':
      return {
        sentence: trans.__('Run the command /%1?', tool.command ?? '')
      };
    default:
      return {
        sentence: trans.__('Use the skill “%1”?', tool.skill ?? '')
      };
  }
}

function readTexts(tool: Tool, trans: TranslationBundle): Texts {
  const path = plainName(tool.path ?? '');
  const batch = tool.batchFiles ?? tool.batchDirs;
  if (batch?.length) {
    return {
      sentence: trans._n(
        'Read %1 file or folder?',
        'Read %1 files and folders?',
        batch.length
      ),
      approve: trans.__('Approve all')
    };
  }
  switch (tool.tool) {
    case 'readFile':
    case 'readNotebook':
      return { sentence: trans.__('Read %1?', path) };
    case 'listNotebooks':
      return {
        sentence: path
          ? trans.__('List the notebooks in %1?', path)
          : trans.__('List the notebooks?')
      };
    case 'listCheckpoints':
      return { sentence: trans.__('List the checkpoints?') };
    case 'diffCheckpoint':
      return { sentence: trans.__('Compare the files with a checkpoint?') };
    case 'inspectVariables':
      return {
        sentence: trans.__('Inspect the variables of %1?', path)
      };
    case 'listFilesTopLevel':
      return {
        sentence: trans.__('List the files in %1?', path)
      };
    case 'listFilesRecursive':
      return {
        sentence: trans.__('List all files in %1 and its subfolders?', path)
      };
    case 'searchFiles':
      return {
        sentence: trans.__(
          'Search the files in %1 for “%2”?',
          path,
          tool.regex ?? ''
        )
      };
    case 'codebaseSearch':
      return {
        sentence:
          tool.source === 'past'
            ? trans.__(
                'Search your conversations and notebooks for “%1”?',
                tool.query ?? ''
              )
            : trans.__('Search the project for “%1”?', tool.query ?? '')
      };
    default:
      return {
        sentence: trans.__('Use the tool “%1”?', tool.tool ?? '?')
      };
  }
}

function factsOf(tool: Tool, { isProtected }: AskMessage): AskFlag[] {
  const facts = placeFacts(tool, isProtected);
  if (tool.tool === 'installPackages') {
    facts.push('installs');
  }
  if (tool.cellEdits?.some(({ op }) => op === 'delete')) {
    facts.push('deletes_cells');
  }
  if (tool.tool === 'restartKernel') {
    facts.push('memory');
  }
  return facts;
}

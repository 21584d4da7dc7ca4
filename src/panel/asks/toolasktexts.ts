import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  CellCode,
  CellEdit,
  ClineSayTool,
  ModeConfig,
  Rename
} from '../../generated/wire';
import { modeName } from '../../ui/texts/modenames';
import type { AskMessage } from '../../state/pendingask';
import { presentPath } from '../../ui/renamedpaths';
import { plainName } from '../../ui/texts/visibletext';
import type { AskFlag } from '../../ui/texts/riskflags';
import { flagsOn, placeFacts } from '../../ui/texts/riskflags';
import { toolOf } from './askcontent';
import type { IAskTexts } from './asktexts';

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
  modes: readonly ModeConfig[] | undefined,
  renames: readonly Rename[] | undefined
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
    ...wordsOf(tool, trans, modes),
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
  modes: readonly ModeConfig[] | undefined
): Texts {
  switch (tool.tool) {
    case 'editedExistingFile':
    case 'appliedDiff':
    case 'newFileCreated':
    case 'generateImage':
      return fileTexts(tool, trans);
    case 'editCells':
    case 'createNotebook':
      return notebookTexts(tool, trans);
    case 'runCells':
    case 'runCode':
    case 'installPackages':
      return runTexts(tool, trans);
    case 'startKernel':
    case 'interruptKernel':
    case 'restartKernel':
      return kernelTexts(tool, trans);
    case 'remember':
    case 'forget':
      return noteTexts(tool, trans);
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
        'The agent wants to change %1 file.',
        'The agent wants to change %1 files.',
        tool.batchDiffs.length
      ),
      items: tool.batchDiffs.map(diff => diff.path),
      approve: trans.__('Save all')
    };
  }
  switch (tool.tool) {
    case 'newFileCreated':
      return {
        sentence: trans.__('The agent wants to create %1.', path),
        approve: trans.__('Save')
      };
    case 'generateImage':
      return {
        sentence: trans.__('The agent wants to make an image: %1.', path),
        approve: trans.__('Approve')
      };
    default:
      return {
        sentence: trans.__('The agent wants to change %1.', path),
        approve: trans.__('Save')
      };
  }
}

function notebookTexts(tool: Tool, trans: TranslationBundle): Texts {
  const path = plainName(tool.path ?? '');
  const edits = tool.cellEdits ?? [];
  if (tool.tool === 'createNotebook') {
    return {
      sentence: tool.kernel
        ? trans.__(
            'The agent wants to create the notebook %1 for the kernel %2.',
            path,
            tool.kernel
          )
        : trans.__('The agent wants to create the notebook %1.', path),
      approve: trans.__('Create')
    };
  }
  return {
    sentence:
      edits.length === 1
        ? editSentence(edits[0], path, trans)
        : trans._n(
            'The agent wants to make %1 change to the cells of %2.',
            'The agent wants to make %1 changes to the cells of %2.',
            edits.length,
            path
          ),
    approve: trans.__('Apply')
  };
}

function editSentence(
  { op, number, cellType }: CellEdit,
  path: string,
  trans: TranslationBundle
): string {
  const cell = String(number ?? '?');
  switch (op) {
    case 'insert':
      return trans.__('The agent wants to insert a cell into %1.', path);
    case 'delete':
      return trans.__('The agent wants to delete cell %1 of %2.', cell, path);
    case 'move':
      return trans.__('The agent wants to move cell %1 of %2.', cell, path);
    case 'clearOutputs':
      return trans.__(
        'The agent wants to clear the output of cell %1 of %2.',
        cell,
        path
      );
    case 'changeType':
      return typeSentence(cell, path, cellType, trans);
    default:
      return trans.__('The agent wants to change cell %1 of %2.', cell, path);
  }
}

function typeSentence(
  cell: string,
  path: string,
  cellType: CellEdit['cellType'],
  trans: TranslationBundle
): string {
  switch (cellType) {
    case 'code':
      return trans.__(
        'The agent wants to turn cell %1 of %2 into a code cell.',
        cell,
        path
      );
    case 'markdown':
      return trans.__(
        'The agent wants to turn cell %1 of %2 into a Markdown cell.',
        cell,
        path
      );
    default:
      return trans.__(
        'The agent wants to turn cell %1 of %2 into a raw cell.',
        cell,
        path
      );
  }
}

function runTexts(tool: Tool, trans: TranslationBundle): Texts {
  const path = plainName(tool.path ?? '');
  const cells = tool.cells ?? [];
  const code = cells.map(cell => cell.code).join('\n\n');
  const words = { code, approve: trans.__('Run') };
  if (tool.tool === 'installPackages') {
    return {
      ...words,
      sentence: trans.__(
        'The agent wants to install packages for the kernel of %1.',
        path
      ),
      approve: trans.__('Install')
    };
  }
  if (tool.tool === 'runCode') {
    return {
      ...words,
      sentence: trans.__(
        'The agent wants to run this code in the kernel of %1.',
        path
      )
    };
  }
  return {
    ...words,
    sentence:
      cells.length === 1
        ? trans.__(
            'The agent wants to run cell %1 of %2.',
            numbers(cells),
            path
          )
        : trans._n(
            'The agent wants to run %1 cell of %2: %3.',
            'The agent wants to run %1 cells of %2: %3.',
            cells.length,
            path,
            numbers(cells)
          )
  };
}

function numbers(cells: readonly CellCode[]): string {
  return cells.map(({ number }) => String(number ?? '?')).join(', ');
}

function kernelTexts(tool: Tool, trans: TranslationBundle): Texts {
  const path = plainName(tool.path ?? '');
  switch (tool.tool) {
    case 'startKernel':
      return {
        sentence: tool.kernel
          ? trans.__(
              'The agent wants to start the kernel %1 for %2.',
              tool.kernel,
              path
            )
          : trans.__('The agent wants to start a kernel for %1.', path),
        approve: trans.__('Start')
      };
    case 'interruptKernel':
      return {
        sentence: trans.__(
          'The agent wants to interrupt what runs in the kernel of %1.',
          path
        ),
        approve: trans.__('Interrupt')
      };
    default:
      return {
        sentence: trans.__(
          'The agent wants to restart the kernel of %1.',
          path
        ),
        approve: trans.__('Restart')
      };
  }
}

function noteTexts(tool: Tool, trans: TranslationBundle): Texts {
  const text = tool.content ? { code: tool.content } : {};
  if (tool.tool === 'forget') {
    return {
      ...text,
      sentence: trans.__('The agent wants to forget this.'),
      approve: trans.__('Forget')
    };
  }
  return {
    ...text,
    sentence: noteSentence(tool, trans),
    approve: trans.__('Remember')
  };
}

function noteSentence(
  { source, originalContent }: Tool,
  trans: TranslationBundle
): string {
  if (originalContent) {
    return trans.__('The agent wants to change a note to this.');
  }
  switch (source) {
    case 'workspace':
      return trans.__(
        'The agent wants to remember this for everyone who works in this folder.'
      );
    case 'notebook':
      return trans.__(
        'The agent wants to remember this for everyone who opens this notebook.'
      );
    default:
      return trans.__(
        'The agent wants to remember this for all your conversations.'
      );
  }
}

function flowTexts(tool: Tool, trans: TranslationBundle, mode: string): Texts {
  switch (tool.tool) {
    case 'switchMode':
      return {
        sentence: tool.reason
          ? trans.__(
              'The agent wants to go on in the mode “%1”: %2',
              mode,
              tool.reason
            )
          : trans.__('The agent wants to go on in the mode “%1”.', mode)
      };
    case 'newTask':
      return {
        sentence: trans.__(
          'The agent wants to hand this to a subtask in the mode “%1”.',
          mode
        ),
        ...(tool.content ? { code: tool.content } : {})
      };
    case 'finishTask':
      return {
        sentence: trans.__(
          'The subtask says it is done and wants to hand over its result.'
        )
      };
    case 'updateTodoList':
      return {
        sentence: trans.__('The agent wants to change its to-do list.'),
        ...(tool.content ? { code: tool.content } : {})
      };
    case 'runSlashCommand':
      return {
        sentence: trans.__(
          'The agent wants to follow the command /%1.',
          tool.command ?? ''
        )
      };
    default:
      return {
        sentence: trans.__(
          'The agent wants to load the skill “%1”.',
          tool.skill ?? ''
        )
      };
  }
}

function readTexts(tool: Tool, trans: TranslationBundle): Texts {
  const path = plainName(tool.path ?? '');
  const batch = tool.batchFiles ?? tool.batchDirs;
  if (batch?.length) {
    return {
      sentence: trans._n(
        'The agent wants to read %1 place.',
        'The agent wants to read %1 places.',
        batch.length
      ),
      items: batch.map(item => item.path),
      approve: trans.__('Approve all')
    };
  }
  switch (tool.tool) {
    case 'readFile':
    case 'readNotebook':
      return { sentence: trans.__('The agent wants to read %1.', path) };
    case 'inspectVariables':
      return {
        sentence: trans.__(
          'The agent wants to look at variables in the kernel of %1.',
          path
        )
      };
    case 'listFilesTopLevel':
      return {
        sentence: trans.__('The agent wants to list the files in %1.', path)
      };
    case 'listFilesRecursive':
      return {
        sentence: trans.__(
          'The agent wants to list all files in %1 and its subfolders.',
          path
        )
      };
    case 'searchFiles':
      return {
        sentence: trans.__(
          'The agent wants to search the files in %1 for “%2”.',
          path,
          tool.regex ?? ''
        )
      };
    case 'codebaseSearch':
      return {
        sentence:
          tool.source === 'past'
            ? trans.__(
                'The agent wants to search your earlier conversations and the notebooks here for “%1”.',
                tool.query ?? ''
              )
            : trans.__(
                'The agent wants to search the project for “%1”.',
                tool.query ?? ''
              )
      };
    default:
      return {
        sentence: trans.__(
          'The agent wants to use the tool “%1”.',
          tool.tool ?? '?'
        )
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

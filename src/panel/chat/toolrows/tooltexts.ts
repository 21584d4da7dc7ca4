import type { TranslationBundle } from '@jupyterlab/translation';

import type { ClineSayTool } from '../../../generated/wire';

/**
 * What a message about a tool carries; any of it may be missing while it
 * streams, or in what another version has written.
 */
export type Tool = Partial<ClineSayTool>;

/**
 * What a tool does, in a few words; what it does it to is named beside them.
 */
export function toolTexts(
  tool: Tool,
  isPlanned: boolean,
  trans: TranslationBundle
): string {
  const [planned, done] = TEXTS[tool.tool ?? '']?.(tool, trans) ?? [
    trans.__('Use a tool'),
    trans.__('Used a tool')
  ];
  return isPlanned ? planned : done;
}

type Texts = (
  tool: Tool,
  trans: TranslationBundle
) => readonly [planned: string, done: string];

const FILES: Readonly<Record<string, Texts>> = {
  editedExistingFile: (tool, trans) => changeTexts(tool, trans),
  appliedDiff: (tool, trans) => changeTexts(tool, trans),
  newFileCreated: (_, trans) => [
    trans.__('Create a file'),
    trans.__('Created a file')
  ],
  readFile: ({ batchFiles }, trans) =>
    batchFiles?.length
      ? [trans.__('Read several files'), trans.__('Read several files')]
      : [trans.__('Read a file'), trans.__('Read a file')],
  listFilesTopLevel: (_, trans) => [
    trans.__('List a folder'),
    trans.__('Listed a folder')
  ],
  listFilesRecursive: (_, trans) => [
    trans.__('List a folder and its subfolders'),
    trans.__('Listed a folder and its subfolders')
  ],
  searchFiles: (_, trans) => [
    trans.__('Search in files'),
    trans.__('Searched in files')
  ],
  codebaseSearch: ({ source }, trans) =>
    source === 'past'
      ? [
          trans.__('Search earlier conversations and notebooks'),
          trans.__('Searched earlier conversations and notebooks')
        ]
      : [trans.__('Search the project'), trans.__('Searched the project')],
  readCommandOutput: ({ searchPattern }, trans) =>
    searchPattern
      ? [
          trans.__("Search a command's output"),
          trans.__("Searched a command's output")
        ]
      : [
          trans.__("Read more of a command's output"),
          trans.__("Read more of a command's output")
        ],
  generateImage: (_, trans) => [
    trans.__('Make an image'),
    trans.__('Make an image')
  ],
  imageGenerated: (_, trans) => [
    trans.__('Make an image'),
    trans.__('Made an image')
  ]
};

const NOTEBOOKS: Readonly<Record<string, Texts>> = {
  listNotebooks: (_, trans) => [
    trans.__('List the notebooks'),
    trans.__('Listed the notebooks')
  ],
  readNotebook: (_, trans) => [
    trans.__('Read a notebook'),
    trans.__('Read a notebook')
  ],
  editCells: (_, trans) => [trans.__('Edit cells'), trans.__('Edited cells')],
  runCells: (_, trans) => [trans.__('Run cells'), trans.__('Ran cells')],
  runCode: (_, trans) => [
    trans.__('Run code in the kernel, outside the notebook'),
    trans.__('Ran code in the kernel, outside the notebook')
  ],
  waitRun: (_, trans) => [
    trans.__('Wait for running cells'),
    trans.__('Waited for running cells')
  ],
  inspectVariables: (_, trans) => [
    trans.__('Inspect variables'),
    trans.__('Inspected variables')
  ],
  listKernels: (_, trans) => [
    trans.__('List the kernels'),
    trans.__('Listed the kernels')
  ],
  startKernel: (_, trans) => [
    trans.__('Start the kernel'),
    trans.__('Start the kernel')
  ],
  interruptKernel: (_, trans) => [
    trans.__('Interrupt the kernel'),
    trans.__('Interrupt the kernel')
  ],
  restartKernel: (_, trans) => [
    trans.__('Restart the kernel'),
    trans.__('Restart the kernel')
  ],
  createNotebook: (_, trans) => [
    trans.__('Create a notebook'),
    trans.__('Created a notebook')
  ],
  installPackages: (_, trans) => [
    trans.__('Install packages into the kernel'),
    trans.__('Installed packages into the kernel')
  ]
};

const FLOW: Readonly<Record<string, Texts>> = {
  switchMode: (_, trans) => [
    trans.__('Switch the mode'),
    trans.__('Switched the mode')
  ],
  newTask: (_, trans) => [
    trans.__('Start a subtask'),
    trans.__('Started a subtask')
  ],
  finishTask: (_, trans) => [
    trans.__('Finish the subtask'),
    trans.__('Finished the subtask')
  ],
  runSlashCommand: (_, trans) => [
    trans.__('Use a command'),
    trans.__('Used a command')
  ],
  updateTodoList: (_, trans) => [
    trans.__('Change the plan'),
    trans.__('Changed the plan')
  ],
  skill: (_, trans) => [trans.__('Use a skill'), trans.__('Used a skill')]
};

const MEMORY: Readonly<Record<string, Texts>> = {
  remember: ({ originalContent }, trans) =>
    originalContent
      ? [trans.__('Change a note'), trans.__('Changed a note')]
      : [trans.__('Remember this'), trans.__('Remembered')],
  forget: (_, trans) => [trans.__('Forget this'), trans.__('Forgot')],
  searchMemory: (_, trans) => [
    trans.__('Search memory'),
    trans.__('Searched memory')
  ],
  readMemory: (_, trans) => [trans.__('Read memory'), trans.__('Read memory')]
};

const CHECKPOINTS: Readonly<Record<string, Texts>> = {
  listCheckpoints: (_, trans) => [
    trans.__('List the checkpoints'),
    trans.__('Listed the checkpoints')
  ],
  diffCheckpoint: (_, trans) => [
    trans.__('Compare with a checkpoint'),
    trans.__('Compared with a checkpoint')
  ],
  restoreCheckpoint: (_, trans) => [
    trans.__('Restore a checkpoint'),
    trans.__('Restored a checkpoint')
  ],
  undoRestore: (_, trans) => [
    trans.__('Undo the restore'),
    trans.__('Undid the restore')
  ]
};

const TEXTS: Readonly<Record<string, Texts>> = {
  ...CHECKPOINTS,
  ...MEMORY,
  ...FILES,
  ...NOTEBOOKS,
  ...FLOW
};

function changeTexts(
  { batchDiffs }: Tool,
  trans: TranslationBundle
): readonly [string, string] {
  return batchDiffs?.length
    ? [trans.__('Edit several files'), trans.__('Edited several files')]
    : [trans.__('Edit a file'), trans.__('Edited a file')];
}

/**
 * Which part of a notebook is read: how much of which cells.
 */
export function viewTexts(
  view: string | undefined,
  trans: TranslationBundle
): string | undefined {
  const [, part, cells] =
    /^(outline|cells|outputs)(?:: (.+))?$/.exec(view ?? '') ?? [];
  if (cells && !/^[\d, -]+$/.test(cells)) {
    // Older messages name cells by ids, which say nothing to a person.
    return undefined;
  }
  const isOne = cells !== undefined && /^\d+$/.test(cells);
  switch (part) {
    case 'outline':
      return cells
        ? isOne
          ? trans.__('Outline of cell %1', cells)
          : trans.__('Outline of cells %1', cells)
        : trans.__('Outline');
    case 'cells':
      return cells
        ? isOne
          ? trans.__('Cell %1', cells)
          : trans.__('Cells %1', cells)
        : trans.__('All cells');
    case 'outputs':
      return cells
        ? isOne
          ? trans.__('Cell %1, with outputs', cells)
          : trans.__('Cells %1, with outputs', cells)
        : trans.__('All cells, with outputs');
    default:
      return view;
  }
}

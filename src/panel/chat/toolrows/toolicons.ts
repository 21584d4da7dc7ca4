import type { LabIcon } from '@jupyterlab/ui-components';
import { checkpointIcon } from '../../../ui/icons/checkpointicon';
import {
  addIcon,
  codeIcon,
  deleteIcon,
  editIcon,
  fileIcon,
  folderIcon,
  imageIcon,
  inspectorIcon,
  kernelIcon,
  launchIcon,
  listIcon,
  notebookIcon,
  runIcon,
  searchIcon,
  settingsIcon,
  terminalIcon
} from '@jupyterlab/ui-components';

/**
 * The picture of a tool.
 */
export function toolIcon(tool: string | undefined): LabIcon {
  return ICONS[tool ?? ''] ?? settingsIcon;
}

const ICONS: Readonly<Record<string, LabIcon>> = {
  remember: addIcon,
  forget: deleteIcon,
  searchMemory: searchIcon,
  readMemory: fileIcon,
  editedExistingFile: editIcon,
  appliedDiff: editIcon,
  newFileCreated: fileIcon,
  readFile: fileIcon,
  listFilesTopLevel: folderIcon,
  listFilesRecursive: folderIcon,
  searchFiles: searchIcon,
  codebaseSearch: searchIcon,
  readCommandOutput: terminalIcon,
  generateImage: imageIcon,
  imageGenerated: imageIcon,
  readNotebook: notebookIcon,
  editCells: editIcon,
  createNotebook: notebookIcon,
  runCells: runIcon,
  runCode: codeIcon,
  waitRun: runIcon,
  inspectVariables: inspectorIcon,
  listKernels: kernelIcon,
  startKernel: kernelIcon,
  interruptKernel: kernelIcon,
  restartKernel: kernelIcon,
  installPackages: terminalIcon,
  newTask: launchIcon,
  finishTask: launchIcon,
  updateTodoList: listIcon,
  listNotebooks: notebookIcon,
  listCheckpoints: checkpointIcon,
  diffCheckpoint: checkpointIcon,
  restoreCheckpoint: checkpointIcon,
  undoRestore: checkpointIcon
};

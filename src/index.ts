import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { commandsPlugin } from './commands/commandsplugin';
import { channelPlugin } from './channelplugin';
import { ghostTextPlugin } from './ghosttext/ghosttextplugin';
import { cellsPlugin } from './notebook/cells/cellsplugin';
import { followPlugin } from './notebook/follow/followplugin';
import { kernelsPlugin } from './notebook/kernels/kernelsplugin';
import { notebooksPlugin } from './notebook/notebooksplugin';
import { reviewPlugin } from './notebook/review/reviewplugin';
import { contextPlugin } from './panel/context/contextplugin';
import { documentsPlugin } from './panel/documents/documentsplugin';
import { placementPlugin } from './panel/placement';
import { panelPlugin } from './panel/panelplugin';
import { statusPlugin } from './panel/statusbar/statusplugin';
import { settingsPlugin } from './settings/settingsplugin';
import { timelinePlugin } from './timeline/timelineplugin';
import { variablesPlugin } from './variables/variablesplugin';
import { verifyPlugin } from './verify/verifyplugin';

export * from './tokens';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  channelPlugin,
  notebooksPlugin,
  reviewPlugin,
  followPlugin,
  kernelsPlugin,
  panelPlugin,
  placementPlugin,
  contextPlugin,
  documentsPlugin,
  statusPlugin,
  cellsPlugin,
  ghostTextPlugin,
  settingsPlugin,
  timelinePlugin,
  variablesPlugin,
  verifyPlugin,
  commandsPlugin
];

export default plugins;

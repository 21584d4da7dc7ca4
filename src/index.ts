import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { commandsPlugin } from './commands/plugin';
import { channelPlugin } from './comm/plugin';
import { cellsPlugin } from './notebook/cellsplugin';
import { followPlugin } from './notebook/followplugin';
import { notebooksPlugin } from './notebook/plugin';
import { reviewPlugin } from './notebook/reviewplugin';
import { contextPlugin } from './panel/context/plugin';
import { placementPlugin } from './panel/placement';
import { panelPlugin } from './panel/plugin';
import { settingsPlugin } from './settings/plugin';
import { timeLinePlugin } from './timeline/plugin';

export * from './tokens';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  channelPlugin,
  notebooksPlugin,
  reviewPlugin,
  followPlugin,
  panelPlugin,
  placementPlugin,
  contextPlugin,
  cellsPlugin,
  settingsPlugin,
  timeLinePlugin,
  commandsPlugin
];

export default plugins;

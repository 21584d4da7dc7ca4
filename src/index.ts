import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { commandsPlugin } from './commands/plugin';
import { channelPlugin } from './comm/plugin';
import { notebooksPlugin } from './notebook/plugin';
import { panelPlugin } from './panel/plugin';
import { settingsPlugin } from './settings/plugin';

export * from './tokens';

const plugins: JupyterFrontEndPlugin<unknown>[] = [
  channelPlugin,
  notebooksPlugin,
  panelPlugin,
  settingsPlugin,
  commandsPlugin
];

export default plugins;

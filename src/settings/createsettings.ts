import { MainAreaWidget } from '@jupyterlab/apputils';
import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { ITranslator } from '@jupyterlab/translation';
import { settingsIcon } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';

import { settingsText } from '../generated/settingsText';
import type { IAgentChannel } from '../tokens';

import type { IMemoryPlace } from '../rest/memoryapi';
import { MemoryApi } from '../rest/memoryapi';
import { McpApi } from '../rest/mcpapi';
import { MemoryData } from '../rest/memorydata';
import { OtherAgentsData } from '../rest/otheragentsdata';
import { SettingsApi } from '../rest/settingsapi';
import { CommandIDs } from '../ui/commandids';
import { LabDialogs } from '../ui/dialogs';
import { openPaths } from '../ui/notebookchoice';
import { loadTexts } from '../ui/texts/loadtexts';
import { followChannel } from './data/followchannel';
import { McpServersData } from './data/mcpserversdata';
import { SettingsModel } from './data/settingsmodel';
import { SettingsWidget } from './settingswidget';

/**
 * What the settings need of the page they are in.
 */
export interface ISettingsEnvironment {
  serverSettings: ServerConnection.ISettings;
  translator: ITranslator;

  /**
   * Where changes made elsewhere are heard of.
   */
  channel: IAgentChannel | null;

  /**
   * Where the panel's commands are, if there is a panel.
   */
  commands: CommandRegistry;

  /**
   * The open notebooks; `null` where Lab has none.
   */
  notebooks: INotebookTracker | null;
}

/**
 * Create the settings and have them ask the server for what they show.
 */
export function createSettings(
  environment: ISettingsEnvironment
): MainAreaWidget<SettingsWidget> {
  const { serverSettings, translator, channel, commands } = environment;
  const trans = loadTexts(translator);
  const mcp = new McpApi(serverSettings);
  const model = new SettingsModel({
    api: new SettingsApi(serverSettings),
    client: channel?.client ?? null,
    memory: new MemoryData({
      api: new MemoryApi(serverSettings),
      place: () => memoryPlace(environment)
    }),
    otherAgents: new OtherAgentsData(mcp, serverUrl(serverSettings).origin),
    mcpServers: channel
      ? new McpServersData(mcp, channel.client, signedInUrl(serverSettings))
      : null,
    texts: settingsText(trans)
  });
  const content = new SettingsWidget({
    model,
    trans,
    dialogs: new LabDialogs(trans),
    openConversation: commands.hasCommand(CommandIDs.showConversation)
      ? taskId => void commands.execute(CommandIDs.showConversation, { taskId })
      : null
  });
  const widget = new MainAreaWidget({ content });
  widget.title.label = trans.__('HDSP Agent Settings');
  widget.title.icon = settingsIcon;
  widget.title.closable = true;
  // It has nothing to hold, and an empty one is drawn as a second border.
  widget.toolbar.hide();
  if (channel) {
    followChannel(channel.client.messageReceived, model);
  }
  void model.refresh();
  return widget;
}

/**
 * Where the server is, as this page reaches it.
 */
function serverUrl({ baseUrl }: ServerConnection.ISettings): URL {
  return new URL(baseUrl, window.location.href);
}

/**
 * Where one comes back to who has signed in to an MCP server.
 */
function signedInUrl(settings: ServerConnection.ISettings): string {
  return URLExt.join(serverUrl(settings).href, 'hdsp-agent/mcp-login');
}

/**
 * What memory is looked at from: the conversation on screen, and its notebook
 * or else the one in front.
 */
function memoryPlace({
  channel,
  notebooks
}: ISettingsEnvironment): IMemoryPlace {
  const item = channel?.store.state?.currentTaskItem;
  const [inFront] = openPaths(notebooks);
  const notebook = item?.notebook?.path ?? inFront;
  return {
    ...(item && { task: item.id }),
    ...(notebook && { notebook })
  };
}

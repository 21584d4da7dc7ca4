import { MainAreaWidget } from '@jupyterlab/apputils';
import type { ServerConnection } from '@jupyterlab/services';
import type { ITranslator } from '@jupyterlab/translation';
import { settingsIcon } from '@jupyterlab/ui-components';

import { settingsText } from '../generated/settingsText';
import type { IAgentChannel } from '../tokens';

import { SettingsApi } from '../rest/settingsapi';
import { LabDialogs } from '../ui/dialogs';
import { followChannel } from './data/followchannel';
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
}

/**
 * Create the settings and have them ask the server for what they show.
 */
export function createSettings(
  environment: ISettingsEnvironment
): MainAreaWidget<SettingsWidget> {
  const { serverSettings, translator, channel } = environment;
  const trans = translator.load('hdsp_agent');
  const model = new SettingsModel({
    api: new SettingsApi(serverSettings),
    client: channel?.client ?? null,
    texts: settingsText(trans)
  });
  const content = new SettingsWidget({
    model,
    trans,
    dialogs: new LabDialogs(trans)
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

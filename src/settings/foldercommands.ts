import { Notification } from '@jupyterlab/apputils';
import type { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import { asErrorBody, errorText } from '../errors';

import { SettingsApi } from '../rest/settingsapi';
import { folderContentLines } from './foldertexts';
import type { IDialogs } from '../ui/dialogs';

/**
 * Trust the folder that new conversations work in, or do not, and say so. What
 * it brings is shown first.
 */
export async function decideAboutFolder(
  options: IFolderOptions,
  trusted: boolean
): Promise<void> {
  const { trans } = options;
  const api = new SettingsApi(options.serverSettings);
  try {
    const { folder, brings } = await api.folderTrust(null);
    const lines = folderContentLines(trans, brings);
    const sure =
      !trusted ||
      (await options.dialogs.confirm({
        title: trans.__('Trust this folder?'),
        body: [
          trans.__('The agent will follow these instructions in %1:', folder),
          lines.join('; ') || trans.__('none so far')
        ].join(' '),
        accept: trans.__('Trust this folder')
      }));
    if (sure) {
      await api.decideFolder(folder, trusted);
      Notification.success(
        trusted
          ? trans.__('You trust %1.', folder)
          : trans.__('You do not trust %1.', folder)
      );
    }
  } catch (reason) {
    Notification.error(errorText(trans, asErrorBody(reason)));
  }
}

/**
 * What it takes to decide about the folder.
 */
export interface IFolderOptions {
  readonly serverSettings: ServerConnection.ISettings;
  readonly trans: TranslationBundle;
  readonly dialogs: IDialogs;
}

import type { ISignal } from '@lumino/signaling';

import type { McpServersMessage } from '../../generated/wire';
import type { SettingsModel } from './settingsmodel';

/**
 * Keep a model true to what other tabs and programs change.
 *
 * @param messages - The server's messages, in order.
 *
 * @param model - The model; it follows until it is disposed.
 */
export function followChannel<M extends { readonly type: string }>(
  messages: ISignal<unknown, M>,
  model: SettingsModel
): void {
  const lookAtMeaning = (): void => {
    if (model.meaning.value) {
      void model.meaning.refresh();
    }
  };
  const lookAtMemory = (): void => {
    if (model.memory?.value) {
      void model.memory.refresh();
    }
  };
  const lookAtAgents = (): void => {
    if (model.otherAgents?.value) {
      void model.otherAgents.refresh();
    }
  };
  const lookAtServers = (): void => {
    if (model.mcpServers?.value) {
      void model.mcpServers.refresh();
    }
  };
  const listen = (_: unknown, message: M): void => {
    switch (message.type) {
      case 'settingsUpdated':
        void model.settings.refresh();
        lookAtMeaning();
        lookAtAgents();
        lookAtServers();
        if (model.ownModes?.value) {
          void model.ownModes.refresh();
        }
        break;
      case 'profilesUpdated':
        void model.profiles.refresh();
        break;
      case 'secretsUpdated':
        void model.keys.refresh();
        lookAtMeaning();
        break;
      case 'memoryUpdated':
        lookAtMemory();
        break;
      case 'folderTrustUpdated':
        void model.folders.refresh();
        lookAtServers();
        break;
      case 'externalAgentsUpdated':
        lookAtAgents();
        break;
      case 'mcpServers':
        model.mcpServers?.follow(
          (message as M & Partial<McpServersMessage>).mcpServers ?? []
        );
        break;
      case 'state':
        // Whatever was missed while there was no connection.
        void model.refresh();
        lookAtMemory();
        lookAtAgents();
        lookAtServers();
        break;
    }
  };
  // Given as the receiver, the model ends this when it is disposed.
  messages.connect(listen, model);
}

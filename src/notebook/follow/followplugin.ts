import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CommandIDs } from '../../ui/commandids';
import { addToPalette, commandLabel } from '../../ui/commandlabel';
import { IAgentNotebooks } from '../../tokens';
import { loadTexts } from '../../ui/texts/loadtexts';
import { whenOpened } from '../whenopened';

const ID = 'hdsp-agent:follow';

/**
 * Scrolls notebooks to where the agent works.
 */
export const followPlugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description:
    'Brings the cells HDSP Agent runs and changes into sight, unless the person is busy elsewhere.',
  autoStart: true,
  requires: [IAgentNotebooks, INotebookTracker],
  optional: [ISettingRegistry, ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    provided: IAgentNotebooks,
    tracker: INotebookTracker,
    registry: ISettingRegistry | null,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTexts(translator ?? nullTranslator);
    const { commands } = app;
    const { agentNotebooks } = provided;
    let isOn = true;
    let settings: ISettingRegistry.ISettings | null = null;
    // Whoever opens the menu first is to see what holds.
    const ready = (async () => {
      settings = (await registry?.load(ID)) ?? null;
      const read = () => {
        isOn = settings?.composite.follow !== false;
        commands.notifyCommandChanged(CommandIDs.follow);
      };
      read();
      settings?.changed.connect(read);
    })().catch((reason: unknown) => {
      console.error('Whether to follow the agent could not be read', reason);
    });
    let resume = () => {};
    commands.addCommand(CommandIDs.follow, {
      label: commandLabel(
        trans,
        trans.__('Follow the Agent in Notebooks'),
        trans.__('Follow in Notebooks')
      ),
      caption: trans.__('Scroll to the cells the agent runs and changes'),
      describedBy: { args: { type: 'object', properties: {} } },
      isToggleable: true,
      isToggled: () => isOn,
      execute: async () => {
        await ready;
        isOn = !isOn;
        await settings?.set('follow', isOn);
        commands.notifyCommandChanged(CommandIDs.follow);
        if (isOn) {
          resume();
        }
      }
    });
    addToPalette(palette, trans, CommandIDs.follow);
    whenOpened(agentNotebooks.notebooks, async () => {
      await ready;
      const { Followers } = await import('./followers');
      const followers = new Followers({
        agentNotebooks,
        trans,
        isOn: () => isOn
      });
      resume = () => followers.resume(tracker.currentWidget);
      return followers;
    });
  }
};

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { CommandIDs } from '../../ui/commandids';
import { addToPalette } from '../../ui/commandlabel';
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
    whenOpened(agentNotebooks.notebooks, async () => {
      const settings = (await registry?.load(ID)) ?? null;
      const { createFollow } = await import('./followui');
      let isOn = true;
      const read = () => {
        isOn = settings?.composite.follow !== false;
      };
      read();
      settings?.changed.connect(read);
      addToPalette(palette, trans, CommandIDs.follow);
      return createFollow({
        commands,
        agentNotebooks,
        tracker,
        trans,
        isOn: () => isOn,
        setOn: async on => {
          isOn = on;
          await settings?.set('follow', on);
        }
      });
    });
  }
};

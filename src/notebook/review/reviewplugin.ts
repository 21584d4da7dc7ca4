import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { addToPalette } from '../../ui/commandlabel';
import { IAgentChannel, IAgentNotebooks } from '../../tokens';
import { loadTexts } from '../../ui/texts/loadtexts';
import type { IAgentChange } from '../agentnotebooks';
import { whenOpened } from '../whenopened';

/**
 * Shows in notebooks what the agent runs and changed.
 */
export const reviewPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:review',
  description:
    'Marks the cells HDSP Agent runs and changes, and shows its changes to keep or take back.',
  autoStart: true,
  requires: [IAgentChannel, IAgentNotebooks, INotebookTracker],
  optional: [ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel,
    provided: IAgentNotebooks,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = loadTexts(translator ?? nullTranslator);
    const { commands } = app;
    const { client } = channel;
    const { agentNotebooks } = provided;
    const pointed = () =>
      app.contextMenuHitTest(node => node.classList.contains('jp-Cell'));
    // What happens while the rest is loaded.
    const early: IAgentChange[] = [];
    const remember = (_: unknown, change: IAgentChange) => {
      early.push(change);
    };
    agentNotebooks.changedByAgent.connect(remember);
    whenOpened(agentNotebooks.notebooks, async () => {
      const { createReview, REVIEW_COMMANDS } = await import('./reviewui');
      agentNotebooks.changedByAgent.disconnect(remember);
      for (const command of REVIEW_COMMANDS) {
        addToPalette(palette, trans, command);
      }
      return createReview({
        client,
        commands,
        agentNotebooks,
        tracker,
        trans,
        early,
        pointed
      });
    });
  }
};

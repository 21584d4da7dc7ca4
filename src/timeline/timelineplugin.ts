import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';

import { CommandIDs } from '../ui/commandids';
import { addToPalette } from '../ui/commandlabel';
import { CellFinder } from '../notebook/cells/cellplace';
import { whenOpened } from '../notebook/whenopened';
import { lazyComponent } from '../ui/lazycomponent';
import { IAgentNotebooks, IAgentPanel } from '../tokens';
import { addTimelineCommands, TIMELINE_COMMANDS } from './timelinecommands';
import type { NotebookHeads } from './notebookheads';
import type { ITimelineUi } from './createtimeline';
import { timelineWidget } from './timelinewidget';

// Among the last: it is rarely the first thing one looks for.
const RANK = 900;

/**
 * Shows what was done to the workspace, and brings back what was before.
 */
export const timelinePlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:time-line',
  description:
    'Shows the checkpoints of HDSP Agent as a timeline, and restores files, notebooks, cells, variables and conversations from them.',
  autoStart: true,
  requires: [IAgentPanel, IAgentNotebooks, INotebookTracker],
  optional: [ICommandPalette, ILayoutRestorer, IStateDB],
  activate: (
    app: JupyterFrontEnd,
    agent: IAgentPanel,
    provided: IAgentNotebooks,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    memory: IStateDB | null
  ): void => {
    const { commands, shell } = app;
    const { services } = agent;
    const { client, serverSettings, trans } = services;
    const { notebooks } = provided.agentNotebooks;
    let heads: NotebookHeads | null = null;
    let made: Promise<ITimelineUi> | null = null;
    const make = async (): Promise<ITimelineUi> => {
      const { createTimeline } = await import('./createtimeline');
      const ui = createTimeline(services, memory);
      ui.restoreActions.happened.connect(() => heads?.refresh());
      return ui;
    };
    const ui = () => {
      made ??= make().catch((reason: unknown) => {
        // Fetched again the next time.
        made = null;
        throw reason;
      });
      return made;
    };

    const widget = timelineWidget(
      services,
      lazyComponent(async () => (await ui()).View)
    );
    widget.shown.connect(() => {
      void made?.then(({ model }) => model.refresh());
    });
    shell.add(widget, 'right', { rank: RANK });
    restorer?.add(widget, widget.id);

    const cells = new CellFinder({
      notebooks,
      tracker,
      pointed: () =>
        app.contextMenuHitTest(node => node.classList.contains('jp-Cell'))
    });
    const current = () => {
      const panel = cells.findPanel({});
      return panel && notebooks.pathOf(panel);
    };
    addTimelineCommands(commands, {
      trans,
      cells,
      ui,
      headOf: path => heads?.of(path) ?? null,
      pathOf: args => {
        const panel = cells.findPanel(args);
        return panel && notebooks.pathOf(panel);
      },
      reveal: () => shell.activateById(widget.id)
    });
    const notify = () => {
      commands.notifyCommandChanged(CommandIDs.restoreCell);
      commands.notifyCommandChanged(CommandIDs.restartToCell);
      commands.notifyCommandChanged(CommandIDs.undoRestore);
    };
    tracker.activeCellChanged.connect(notify);
    whenOpened(notebooks, async () => {
      const { NotebookHeads } = await import('./notebookheads');
      const known = new NotebookHeads({ serverSettings, client, current });
      known.changed.connect(notify);
      tracker.currentChanged.connect(() => known.refresh());
      heads = known;
      return known;
    });
    for (const command of TIMELINE_COMMANDS) {
      addToPalette(palette, trans, command);
    }
  }
};

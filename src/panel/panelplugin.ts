import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { URLExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { DisposableSet } from '@lumino/disposable';

import { IAgentChannel, IAgentPanel } from '../tokens';
import { addAskCommands } from './asks/askcommands';
import { notifyAsks } from './notify/asknotifications';
import { addUndoCommands } from './changes/undocommands';
import { addChatCommands } from './chat/chatcommands';
import { addComposerCommands } from './composer/composercommands';
import { DismissedNotices } from '../state/panel/dismissednotices';
import { DraftStorage, tabStorage } from '../state/panel/draftstorage';
import { addHeaderCommands } from './header/headercommands';
import { lazyComponent } from '../ui/lazycomponent';
import { addNotebookConversationCommands } from './notebookconversation/notebookconversationcommands';
import { notifyWhileAway } from './notify/awaynotifications';
import { AgentPanel } from './panelwidget';
import { addQuestionCommand } from './statusbar/question';

// Most of the panel's code, which Lab's start does not wait for.
const Body = lazyComponent(async () => (await import('./panelbody')).PanelBody);

const PANEL_ID = 'hdsp-agent-panel';

// After the file browser and the running sessions, before the table of contents.
const PANEL_RANK = 350;

/**
 * Puts the agent's panel into the left side bar.
 */
export const panelPlugin: JupyterFrontEndPlugin<IAgentPanel> = {
  id: 'hdsp-agent:panel',
  description: 'Shows the agent in a panel of the side bar.',
  autoStart: true,
  requires: [IAgentChannel, IRenderMimeRegistry],
  optional: [ILayoutRestorer, ITranslator, INotebookTracker, IDocumentManager],
  provides: IAgentPanel,
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel,
    rendermime: IRenderMimeRegistry,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null,
    notebooks: INotebookTracker | null,
    documents: IDocumentManager | null
  ): IAgentPanel => {
    const { serverSettings } = app.serviceManager;
    const storage = tabStorage(window);
    const widget = new AgentPanel({
      channel,
      commands: app.commands,
      drafts:
        storage &&
        new DraftStorage({
          storage,
          prefix: `hdsp-agent:draft:${serverSettings.baseUrl}:`,
          page: window
        }),
      dismissed: new DismissedNotices(
        storage,
        `hdsp-agent:dismissed:${serverSettings.baseUrl}`
      ),
      translator: translator ?? nullTranslator,
      rendermime,
      notebooks,
      documents,
      tabs: () => [...app.shell.widgets('main')],
      serverSettings,
      Body,
      loginUrl: URLExt.join(serverSettings.baseUrl, 'login')
    });
    widget.id = PANEL_ID;
    const { services } = widget;
    const additions = DisposableSet.from([
      addHeaderCommands(services),
      addAskCommands(services),
      addChatCommands(services),
      addQuestionCommand(services),
      addUndoCommands(services),
      addNotebookConversationCommands(services),
      addComposerCommands(services),
      notifyAsks(services, widget),
      notifyWhileAway(services)
    ]);
    widget.disposed.connect(() => additions.dispose());
    restorer?.add(widget, PANEL_ID);
    app.shell.add(widget, 'left', { rank: PANEL_RANK });
    // So that it is there at once when it is opened.
    void app.restored.then(() => widget.draw());
    return {
      widget,
      services,
      open: () => app.shell.activateById(widget.id)
    };
  }
};

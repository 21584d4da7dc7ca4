import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import type { MainAreaWidget } from '@jupyterlab/apputils';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { IFormRendererRegistry, settingsIcon } from '@jupyterlab/ui-components';

import { CommandIDs } from '../ui/commandids';
import { addToPalette, commandLabel } from '../ui/commandlabel';
import { IAgentChannel } from '../tokens';
import { loadTexts } from '../ui/texts/loadtexts';
import { addSettingsLink } from './labsettings';

import type { createSettings } from './createsettings';
import type { SettingsWidget } from './settingswidget';

const NAMESPACE = 'hdsp-agent-settings';

/**
 * The settings, profiles and keys in a tab of the main area.
 */
export const settingsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:settings',
  description: 'Shows the settings, profiles and keys of HDSP Agent.',
  autoStart: true,
  optional: [
    IAgentChannel,
    ICommandPalette,
    ILayoutRestorer,
    ITranslator,
    IFormRendererRegistry,
    INotebookTracker
  ],
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null,
    renderers: IFormRendererRegistry | null,
    notebooks: INotebookTracker | null
  ): void => {
    const environment = {
      serverSettings: app.serviceManager.serverSettings,
      translator: translator ?? nullTranslator,
      channel,
      commands: app.commands,
      notebooks
    };
    const trans = loadTexts(environment.translator);
    const tracker = new WidgetTracker<MainAreaWidget<SettingsWidget>>({
      namespace: NAMESPACE
    });

    const add = (
      create: typeof createSettings
    ): MainAreaWidget<SettingsWidget> => {
      const widget = create(environment);
      widget.id = NAMESPACE;
      widget.content.sectionChanged.connect(() => {
        void tracker.save(widget);
      });
      void tracker.add(widget);
      return widget;
    };

    app.commands.addCommand(CommandIDs.openSettings, {
      label: commandLabel(
        trans,
        trans.__('HDSP Agent Settings'),
        trans.__('Settings')
      ),
      caption: trans.__('Change settings, profiles and keys of HDSP Agent'),
      icon: settingsIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            section: {
              type: 'string',
              description: trans.__(
                'The section to open: models, keys, transfer or a group of settings'
              )
            }
          }
        }
      },
      execute: async args => {
        const { createSettings } = await import('./createsettings');
        const widget = tracker.find(() => true) ?? add(createSettings);
        if (typeof args.section === 'string') {
          widget.content.openSection(args.section);
        }
        if (!widget.isAttached) {
          app.shell.add(widget, 'main', { type: 'HDSP Agent Settings' });
        }
        app.shell.activateById(widget.id);
      }
    });

    addToPalette(palette, trans, CommandIDs.openSettings);
    Private.addFolderCommands(app, trans);
    app.commands.addCommand(CommandIDs.openMemory, {
      label: commandLabel(trans, trans.__('Memory')),
      caption: trans.__('See and change what the agent remembers'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () =>
        app.commands.execute(CommandIDs.openSettings, { section: 'memory' })
    });
    Private.addMcpCommands(app, trans);
    for (const command of Private.LISTED) {
      addToPalette(palette, trans, command);
    }

    if (renderers) {
      addSettingsLink(
        renderers,
        trans,
        () => void app.commands.execute(CommandIDs.openSettings)
      );
    }
    if (restorer) {
      void restorer.restore(tracker, {
        command: CommandIDs.openSettings,
        args: widget => ({ section: widget.content.section }),
        name: () => NAMESPACE
      });
    }
  }
};

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What the palette lists besides the settings themselves.
   */
  export const LISTED = [
    CommandIDs.openMemory,
    CommandIDs.connectAgent,
    CommandIDs.manageMcpServers,
    CommandIDs.manageTrustedFolders,
    CommandIDs.trustFolder,
    CommandIDs.distrustFolder
  ] as const;

  /**
   * Add the commands about other agents, and about servers of tools.
   */
  export function addMcpCommands(
    { commands }: JupyterFrontEnd,
    trans: TranslationBundle
  ): void {
    const describedBy = { args: { type: 'object', properties: {} } };
    commands.addCommand(CommandIDs.connectAgent, {
      label: commandLabel(trans, trans.__('Connect Another Agent…')),
      caption: trans.__(
        'Let Claude Code, Codex or another agent work in your notebooks'
      ),
      describedBy,
      execute: () =>
        commands.execute(CommandIDs.openSettings, { section: 'otherAgents' })
    });
    commands.addCommand(CommandIDs.manageMcpServers, {
      label: commandLabel(trans, trans.__('MCP Servers')),
      caption: trans.__('Give the agent the tools of MCP servers'),
      describedBy,
      execute: () =>
        commands.execute(CommandIDs.openSettings, { section: 'mcpServers' })
    });
  }

  /**
   * Add the commands about trust in folders.
   */
  export function addFolderCommands(
    { commands, serviceManager }: JupyterFrontEnd,
    trans: TranslationBundle
  ): void {
    const describedBy = { args: { type: 'object', properties: {} } };
    const decide = async (trusted: boolean): Promise<void> => {
      const [{ decideAboutFolder }, { LabDialogs }] = await Promise.all([
        import('./foldercommands'),
        import('../ui/dialogs')
      ]);
      const { serverSettings } = serviceManager;
      const dialogs = new LabDialogs(trans);
      await decideAboutFolder({ serverSettings, trans, dialogs }, trusted);
    };
    commands.addCommand(CommandIDs.manageTrustedFolders, {
      label: commandLabel(trans, trans.__('Manage Trusted Folders')),
      caption: trans.__('See which folders can give the agent instructions'),
      describedBy,
      execute: () =>
        commands.execute(CommandIDs.openSettings, { section: 'folders' })
    });
    commands.addCommand(CommandIDs.trustFolder, {
      label: commandLabel(trans, trans.__('Trust This Folder')),
      caption: trans.__("Let the agent follow this folder's instructions"),
      describedBy,
      execute: () => decide(true)
    });
    commands.addCommand(CommandIDs.distrustFolder, {
      label: commandLabel(trans, trans.__('Stop Trusting This Folder')),
      caption: trans.__("Stop using this folder's instructions for the agent"),
      describedBy,
      execute: () => decide(false)
    });
  }
}

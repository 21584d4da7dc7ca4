import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import type { MainAreaWidget } from '@jupyterlab/apputils';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { settingsIcon } from '@jupyterlab/ui-components';

import { CommandIDs } from '../commands/ids';
import { IAgentChannel } from '../tokens';

import type { createSettings } from './create';
import type { SettingsWidget } from './widget';

const NAMESPACE = 'hdsp-agent-settings';

/**
 * The settings, profiles and keys in a tab of the main area.
 */
export const settingsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'hdsp-agent:settings',
  description: 'Shows the settings, profiles and keys of HDSP Agent.',
  autoStart: true,
  optional: [IAgentChannel, ICommandPalette, ILayoutRestorer, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    channel: IAgentChannel | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    translator: ITranslator | null
  ): void => {
    const surroundings = {
      serverSettings: app.serviceManager.serverSettings,
      translator: translator ?? nullTranslator,
      channel
    };
    const trans = surroundings.translator.load('hdsp_agent');
    const tracker = new WidgetTracker<MainAreaWidget<SettingsWidget>>({
      namespace: NAMESPACE
    });

    const add = (
      create: typeof createSettings
    ): MainAreaWidget<SettingsWidget> => {
      const widget = create(surroundings);
      widget.id = NAMESPACE;
      widget.content.sectionChanged.connect(() => {
        void tracker.save(widget);
      });
      void tracker.add(widget);
      return widget;
    };

    app.commands.addCommand(CommandIDs.openSettings, {
      label: trans.__('HDSP Agent Settings'),
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
        const { createSettings } = await import('./create');
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

    palette?.addItem({
      command: CommandIDs.openSettings,
      category: trans.__('HDSP Agent')
    });

    if (restorer) {
      void restorer.restore(tracker, {
        command: CommandIDs.openSettings,
        args: widget => ({ section: widget.content.section }),
        name: () => NAMESPACE
      });
    }
  }
};

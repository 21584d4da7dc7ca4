import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';

import schema from '../../../labextension/schema/commands.json';
import { addCommands } from '../../commands/panelcommands';
import { CommandIDs } from '../../ui/commandids';
import { addAskCommands } from '../asks/askcommands';
import { addChatCommands } from '../chat/chatcommands';
import { addComposerCommands } from '../composer/composercommands';
import { addHeaderCommands } from '../header/headercommands';
import { OpenedPanel } from './openedpanel';

describe('the keys and menus', () => {
  let page: OpenedPanel;
  let added: IDisposable;

  beforeEach(() => {
    page = new OpenedPanel();
    const { services } = page.panel;
    added = DisposableSet.from([
      addCommands(page.commands, {
        client: page.client,
        panel: { open: () => undefined },
        leave: () => undefined,
        trans: services.trans
      }),
      addAskCommands(services),
      addChatCommands(services),
      addComposerCommands(services),
      addHeaderCommands(services)
    ]);
  });

  afterEach(() => {
    added.dispose();
    page.dispose();
  });

  it('should belong to commands that describe themselves and their arguments', async () => {
    const named = [
      ...schema['jupyter.lab.shortcuts'].map(({ command }) => command),
      ...schema['jupyter.lab.menus'].main.flatMap(({ items }) =>
        items.map(({ command }) => command)
      )
    ].filter(command => command !== CommandIDs.openSettings);
    for (const command of named) {
      expect([command, page.commands.hasCommand(command)]).toEqual([
        command,
        true
      ]);
      const { args } = await page.commands.describedBy(command);
      expect(args).toMatchObject({ type: 'object' });
      expect(page.commands.caption(command)).not.toBe('');
    }
  });
});

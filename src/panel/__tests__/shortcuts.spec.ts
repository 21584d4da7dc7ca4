import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';

import schema from '../../../labextension/schema/commands.json';
import { addCommands } from '../../commands/commands';
import { CommandIDs } from '../../commands/ids';
import { addAsksCommands } from '../asks/commands';
import { addChatCommands } from '../chat/commands';
import { addComposerCommands } from '../composer/commands';
import { addHeaderCommands } from '../header/commands';
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
      addAsksCommands(services),
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

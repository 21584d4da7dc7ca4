import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';

import cells from '../../../labextension/schema/cells.json';
import schema from '../../../labextension/schema/commands.json';
import review from '../../../labextension/schema/review.json';
import timeline from '../../../labextension/schema/time-line.json';
import { addCommands } from '../../commands/panelcommands';
import { CommandIDs } from '../../ui/commandids';
import { addAskCommands } from '../asks/askcommands';
import { addUndoCommands } from '../changes/undocommands';
import { addChatCommands } from '../chat/chatcommands';
import { addComposerCommands } from '../composer/composercommands';
import { addHeaderCommands } from '../header/headercommands';
import { addNotebookConversationCommands } from '../notebookconversation/notebookconversationcommands';
import { addQuestionCommand } from '../statusbar/question';
import { OpenedPanel } from './openedpanel';

/**
 * What a menu of a schema lists.
 */
interface IMenuItem {
  readonly command?: string;
  readonly submenu?: { readonly items: readonly IMenuItem[] };
}

const AGENT_MENU = 'jp-mainmenu-hdsp-agent';

/**
 * What does nothing unless it is told what to do it with.
 */
const NEED_ARGUMENTS: readonly string[] = [
  CommandIDs.showConversation,
  CommandIDs.restoreCheckpoint,
  CommandIDs.restoreVariable,
  CommandIDs.showVerification
];

/**
 * What works where one writes: a menu takes the focus, and the ghost text with it.
 */
const AT_CURSOR: readonly string[] = [
  CommandIDs.acceptGhostWord,
  CommandIDs.acceptGhostLine
];

function commandsIn(items: readonly IMenuItem[]): string[] {
  return items.flatMap(({ command, submenu }) => [
    ...(command === undefined ? [] : [command]),
    ...commandsIn(submenu?.items ?? [])
  ]);
}

describe('the keys and menus', () => {
  let page: OpenedPanel;
  let added: IDisposable;
  let own: readonly string[];

  beforeEach(() => {
    page = new OpenedPanel();
    const { services } = page.panel;
    const before = new Set(page.commands.listCommands());
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
      addHeaderCommands(services),
      addNotebookConversationCommands(services),
      addQuestionCommand(services),
      addUndoCommands(services)
    ]);
    own = page.commands.listCommands().filter(id => !before.has(id));
  });

  afterEach(() => {
    added.dispose();
    page.dispose();
  });

  it('should belong to commands that describe themselves and their arguments', async () => {
    expect(own.length).toBeGreaterThan(30);
    for (const command of own) {
      const { args } = await page.commands.describedBy(command);
      expect(args).toMatchObject({ type: 'object' });
      expect([command, page.commands.caption(command)]).not.toEqual([
        command,
        ''
      ]);
    }
    const keys = schema['jupyter.lab.shortcuts'].map(({ command }) => command);
    expect(keys.filter(command => !own.includes(command))).toEqual([]);
  });

  it('should name the agent in the palette, and not in menus', () => {
    for (const command of own) {
      const long = page.commands.label(command, { isPalette: true });
      const short = page.commands.label(command);
      expect(long).toMatch(/^Agent: \S/);
      expect(short).not.toMatch(/^Agent: /);
    }
  });

  it('should have a place in a menu for every command', () => {
    const menu = schema['jupyter.lab.menus'].main.find(
      ({ id }) => id === AGENT_MENU
    );
    const listed = commandsIn(menu?.items ?? []);
    const all: readonly string[] = Object.values(CommandIDs);
    expect(
      all.filter(
        id =>
          !listed.includes(id) &&
          !NEED_ARGUMENTS.includes(id) &&
          !AT_CURSOR.includes(id)
      )
    ).toEqual([]);
    expect(listed.filter(id => !all.includes(id))).toEqual([]);
    for (const { 'jupyter.lab.menus': menus } of [cells, review, timeline]) {
      expect(commandsIn(menus.context).every(id => all.includes(id))).toBe(
        true
      );
    }
  });
});

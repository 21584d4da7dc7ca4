import { Clipboard, Notification } from '@jupyterlab/apputils';

import { CommandIDs } from '../../../ui/commandids';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { RestServer } from '../../history/__tests__/restserver';
import type { GlobalSettings } from '../../../generated/wire';
import { HEADER_COMMANDS, addHeaderCommands } from '../headercommands';
import { anItem, anOpenTask, showing } from './conversations';

const TASKS = ['a', 'b', 'c'].map(id => anOpenTask(id, id.toUpperCase()));

describe('addHeaderCommands', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
    document.body.innerHTML = '';
  });

  function begin(id: string | null): void {
    addHeaderCommands(page.panel.services);
    page.begin(
      id === null
        ? { openTasks: TASKS }
        : showing(anItem({ id }), { openTasks: TASKS })
    );
  }

  async function shows(command: string, args = {}): Promise<unknown> {
    const before = page.sent('showTaskWithId').length;
    const going = page.commands.execute(command, args);
    await page.settle();
    page.answer('showTaskWithId');
    await page.settle();
    await going;
    return page.sent('showTaskWithId')[before]?.taskId;
  }

  it('should describe each command and its arguments', async () => {
    begin('a');
    for (const id of HEADER_COMMANDS) {
      expect(page.commands.label(id)).not.toBe('');
      expect(page.commands.caption(id)).not.toBe('');
      const { args } = await page.commands.describedBy(id);
      expect(args).toMatchObject({ type: 'object' });
    }
  });

  it('should copy what a conversation began with, without what went along', async () => {
    const rest = new RestServer();
    const copied = jest
      .spyOn(Clipboard, 'copyToSystem')
      .mockImplementation(() => undefined);
    rest.answers.set('GET history/b', () =>
      anItem({
        id: 'b',
        task: 'Plot it\n\n<attachment kind="file" path="a.py" label="a.py">\nx\n</attachment>'
      })
    );
    begin('a');
    await page.during(() =>
      page.commands.execute(CommandIDs.copyRequest, { taskId: 'b' })
    );
    expect(copied).toHaveBeenCalledWith('Plot it');
    copied.mockRestore();
    rest.dispose();
  });

  it('should go from one conversation to the next, around the ends', async () => {
    begin('c');
    expect(await shows(CommandIDs.nextConversation)).toBe('a');
    expect(await shows(CommandIDs.previousConversation)).toBe('b');
  });

  it('should go to the first or the last from one that is yet to begin', async () => {
    begin(null);
    expect(await shows(CommandIDs.nextConversation)).toBe('a');
    expect(await shows(CommandIDs.previousConversation)).toBe('c');
  });

  it('should be of use only where there is something to act on', () => {
    addHeaderCommands(page.panel.services);
    const changed: string[] = [];
    page.commands.commandChanged.connect((_, { id }) => {
      if (id !== undefined) {
        changed.push(id);
      }
    });
    expect(page.commands.isEnabled(CommandIDs.newConversation)).toBe(false);
    page.begin({ openTasks: [] });
    expect(page.commands.isEnabled(CommandIDs.newConversation)).toBe(true);
    expect(page.commands.isEnabled(CommandIDs.nextConversation)).toBe(false);
    expect(page.commands.isEnabled(CommandIDs.deleteConversation)).toBe(false);
    expect(changed).toContain(CommandIDs.newConversation);
  });

  it('should begin another conversation and show the panel’s chat', async () => {
    begin('a');
    page.act(() => {
      void page.commands.execute(CommandIDs.showHistory);
    });
    expect(page.panel.services.state.page).toBe('history');
    const going = page.commands.execute(CommandIDs.newConversation);
    await page.settle(() => page.answer('newConversation'));
    await going;
    expect(page.panel.services.state.page).toBe('chat');
  });

  it('should show the checkpoints of a conversation, where there is a time line', async () => {
    begin('a');
    expect(page.commands.isEnabled(CommandIDs.showCheckpoints)).toBe(false);
    const opened: unknown[] = [];
    page.commands.addCommand(CommandIDs.openTimeline, {
      execute: args => void opened.push(args)
    });
    expect(page.commands.isEnabled(CommandIDs.showCheckpoints)).toBe(true);
    await page.commands.execute(CommandIDs.showCheckpoints);
    await page.commands.execute(CommandIDs.showCheckpoints, { taskId: 'b' });
    expect(opened).toEqual([
      { taskId: 'a', only: 'task' },
      { taskId: 'b', only: 'task' }
    ]);
  });

  it('should bring the conversation that is named before one’s eyes', async () => {
    begin('a');
    const opened = jest.fn();
    page.commands.addCommand(CommandIDs.open, { execute: opened });
    await page.commands.execute(CommandIDs.showHistory);
    expect(await shows(CommandIDs.showConversation, { taskId: 'z' })).toBe('z');
    expect(opened).toHaveBeenCalledTimes(1);
    expect(page.panel.services.state.page).toBe('chat');
  });

  it('should rename the conversation that is named, not the one on screen', async () => {
    begin('a');
    const title = 'Rows';
    const going = page.commands.execute(CommandIDs.renameConversation, {
      taskId: 'z',
      title
    });
    await page.settle();
    const input = document.querySelector<HTMLInputElement>('.jp-Dialog input');
    expect(input?.value).toBe('Rows');
    await page.settle(() => {
      if (input !== null) {
        input.value = 'Columns';
      }
      document.querySelector<HTMLElement>('.jp-Dialog .jp-mod-accept')?.click();
    });
    const [{ taskId, title: newTitle }] = page.sent('renameTask');
    expect([taskId, newTitle]).toEqual(['z', 'Columns']);
    page.answer('renameTask');
    await page.settle();
    await going;
  });

  it('should turn memory off for the conversation on screen, and on again', async () => {
    addHeaderCommands(page.panel.services);
    const settings = { memoryEnabled: true } as GlobalSettings;
    for (const memoryOff of [undefined, true]) {
      page.begin(showing(anItem({ id: 'a', memoryOff }), { settings }));
      expect(page.commands.isToggled(CommandIDs.useMemory)).toBe(!memoryOff);
      const before = page.sent('rememberTask').length;
      const going = page.commands.execute(CommandIDs.useMemory);
      await page.settle(() => page.answer('rememberTask'));
      await going;
      expect(page.sent('rememberTask')[before]).toMatchObject({
        taskId: 'a',
        remember: memoryOff ?? false
      });
    }
    page.begin(
      showing(anItem({ id: 'a' }), {
        settings: { memoryEnabled: false } as GlobalSettings
      })
    );
    expect(page.commands.isEnabled(CommandIDs.useMemory)).toBe(false);
  });

  it('should say why something was refused, wherever it was begun', async () => {
    const told = jest.spyOn(Notification, 'error').mockReturnValue('');
    begin('a');
    const going = page.commands.execute(CommandIDs.favoriteConversation);
    await page.settle(() =>
      page.answer('favoriteTask', {
        code: 'some_code_without_translation',
        message: 'Not now.',
        params: {}
      })
    );
    await going;
    expect(told).toHaveBeenCalledWith('Not now.', { autoClose: false });
    told.mockRestore();
  });
});

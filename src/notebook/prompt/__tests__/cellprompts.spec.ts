import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import { RequestError } from '../../../comm/requesterror';
import type { AgentStore } from '../../../state/store';
import { CommandIDs } from '../../../ui/commandids';
import { OpenedNotebook } from '../../__tests__/openednotebook';
import { CellPrompts } from '../cellprompts';
import { FakeStore } from './fakestore';

const CELL_1 = 'Cell 1';
const CELL_2 = 'Cell 2';

describe('editing a cell by a prompt', () => {
  let opened: OpenedNotebook;
  let commands: CommandRegistry;
  let store: FakeStore;
  let prompts: CellPrompts;
  let isWaiting: boolean;
  let canUndo: boolean;
  let executed: [string, unknown][];

  beforeEach(async () => {
    opened = await OpenedNotebook.open(['a = 1', '']);
    opened.client.answers.set('editCell', 't');
    store = new FakeStore();
    commands = new CommandRegistry();
    isWaiting = false;
    canUndo = true;
    executed = [];
    for (const id of [
      CommandIDs.keepCell,
      CommandIDs.undoCell,
      CommandIDs.open,
      CommandIDs.showConversation
    ]) {
      commands.addCommand(id, {
        isEnabled: () => id !== CommandIDs.keepCell || isWaiting,
        execute: args => {
          executed.push([id, args]);
          if (id === CommandIDs.undoCell && canUndo) {
            edit('a = 1');
            wait(false);
          }
        }
      });
    }
    prompts = new CellPrompts({
      client: opened.client,
      commands,
      store: store as unknown as AgentStore,
      trans: nullTranslator.load('hdsp_agent')
    });
  });

  afterEach(() => {
    prompts.dispose();
    opened.close();
  });

  const wait = (now: boolean) => {
    isWaiting = now;
    commands.notifyCommandChanged(CommandIDs.keepCell);
  };
  const open = (index = 0) =>
    prompts.open({
      panel: opened.panel,
      path: opened.path,
      cell: opened.panel.content.widgets[index]
    });
  const row = () =>
    opened.panel.node.querySelector<HTMLElement>('[data-kind="prompt"]');
  const field = () => row()?.querySelector('textarea') as HTMLTextAreaElement;
  const press = (key: string, init: KeyboardEventInit = {}) =>
    field().dispatchEvent(
      new KeyboardEvent('keydown', { key, bubbles: true, ...init })
    );
  const say = async (text: string) => {
    field().value = text;
    press('Enter');
    await opened.settle();
  };
  const click = async (name: string) => {
    row()?.querySelector<HTMLElement>(`[data-action="${name}"]`)?.click();
    await opened.settle();
  };
  const shown = () =>
    [...(row()?.querySelectorAll<HTMLElement>('[data-action]') ?? [])]
      .filter(({ hidden }) => !hidden)
      .map(({ dataset }) => dataset.action);
  const status = () => row()?.querySelector('[role="status"]')?.textContent;
  const work = () => store.tell({ taskId: 't', status: 'running' });
  const finish = () => store.tell({ taskId: 't', status: 'idle' });
  const edit = (source: string) =>
    opened.model.sharedModel.cells[0].setSource(source);
  const change = async (text = 'twice as much') => {
    await open();
    await say(text);
    work();
    edit('a = 2');
    wait(true);
    finish();
  };

  it('shows the change while it is written, until the cell has it', async () => {
    const preview = () =>
      [
        ...(row()?.querySelectorAll<HTMLElement>(
          '.jp-hdspAgent-CellPrompt-preview > div'
        ) ?? [])
      ].map(({ dataset, textContent }) => [dataset.kind, textContent]);
    const write = (
      taskId: string,
      cellId: string,
      diff: string,
      path = opened.path
    ) =>
      opened.client.receive({
        type: 'cellEditPreview',
        taskId,
        path,
        cellEdits: [{ op: 'edit', cellId, diff }]
      });
    const { id } = opened.panel.content.widgets[0].model;
    await open();
    await say('twice as much');
    work();
    write('t', id, '-a = 1');
    write('t', '1', '-a = 1\n+a = ');
    expect(preview()).toEqual([
      ['removed', '-a = 1'],
      ['added', '+a = ']
    ]);
    write('another', id, '+b');
    expect(preview()).toHaveLength(2);
    write('t', 'another', '+b');
    expect(preview()).toEqual([]);
    write('t', id, '+a = 2');
    write('t', id, '+a = 2', 'other.ipynb');
    expect(preview()).toEqual([]);
    write('t', id, '+a = 2');
    edit('a = 2');
    expect(preview()).toEqual([]);
    write('t', id, '+a = 3');
    finish();
    expect(preview()).toEqual([]);
  });

  it('takes what is written in the cell, and says how far it is', async () => {
    await open();
    expect(document.activeElement).toBe(field());
    expect(field().placeholder).toBe('What should change in this cell?');
    expect(shown()).toEqual(['send', 'close']);
    await say(' twice as much ');
    expect(opened.client.of('editCell')).toEqual([
      {
        type: 'editCell',
        path: opened.path,
        cellId: 'cell-0',
        text: '/edit twice as much',
        attachments: [
          {
            kind: 'cell',
            path: opened.path,
            cellId: 'cell-0',
            label: CELL_1,
            content: 'a = 1'
          }
        ]
      }
    ]);
    expect(status()).toBe('The agent is changing this cell…');
    expect(shown()).toEqual(['stop', 'show', 'close']);
    expect(field().readOnly).toBe(true);
    work();
    edit('a = 2');
    wait(true);
    expect(status()).toBe('The agent is changing this cell…');
    finish();
    expect(status()).toBe('Changed. You can keep or undo it.');
    expect(shown()).toEqual(['send', 'retry', 'show', 'close']);
    expect(field().value).toBe('');
  });

  it('is about the selected lines, and about an empty cell', async () => {
    opened.panel.content.widgets[0].editor?.setSelection({
      start: { line: 0, column: 4 },
      end: { line: 0, column: 5 }
    });
    await open();
    expect(field().getAttribute('aria-label')).toBe(
      'Change the selected lines of cell 1'
    );
    await say('two');
    expect(opened.client.of('editCell')[0].attachments).toMatchObject([
      { kind: 'selection', content: '1' }
    ]);
    press('Escape');
    await open(1);
    expect(field().placeholder).toBe('What should this cell do?');
    await say('load the data');
    expect(opened.client.of('editCell')[1]).toMatchObject({
      cellId: 'cell-1',
      attachments: [{ label: CELL_2, content: '' }]
    });
  });

  it('sends nothing that is blank, not finished, or said already', async () => {
    await open();
    await say('   ');
    field().value = 'a';
    press('Enter', { shiftKey: true });
    press('Enter', { isComposing: true });
    await opened.settle();
    expect(opened.client.of('editCell')).toEqual([]);
    await say('b');
    await say('c');
    expect(opened.client.of('editCell')).toHaveLength(1);
  });

  it('goes on in the same conversation', async () => {
    await change();
    await say('and rename it');
    // It looks done until it has heard.
    finish();
    expect(status()).toBe('The agent is changing this cell…');
    expect(opened.client.of('editCell')[1]).toMatchObject({ taskId: 't' });
    work();
    edit('b = 2');
    finish();
    expect(status()).toBe('Changed. You can keep or undo it.');
  });

  it('tries again all that was said, once the change is undone', async () => {
    await change();
    await say('and rename it');
    work();
    edit('b = 2');
    finish();
    await click('retry');
    expect(executed).toEqual([
      [CommandIDs.undoCell, { path: opened.path, cellId: 'cell-0' }]
    ]);
    expect(opened.client.of('editCell')[2].text).toMatch(
      /^\/edit Do it differently: twice as much\nand rename it$/
    );
    expect(opened.client.of('editCell')[2].attachments).toMatchObject([
      { content: 'a = 1' }
    ]);
    expect(row()).not.toBeNull();
  });

  it('tries again what was sent twice, as nothing came of it, once', async () => {
    await open();
    await say('twice as much');
    work();
    store.tell({ taskId: 't', status: 'idle', failed: true });
    await change();
    await click('retry');
    expect(opened.client.of('editCell').at(-1)?.text).toBe(
      '/edit Do it differently: twice as much'
    );
  });

  it('tries again all of what was said twice, as more of it was wanted', async () => {
    await change('larger');
    await say('larger');
    work();
    edit('a = 3');
    finish();
    await click('retry');
    expect(opened.client.of('editCell').at(-1)?.text).toBe(
      '/edit Do it differently: larger\nlarger'
    );
  });

  it('tries again once, however often that is clicked', async () => {
    await change();
    const retry = row()?.querySelector<HTMLElement>('[data-action="retry"]');
    retry?.click();
    retry?.click();
    await opened.settle();
    expect(executed).toHaveLength(1);
    expect(opened.client.of('editCell')).toHaveLength(2);
  });

  it('does not try again where the change cannot be undone', async () => {
    await change();
    canUndo = false;
    await click('retry');
    expect(opened.client.of('editCell')).toHaveLength(1);
    expect(shown()).toContain('retry');
  });

  it('stays when the person decides while they write what else to do', async () => {
    await change();
    field().value = 'and half a sen';
    wait(false);
    expect(field().value).toBe('and half a sen');
    // There is nothing to keep, to undo or to do differently any more.
    expect(status()).toBe('');
    expect(shown()).toEqual(['send', 'close']);
  });

  it('says that the agent goes on because of what was said in the panel', async () => {
    await open();
    await say('twice');
    work();
    store.tell({ taskId: 't', status: 'idle', failed: true });
    expect(status()).toBe('The agent was stopped by an error.');
    work();
    expect(status()).toBe('The agent is changing this cell…');
    edit('a = 2');
    wait(true);
    finish();
    expect(status()).toBe('Changed. You can keep or undo it.');
  });

  it('begins anew when its conversation was deleted', async () => {
    await change();
    const { request } = opened.client;
    opened.client.request = message =>
      'taskId' in message
        ? Promise.reject(
            new RequestError({ code: 'unknown_task', message: 'gone' })
          )
        : request.call(opened.client, message);
    await say('and rename it');
    expect(opened.client.of('editCell')[1]).not.toHaveProperty('taskId');
    expect(status()).toBe('The agent is changing this cell…');
  });

  it('says that a change was made which the person has approved', async () => {
    await open();
    await say('twice');
    work();
    edit('a = 2');
    finish();
    expect(status()).toBe('Changed.');
    expect(shown()).toEqual(['send', 'show', 'close']);
  });

  it('sends the cell as it is by then', async () => {
    await open();
    edit('a = 7');
    await say('twice');
    expect(opened.client.of('editCell')[0].attachments).toMatchObject([
      { content: 'a = 7' }
    ]);
  });

  it('says what to do about a conversation that was closed', async () => {
    await open();
    await say('twice');
    work();
    store.tell();
    expect(status()).toBe(
      'The conversation is closed. Send again to continue it.'
    );
    expect(field().readOnly).toBe(false);
    await say('twice');
    expect(opened.client.of('editCell')[1]).toMatchObject({ taskId: 't' });
    work();
    expect(status()).toBe('The agent is changing this cell…');
  });

  it('says what came of a closed conversation that went on', async () => {
    const ended = (id: string) =>
      opened.client.receive({
        type: 'taskHistoryItemUpdated',
        taskHistoryItem: {
          id,
          number: 1,
          ts: 1,
          task: id,
          tokensIn: 0,
          tokensOut: 0,
          totalCost: 0,
          status: 'completed'
        }
      });
    await open();
    await say('twice');
    work();
    ended('t');
    expect(status()).toBe('The agent is changing this cell…');
    store.tell();
    edit('a = 2');
    wait(true);
    ended('another');
    expect(row()?.dataset.phase).toBe('failed');
    ended('t');
    expect(status()).toBe('Changed. You can keep or undo it.');
    await say('and rename it');
    expect(opened.client.of('editCell')[1]).toMatchObject({ taskId: 't' });
  });

  it('follows its conversation into a subtask and back', async () => {
    const subtask = { taskId: 'child', rootTaskId: 't' } as const;
    const { id } = opened.panel.content.widgets[0].model;
    await open();
    await say('twice');
    work();
    store.tell({ ...subtask, status: 'running' });
    expect(status()).toBe('The agent is changing this cell…');
    opened.client.receive({
      type: 'cellEditPreview',
      taskId: 'child',
      path: opened.path,
      cellEdits: [{ op: 'edit', cellId: id, diff: '+a = 2' }]
    });
    expect(row()?.textContent).toContain('+a = 2');
    store.tell(
      { taskId: 't', status: 'none' },
      { ...subtask, status: 'interactive', needsYou: true }
    );
    expect(status()).toBe(
      'The agent needs your answer. Show the conversation.'
    );
    await click('show');
    expect(executed.at(-1)).toEqual([
      CommandIDs.showConversation,
      { taskId: 'child' }
    ]);
    store.tell({ ...subtask, status: 'idle', failed: true });
    expect(status()).toBe('The agent was stopped by an error.');
    await say('try again');
    expect(opened.client.of('editCell')[1]).toMatchObject({ taskId: 't' });
    work();
    finish();
    expect(status()).toBe('The agent did not change this cell.');
  });

  it('stops what is only about to begin', async () => {
    await open();
    field().value = 'twice';
    press('Enter');
    await click('stop');
    await opened.settle();
    expect(opened.client.of('cancelTask')).toHaveLength(1);
  });

  it('goes when the person has decided', async () => {
    await change();
    wait(false);
    expect(row()).toBeNull();
  });

  it('goes when the person has decided before the agent is done', async () => {
    await open();
    await say('twice');
    work();
    edit('a = 2');
    wait(true);
    wait(false);
    expect(row()).not.toBeNull();
    finish();
    expect(row()).toBeNull();
  });

  it.each([
    [{ status: 'idle' }, 'The agent did not change this cell.', 'send'],
    [
      { status: 'interactive', needsYou: true },
      'The agent needs your answer. Show the conversation.',
      'stop'
    ],
    [
      { status: 'idle', failed: true },
      'The agent was stopped by an error.',
      'send'
    ],
    [{ status: 'resumable' }, 'The agent was stopped.', 'send']
  ] as const)('says of %j: %s', async (task, text, action) => {
    await open();
    await say('twice');
    work();
    store.tell({ taskId: 't', ...task });
    expect(status()).toBe(text);
    expect(shown()).toEqual([action, 'show', 'close']);
    await click('show');
    expect(executed).toEqual([
      [CommandIDs.open, {}],
      [CommandIDs.showConversation, { taskId: 't' }]
    ]);
  });

  it('says why nothing was begun, and keeps what was written', async () => {
    opened.client.refusal = new Error('no');
    await open();
    await say('twice');
    expect(row()?.dataset.phase).toBe('failed');
    expect(status()).not.toBe('');
    expect(field().value).toBe('twice');
    expect(field().readOnly).toBe(false);
  });

  it('says that a change can be undone as soon as that is known', async () => {
    await open();
    await say('twice as much');
    work();
    edit('a = 2');
    finish();
    expect(status()).toBe('Changed.');
    wait(true);
    expect(status()).toBe('Changed. You can keep or undo it.');
  });

  it('stops the agent', async () => {
    await open();
    await say('twice');
    work();
    await click('stop');
    expect(opened.client.of('cancelTask')).toEqual([
      { type: 'cancelTask', taskId: 't' }
    ]);
  });

  it('is one field in a cell, and closes with Escape', async () => {
    await open();
    field().value = 'half a sen';
    await open();
    expect(opened.panel.node.querySelectorAll('textarea')).toHaveLength(1);
    expect(field().value).toBe('half a sen');
    press('Escape');
    expect(row()).toBeNull();
    await open();
    expect(field().value).toBe('');
  });

  it('goes with its cell', async () => {
    await open();
    opened.fill(['other']);
    await opened.settle();
    expect(row()).toBeNull();
    prompts.dispose();
  });
});

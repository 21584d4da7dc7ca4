import { Notification } from '@jupyterlab/apputils';

import type {
  ExtensionState,
  HistoryItem,
  OpenTask
} from '../../generated/wire';
import {
  ask,
  settings,
  toolAsk,
  updated,
  waiting
} from '../asks/__tests__/openedask';
import { WrittenPanel } from '../composer/__tests__/openedcomposer';
import { anItem, anOpenTask } from '../header/__tests__/conversations';
import { RestServer } from '../history/__tests__/restserver';
import { notifyAsks } from '../notify/asknotifications';
import { addQuestionCommand } from '../statusbar/question';
import { PageLayout } from './pagelayout';

const AGENT = 'Claude Code';
const CELLS = { path: 'data/analysis.ipynb', kernelId: null };

describe('a conversation of another agent', () => {
  let page: WrittenPanel;
  let rest: RestServer;

  beforeEach(() => {
    rest = new RestServer();
    rest.answers.set('GET mcp/server', () => ({
      agents: [
        { key: 'other', name: AGENT, taskId: 'o' },
        { key: 'k', name: AGENT, taskId: 't' }
      ]
    }));
    rest.answers.set('PATCH mcp/server/agents/k', () => ({}));
    page = new WrittenPanel({ layout: new PageLayout({ box: 600 }) });
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
    Notification.dismiss();
  });

  const item = (change: Partial<HistoryItem> = {}) =>
    anItem({
      id: 't',
      task: 'analysis.ipynb',
      externalAgent: AGENT,
      notebook: CELLS,
      ...change
    });
  const state = (
    messages: Parameters<typeof waiting>[0] = [],
    change: ExtensionState = {}
  ) =>
    waiting([{ ts: 1, type: 'say', say: 'text', text: AGENT }, ...messages], {
      canStartTasks: true,
      currentTaskItem: item(),
      ...change
    });
  const begin = (...now: Parameters<typeof state>) => page.begin(state(...now));
  const become = (...now: Parameters<typeof state>) =>
    page.publish({ type: 'state', state: state(...now) });
  const bound = () => page.find('.jp-hdspAgent-task-notebook')?.textContent;
  const working = { currentTaskStatus: 'running' } as const;

  it('should be headed by who works on what', () => {
    begin([], working);
    expect(bound()).toBe('Claude Code is working on analysis.ipynb');
    become([], { currentTaskStatus: 'interactive' });
    expect(bound()).toBe('Claude Code is waiting for you in analysis.ipynb');
    become([], { currentTaskStatus: 'idle' });
    expect(bound()).toBe('Claude Code is connected to analysis.ipynb');
    become([], { currentTaskStatus: 'resumable' });
    expect(bound()).toBe('Claude Code worked on analysis.ipynb');
    // Neither its mode nor what it reads is known here.
    expect(page.find('.jp-hdspAgent-task-mode')).toBeNull();
    expect(page.find('.jp-hdspAgent-context-bar')).toBeNull();
  });

  it('should be headed by who it is where there is no notebook', () => {
    begin([], { ...working, currentTaskItem: item({ notebook: undefined }) });
    expect(page.find('.jp-hdspAgent-task-agent')?.textContent).toBe(
      'Claude Code is working'
    );
  });

  it('should begin with its coming, and not with a request', async () => {
    begin([], working);
    await page.settle();
    const [first] = page.findAll('article');
    expect(first.textContent).toBe('Claude Code connected.');
    expect(first.getAttribute('aria-label')).toBe('Note');
  });

  it('should need no model of ours, and have none to choose', () => {
    begin([], working);
    expect(page.find('.jp-hdspAgent-composer [data-level]')).toBeNull();
    expect(page.findAll('.jp-hdspAgent-picker')).toEqual([]);
    expect(page.field.placeholder).toBe(
      'Tell Claude Code (it reads this after its next step)'
    );
  });

  it('should hand over what one writes, whatever is being asked', async () => {
    begin([toolAsk(2, { tool: 'runCells', path: CELLS.path })]);
    page.type('Use polars.');
    await page.settle(() => {
      page.press('Enter');
    });
    expect(page.sent('queueMessage')).toMatchObject([
      { taskId: 't', text: 'Use polars.' }
    ]);
    expect(page.sent('askResponse')).toEqual([]);
    become([], {
      messageQueue: [{ id: 'q', timestamp: 5, text: 'Use polars.' }]
    });
    expect(page.find('.jp-hdspAgent-queue-title')?.textContent).toBe(
      '1 message waits for the next step of Claude Code'
    );
  });

  it('should send nothing to who has left, and keep it', () => {
    begin([], { currentTaskStatus: 'resumable' });
    page.type('Are you there?');
    page.act(() => {
      page.press('Enter');
    });
    expect(page.sent('queueMessage')).toEqual([]);
    expect(page.field.value).toBe('Are you there?');
    expect(page.find('.jp-hdspAgent-composer')?.textContent).toContain(
      'Claude Code is no longer connected.'
    );
  });

  it('should ask as our agent does, in its name', () => {
    begin([ask(2, 'command', 'ls')]);
    const bar = page.find('.jp-hdspAgent-ask');
    expect(bar?.getAttribute('aria-label')).toBe(
      'Claude Code is waiting for you'
    );
    expect(bar?.textContent).toContain('Run this command?');
    page.act(() => page.button('Deny').click());
    expect(page.sent('askResponse')).toMatchObject([
      { taskId: 't', messageTs: 2, askResponse: 'noButtonClicked' }
    ]);
  });

  it('should be stopped, and continued by nobody but itself', () => {
    begin([], working);
    expect(page.button('Stop').title).toBe('Stop Claude Code');
    page.act(() => page.button('Stop').click());
    expect(page.sent('cancelTask')).toMatchObject([{ taskId: 't' }]);
    become([ask(9, 'resume_task')], { currentTaskStatus: 'resumable' });
    expect(page.find('.jp-hdspAgent-ask')?.textContent).not.toContain(
      'Continue'
    );
  });

  it('should do unasked what one lets programs of its name do, and nothing else', async () => {
    const ours = settings({
      autoApprovalEnabled: true,
      alwaysAllowWrite: true,
      alwaysAllowReadOnly: true
    });
    const menu = () => page.find('.jp-hdspAgent-approvals')?.textContent;
    begin([], { ...working, settings: { ...ours, clientApprovals: {} } });
    expect(menu()).toBe('Ask');
    become([], {
      ...working,
      settings: { ...ours, clientApprovals: { [AGENT]: 'edit' } }
    });
    expect(menu()).toBe('Edit freely');
    await page.settle(() => page.button('Edit freely (approvals)').click());
    await page.settle();
    const body = () => page.find('.jp-hdspAgent-approvals-body');
    expect(body()?.textContent).toContain(
      'What may Claude Code do without asking?'
    );
    expect(
      [...(body()?.querySelectorAll('option') ?? [])].map(
        ({ textContent }) => textContent
      )
    ).toEqual(['This conversation', 'All conversations of Claude Code']);
    const [askFirst] = body()?.querySelectorAll('input') ?? [];
    await page.settle(() => askFirst.click());
    expect(page.sent('setTaskApprovals')).toMatchObject([
      { taskId: 't', approvalPreset: 'ask' }
    ]);
    await page.settle(() => page.answer('setTaskApprovals'));
    await page.settle(() => page.button('Use my default').click());
    await page.settle();
    expect(rest.of('PATCH mcp/server/agents/k')).toMatchObject([
      { body: { approvals: 'ask' } }
    ]);
    expect(page.sent('updateSettings')).toEqual([]);
  });

  it('should ask before it takes work back, whatever is allowed', () => {
    begin([
      toolAsk(2, {
        tool: 'restoreCheckpoint',
        description: 'before edit_cells',
        reason: 'abc1234',
        content: '~ analysis.ipynb'
      })
    ]);
    const bar = page.find('.jp-hdspAgent-ask');
    expect(bar?.textContent).toMatch(/^Restore the checkpoint “.+”\?/);
    expect(bar?.textContent).not.toContain('edit_cells');
    expect(
      [...(bar?.querySelectorAll('button') ?? [])].map(
        ({ textContent }) => textContent
      )
    ).toEqual(['Restore', 'Deny']);
  });

  it('should name it where one is told that it asks', () => {
    const watch = notifyAsks(page.panel.services, page.panel);
    const commands = addQuestionCommand(page.panel.services);
    const told = () =>
      Notification.manager.notifications.map(({ message }) => message);
    page.act(() => page.panel.hide());
    begin([ask(2, 'command', 'ls')]);
    expect(told()).toEqual(['Claude Code asks: Run this command?']);
    page.publish(updated(ask(2, 'command', 'ls', { isAnswered: true })));
    expect(told()).toEqual([]);
    const other: OpenTask = anOpenTask('o', 'b.ipynb', {
      needsYou: true,
      status: 'interactive',
      externalAgent: 'Codex'
    });
    page.publish({ type: 'openTasksUpdated', openTasks: [other] });
    expect(told()).toEqual(['Codex is waiting for your answer.']);
    commands.dispose();
    watch.dispose();
  });
});

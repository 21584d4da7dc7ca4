import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import type { ClineMessage, OpenTask } from '../../../generated/wire';
import { CommandIDs } from '../../../ui/commandids';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { addQuestionCommand } from '../question';
import { AgentStatusItem } from '../statusitem';

const ASK: ClineMessage = {
  ts: 2,
  type: 'ask',
  ask: 'command',
  text: 'ls'
};

function open(taskId: string, needsYou: boolean): OpenTask {
  return {
    taskId,
    title: taskId,
    status: needsYou ? 'interactive' : 'none',
    needsYou
  };
}

const TASK: ClineMessage = { ts: 1, type: 'say', say: 'text', text: 'List' };

describe('the agent in the status bar', () => {
  let page: OpenedPanel;
  let item: AgentStatusItem;
  let opened: number;

  beforeEach(() => {
    page = new OpenedPanel();
    opened = 0;
    page.commands.addCommand(CommandIDs.open, {
      execute: () => void opened++
    });
    addQuestionCommand(page.panel.services);
    item = new AgentStatusItem(page.panel.services);
    page.act(() => {
      Widget.attach(item, document.body);
      MessageLoop.flush();
    });
  });

  afterEach(() => {
    page.act(() => item.dispose());
    page.dispose();
  });

  const button = () => item.node.querySelector('button') as HTMLButtonElement;

  it('should say that there is no connection, and that it rests', async () => {
    expect(button().textContent).toBe('Not connected');
    page.begin({});
    await page.settle();
    expect(button().textContent).toBe('Idle');
    await page.settle(() => button().click());
    expect(opened).toBe(1);
  });

  it('should say that it works, with the tokens of the conversation', async () => {
    page.begin({
      currentTaskId: 't',
      currentTaskStatus: 'running',
      clineMessages: [TASK],
      tokenUsage: {
        totalTokensIn: 10,
        totalTokensOut: 5,
        totalCost: 0,
        contextTokens: 12_300
      }
    });
    await page.settle();
    expect(button().textContent).toBe('Working12.3K tokens');
    expect(button().getAttribute('aria-label')).toBe(
      'Agent: Working. This conversation uses 12,300 tokens.'
    );
  });

  it('should say that it waits, and lead to the question', async () => {
    page.begin({
      currentTaskId: 't',
      currentTaskStatus: 'interactive',
      clineMessages: [TASK, ASK]
    });
    await page.settle();
    expect(button().textContent).toBe('Waiting for you');
    page.panel.services.state.page = 'history';
    await page.settle(() => button().click());
    await page.settle();
    expect(opened).toBe(1);
    expect(page.panel.services.state.page).toBe('chat');
    await page.settle();
    expect((document.activeElement as HTMLElement).dataset.ts).toBe('2');
    page.publish({
      type: 'messageUpdated',
      taskId: 't',
      clineMessage: { ...ASK, isAnswered: true }
    });
    await page.settle();
    expect(button().textContent).not.toBe('Waiting for you');
    expect(page.commands.isEnabled(CommandIDs.goToQuestion)).toBe(false);
  });

  it('should lead to another conversation that waits', async () => {
    page.begin({
      currentTaskId: 't',
      currentTaskStatus: 'none',
      clineMessages: [TASK],
      openTasks: [open('t', false), open('other', true)]
    });
    await page.settle();
    expect(button().dataset.phase).toBe('waiting');
    await page.settle(() => button().click());
    expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'other' }]);
  });
});

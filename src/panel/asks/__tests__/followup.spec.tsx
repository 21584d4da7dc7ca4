import type { ExtensionMessage } from '../../../generated/wire';
import { OpenedPanel } from '../../__tests__/openedpanel';
import { ask, waiting } from './openedask';

const QUESTION = {
  question: 'Which one?',
  suggest: [{ answer: 'The first' }, { answer: 'Plan it', mode: 'architect' }]
};

describe('FollowUp', () => {
  let page: OpenedPanel;

  beforeEach(() => {
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
  });

  const countdown = () =>
    page.find('.jp-hdspAgent-ask-countdown')?.textContent ?? null;
  const suggestions = () => page.findAll('.jp-hdspAgent-ask-suggestion');

  /** What the task does, with a question answered by itself after so long. */
  const progress = (left: number | null, at = 1_000): ExtensionMessage => ({
    type: 'taskProgress',
    taskId: 't',
    status: 'interactive',
    todos: [],
    messageQueue: [],
    tokenUsage: {
      totalTokensIn: 0,
      totalTokensOut: 0,
      totalCost: 0,
      contextTokens: 0
    },
    ...(left !== null && { autoAnswer: { at, left } })
  });

  it('should send a suggested answer, and leave what is typed where it is', async () => {
    page.begin(waiting([ask(1, 'followup', QUESTION)]));
    page.act(() => page.panel.services.state.setDraft('t', { text: 'hm' }));
    expect(page.findAll('.jp-hdspAgent-ask-note')).toEqual([]);
    expect(page.find('.jp-hdspAgent-ask-suggestion-text')?.dir).toBe('auto');
    page.act(() => {
      suggestions()[0]?.click();
      suggestions()[0]?.click();
    });
    expect(page.sent('askResponse')).toHaveLength(1);
    expect(page.sent('askResponse')[0]).toMatchObject({
      taskId: 't',
      messageTs: 1,
      askResponse: 'messageResponse',
      text: 'The first'
    });
    expect(page.panel.services.state.draft('t').text).toBe('hm');
    await page.settle(() => page.answer('askResponse'));
  });

  it('should be read aloud as it is asked', () => {
    page.begin(waiting([ask(1, 'followup', QUESTION)]));
    expect(page.find('.jp-hdspAgent-asks [role="status"]')?.textContent).toBe(
      'The agent asks: Which one?'
    );
  });

  it('should go on in the mode of the answer', async () => {
    page.begin(waiting([ask(1, 'followup', QUESTION)]));
    expect(suggestions()[1]?.textContent).toContain('in the mode Plan');
    page.act(() => suggestions()[1]?.click());
    expect(page.sent('mode')[0]).toMatchObject({
      taskId: 't',
      text: 'architect'
    });
    expect(page.sent('askResponse')).toEqual([]);
    await page.settle(() => page.answer('mode'));
    expect(page.sent('askResponse')[0]).toMatchObject({ text: 'Plan it' });
  });

  it('should put an answer into the field to be edited', () => {
    page.begin(waiting([ask(1, 'followup', QUESTION)]));
    page.act(() =>
      page.button('Edit this answer before it is sent: The first').click()
    );
    expect(page.panel.services.state.draft('t').text).toBe('The first');
    expect(page.sent('askResponse')).toEqual([]);
  });

  it('should put an answer into the field of the composer, not into another', () => {
    page.begin({
      canStartTasks: true,
      ...waiting([ask(1, 'followup', QUESTION)]),
      messageQueue: [{ id: 'q1', timestamp: 1, text: 'later' }]
    });
    page.act(() => page.button('Edit the queued message').click());
    page.act(() =>
      page.button('Edit this answer before it is sent: The first').click()
    );
    expect(document.activeElement).toBe(
      page.find('.jp-hdspAgent-composer-field')
    );
  });

  it('should count down to the automatic answer, and stop when one wants it', async () => {
    page.begin(waiting([ask(1, 'followup', QUESTION)]));
    expect(countdown()).toBeNull();
    page.publish(progress(60_000));
    expect(countdown()).toContain('in 60 seconds.');
    page.wait(10_000);
    expect(countdown()).toContain('in 50 seconds.');
    page.act(() => page.button("I'll answer").click());
    expect(page.sent('cancelAutoApproval')[0]).toMatchObject({ taskId: 't' });
    page.publish(progress(null));
    await page.settle(() => page.answer('cancelAutoApproval'));
    expect(countdown()).toBeNull();
  });

  it('should not answer for who has begun to write', () => {
    page.begin(waiting([ask(1, 'followup', QUESTION)]));
    page.publish(progress(60_000));
    page.act(() => page.panel.services.state.setDraft('t', { text: 'I' }));
    page.act(() => page.panel.services.state.setDraft('t', { text: 'I t' }));
    expect(page.sent('cancelAutoApproval')).toHaveLength(1);
  });

  it('should go on counting after a reload, whatever the clock of the server says', () => {
    page.begin(
      waiting([ask(1, 'followup', QUESTION)], {
        autoAnswer: { at: Date.now() + 3_600_000, left: 15_000 }
      })
    );
    expect(countdown()).toContain('in 15 seconds.');
  });

  it('should not begin anew when it is told of the same moment again', () => {
    page.begin(waiting([ask(1, 'followup', QUESTION)]));
    page.publish(progress(60_000));
    page.wait(20_000);
    // On its way for long: what is left is not true any more.
    page.publish(progress(55_000));
    expect(countdown()).toContain('in 40 seconds.');
    page.publish(progress(30_000, 2_000));
    expect(countdown()).toContain('in 30 seconds.');
  });

  it('should stop where somebody stopped it in another tab', () => {
    page.begin(waiting([ask(1, 'followup', QUESTION)]));
    page.publish(progress(60_000));
    page.publish(progress(null));
    expect(suggestions()).toHaveLength(2);
    expect(countdown()).toBeNull();
  });
});

import * as React from 'react';

import * as TaskHeaderModule from '../../panel/header/taskheader';
import { USER } from '../../panel/chat/rows/__tests__/shownrows';
import * as AnswerModule from '../../panel/chat/rows/answerrow';
import { OpenedPanel } from '../../panel/__tests__/openedpanel';

jest.mock('../../panel/header/taskheader', () => ({
  TaskHeader: jest.fn(() => null)
}));
jest.mock('../../panel/chat/rows/answerrow', () => {
  const actual = jest.requireActual<typeof AnswerModule>(
    '../../panel/chat/rows/answerrow'
  );
  return { ...actual, AnswerRow: jest.fn(actual.AnswerRow) };
});

const WELL = 'All is well';

describe('what breaks in the panel', () => {
  let page: OpenedPanel;
  let complaints: jest.SpyInstance<void, unknown[]>;

  beforeEach(() => {
    complaints = jest.spyOn(console, 'error').mockImplementation();
    page = new OpenedPanel();
  });

  afterEach(() => {
    page.dispose();
    complaints.mockRestore();
  });

  /** The conversation with an answer, where a part cannot be drawn at first. */
  const begin = async () => {
    page.begin({
      canStartTasks: true,
      currentTaskId: 't',
      currentTaskStatus: 'interactive',
      clineMessages: [
        USER,
        { ts: 2, type: 'say', say: 'text', text: 'A broken answer' },
        { ts: 3, type: 'say', say: 'reasoning', text: 'Thoughts' }
      ]
    });
    await page.settle();
  };
  const breaks = (part: unknown) =>
    jest.mocked(part as () => never).mockImplementation(() => {
      throw new Error('It broke.');
    });
  const said = () => complaints.mock.calls.map(words => words.join(' '));

  it('should leave a row alone, which says so, shows its text and can be tried again', async () => {
    const whole = jest.mocked(AnswerModule.AnswerRow).getMockImplementation();
    breaks(AnswerModule.AnswerRow);
    await begin();
    const row = () => page.find('[data-ts="2"]')?.textContent;
    expect(row()).toContain('This message could not be displayed.');
    expect(row()).toContain('It broke.');
    expect(row()).toContain('A broken answer');
    expect(page.find('[data-ts="1"]')?.textContent).toContain('Plot it');
    expect(page.find('[data-ts="3"]')?.textContent).toContain('Thoughts');
    expect(page.find('.jp-hdspAgent-composer')).not.toBeNull();
    expect(said().join('\n')).toContain('This message could not be displayed.');
    expect(said().join('\n')).toContain('It broke.');

    jest.mocked(AnswerModule.AnswerRow).mockImplementation(whole);
    await page.settle(() => page.button('Try again').click());
    expect(row()).toContain('A broken answer');
    expect(row()).not.toContain('could not be shown');
  });

  it('should try a row again by itself once it is whole', async () => {
    const whole = jest.mocked(AnswerModule.AnswerRow).getMockImplementation();
    breaks(AnswerModule.AnswerRow);
    await begin();
    jest.mocked(AnswerModule.AnswerRow).mockImplementation(whole);
    page.publish({
      type: 'messageUpdated',
      taskId: 't',
      clineMessage: {
        ts: 2,
        type: 'say',
        say: 'text',
        text: 'A whole answer',
        partial: false
      }
    });
    await page.settle();
    expect(page.find('[data-ts="2"]')?.textContent).not.toContain(
      'could not be shown'
    );
  });

  it('should leave a room alone, and the others as they are', async () => {
    breaks(TaskHeaderModule.TaskHeader);
    await begin();
    expect(page.node.textContent).toContain(
      'The conversation header could not be displayed.'
    );
    expect(page.find('[data-ts="2"]')?.textContent).toContain('broken answer');
    expect(page.find('.jp-hdspAgent-composer')).not.toBeNull();

    jest
      .mocked(TaskHeaderModule.TaskHeader)
      .mockImplementation(() => <p>{WELL}</p>);
    await page.settle(() => page.button('Try again').click());
    expect(page.node.textContent).toContain(WELL);
  });
});

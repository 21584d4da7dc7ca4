import type { ClineMessage } from '../../../../generated/wire';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows } from './shownrows';

describe('rows of questions', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  it('should show what was offered, and what was taken', async () => {
    await rows.show(
      {
        type: 'ask',
        ask: 'followup',
        isAnswered: true,
        text: JSON.stringify({
          question: 'Which?',
          suggest: [{ answer: 'This' }, { answer: 'That' }]
        })
      },
      { ts: 3, say: 'user_feedback', text: 'That' }
    );
    expect(rows.row(2).textContent).toContain('Which?');
    expect(rows.row(2).textContent).toContain('Chosen: That');
    expect(rows.row(2).textContent).not.toContain('Chosen: This');
  });

  it('should show no pieces of JSON while they stream', async () => {
    await rows.show({
      type: 'ask',
      ask: 'followup',
      partial: true,
      text: '{"question": "Whi'
    });
    expect(rows.row(2).textContent).not.toContain('{');
  });

  it.each([
    [
      'mistake_limit_reached',
      { text: 'Error upon error.', halt: { kind: 'mistakes' } },
      'The model keeps making mistakes.'
    ],
    [
      'mistake_limit_reached',
      { text: 'Once more.', halt: { kind: 'repetition', tool: 'read_file' } },
      'The model keeps calling “read_file” in the same way.'
    ],
    [
      'mistake_limit_reached',
      { text: 'What an older server said.' },
      'What an older server said.'
    ],
    [
      'auto_approval_max_req_reached',
      { text: '{"count": "5.00", "type": "cost"}' },
      'The agent reached your cost limit ($5.00).'
    ]
  ] as const)(
    'should say once why it stopped: %s %j',
    async (ask, why, said) => {
      const message: ClineMessage = { ts: 2, type: 'ask', ask, ...why };
      await rows.show(message);
      const shown = () =>
        page
          .findAll('p')
          .filter(({ textContent }) => textContent?.includes(said)).length;
      expect(shown()).toBe(1);
      expect(rows.row(2).textContent).not.toContain(said);
      await rows.update({ ...message, isAnswered: true });
      expect(shown()).toBe(1);
      expect(rows.row(2).textContent).toContain(said);
    }
  );
});

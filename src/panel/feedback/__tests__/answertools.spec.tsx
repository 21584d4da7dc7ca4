import type {
  ClineMessage,
  ConversationPreview
} from '../../../generated/wire';
import type { OpenedPanel } from '../../__tests__/openedpanel';
import { ShownRows } from '../../chat/rows/__tests__/shownrows';
import { RestServer } from '../../history/__tests__/restserver';

const ANSWER: ClineMessage = {
  ts: 2,
  type: 'say',
  say: 'text',
  text: 'Use **polars**.'
};

const HARMLESS: ConversationPreview = {
  operation: 'retry',
  removed: 1,
  restored: 0,
  toolCalls: 0,
  effects: [],
  moreEffects: 0,
  canBeUndone: true,
  goneOn: false,
  stopsTask: false
};

describe('the tools of an answer', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    document.querySelectorAll('.jp-Dialog').forEach(node => node.remove());
    page.dispose();
  });

  const field = () =>
    page.find('.jp-hdspAgent-feedback input') as HTMLInputElement;

  function write(text: string): Promise<void> {
    return page.settle(() => {
      Object.getOwnPropertyDescriptor(
        HTMLInputElement.prototype,
        'value'
      )?.set?.call(field(), text);
      field().dispatchEvent(new Event('input', { bubbles: true }));
    });
  }

  async function preview(change: Partial<ConversationPreview>): Promise<void> {
    await rows.click('Try again');
    const { requestId } = page.sent('previewConversation')[0];
    page.publish({
      type: 'conversationPreview',
      requestId: String(requestId),
      taskId: 't',
      preview: { ...HARMLESS, ...change }
    });
    await page.settle(() => page.answer('previewConversation'));
    await page.settle();
  }

  it('should tell where the numbers of the answer stand', async () => {
    const rest = new RestServer();
    rest.answers.set('GET tasks/t/numbers', () => ({
      path: 'a.ipynb',
      numbers: [
        { text: '12.3', place: 'output', cellId: 'c', cell: 2 },
        { text: '99 %', place: 'person' },
        { text: '4,711' }
      ],
      unstated: ['500', '0.05']
    }));
    await rows.show({ ...ANSWER, text: 'It is 12.3, and 4,711.' });
    const numbers = () => page.find('.jp-hdspAgent-numbers');
    await rows.click('Check the numbers');
    expect(rest.of('GET tasks/t/numbers')[0].query).toEqual({ ts: '2' });
    expect(numbers()?.querySelector('p')?.textContent).toBe(
      '1 of 3 numbers stand in the outputs of a.ipynb, as it is now.'
    );
    expect(
      [...(numbers()?.querySelectorAll('li') ?? [])].map(
        ({ textContent }) => textContent
      )
    ).toEqual([
      '12.3 Output of cell 2',
      '99 % Only in your messages',
      '4,711 Not found'
    ]);
    expect(numbers()?.lastElementChild?.textContent).toBe(
      'Not found, but probably no results: 500, 0.05'
    );
    await rows.click('Check the numbers');
    expect(numbers()).toBeNull();
    rest.dispose();
  });

  it('should offer nothing to check where there is no number', async () => {
    await rows.show(ANSWER);
    expect(
      page
        .findAll('[aria-label="Answer actions"] button')
        .map(button => button.getAttribute('aria-label'))
    ).not.toContain('Check the numbers');
  });

  it('should be there once the answer is whole', async () => {
    await rows.show({ ...ANSWER, partial: true });
    expect(rows.row(2).querySelector('[aria-label="Try again"]')).toBeNull();
    await rows.update({ ...ANSWER, partial: false });
    const names = [
      ...rows.row(2).querySelectorAll('[aria-label="Answer actions"] button')
    ].map(button => button.getAttribute('aria-label'));
    expect(names).toEqual([
      'Copy as Markdown',
      'Try again',
      'Good answer',
      'Bad answer'
    ]);
  });

  describe('trying again', () => {
    it('should ask nobody where nothing was done', async () => {
      await rows.show(ANSWER);
      await preview({});
      expect(page.sent('previewConversation')).toMatchObject([
        { change: { operation: 'retry', messageTs: 2 } }
      ]);
      expect(page.sent('retryAnswer')).toMatchObject([
        { taskId: 't', messageTs: 2 }
      ]);
      expect(page.sent('retryAnswer')[0]).not.toHaveProperty('restoreFiles');
      expect(document.querySelector('.jp-Dialog')).toBeNull();
    });

    it('should ask first where files or cells would be left behind', async () => {
      await rows.show(ANSWER);
      await preview({
        toolCalls: 1,
        effects: [{ kind: 'cell', name: 'a.ipynb', count: 1 }]
      });
      await page.settle();
      expect(page.sent('retryAnswer')).toEqual([]);
      expect(document.querySelector('.jp-Dialog')?.textContent).toContain(
        'Discard this answer and try again?'
      );
    });

    it('should say why it cannot be', async () => {
      await rows.show(ANSWER);
      await rows.click('Try again');
      await page.settle(() =>
        page.answer('previewConversation', {
          code: 'invalid_input',
          message: 'Only an answer from the model can be tried again.'
        })
      );
      expect(rows.row(2).querySelector('[role="alert"]')?.textContent).not.toBe(
        ''
      );
    });
  });

  describe('rating', () => {
    const pressed = (name: string) =>
      page.button(name).getAttribute('aria-pressed');

    it('should take one click, and another to take it back', async () => {
      await rows.show(ANSWER);
      await rows.click('Good answer');
      expect(page.sent('rateMessage')).toMatchObject([
        { taskId: 't', messageTs: 2, rating: 'up' }
      ]);
      await page.settle(() => page.answer('rateMessage'));
      expect(field()).toBeNull();
      await rows.update({ ...ANSWER, feedback: { rating: 'up' } });
      expect([pressed('Good answer'), pressed('Bad answer')]).toEqual([
        'true',
        'false'
      ]);
      await rows.click('Good answer');
      expect(page.sent('rateMessage')[1]).not.toHaveProperty('rating');
    });

    it('should ask for a reason of a bad one, which may be left out', async () => {
      await rows.show(ANSWER);
      await rows.click('Bad answer');
      expect(page.sent('rateMessage')).toMatchObject([{ rating: 'down' }]);
      await page.settle(() => page.answer('rateMessage'));
      expect(document.activeElement).toBe(field());
      await page.settle(() =>
        field().dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
        )
      );
      expect(field()).toBeNull();
      expect(document.activeElement).toBe(page.button('Bad answer'));
      expect(page.sent('rateMessage')).toHaveLength(1);
    });

    it('should keep the reason', async () => {
      await rows.show(ANSWER);
      await rows.click('Bad answer');
      await page.settle(() => page.answer('rateMessage'));
      await rows.update({ ...ANSWER, feedback: { rating: 'down' } });
      await write(' It ignored the units. ');
      await page.settle(() => field().form?.requestSubmit());
      expect(page.sent('rateMessage')[1]).toMatchObject({
        rating: 'down',
        reason: 'It ignored the units.'
      });
      await page.settle(() => page.answer('rateMessage'));
      expect(field()).toBeNull();
    });

    it('should not ask for a reason where the rating was refused', async () => {
      await rows.show(ANSWER);
      await rows.click('Bad answer');
      await page.settle(() =>
        page.answer('rateMessage', { code: 'conflict', message: 'Busy' })
      );
      expect(field()).toBeNull();
      expect(rows.row(2).querySelector('[role="alert"]')).not.toBeNull();
    });
  });
});

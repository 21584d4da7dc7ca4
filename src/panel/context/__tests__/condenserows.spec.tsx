import { Dialog } from '@jupyterlab/apputils';

import { ShownRows } from '../../chat/rows/__tests__/shownrows';
import type { OpenedPanel } from '../../__tests__/openedpanel';
import type {
  ContextCondense,
  ContextTruncation
} from '../../../generated/wire';

const CONDENSED: ContextCondense = {
  cost: 0.02,
  prevContextTokens: 150_000,
  newContextTokens: 9_000,
  summary: 'We **plot**.',
  kept: [
    { kind: 'messages', count: 1, items: ['Plot the parts'] },
    { kind: 'constraints', count: 2, items: ['Never change a file.'] },
    { kind: 'files', count: 3, items: ['a.csv', 'b.csv', 'c.csv'] }
  ],
  dropped: { messages: 40, outputs: 12, tokens: 141_500 },
  model: 'small-1',
  way: 'local',
  markId: 'mark'
};
const HIDDEN: ContextTruncation = {
  truncationId: 'x',
  messagesRemoved: 8,
  prevContextTokens: 20_000,
  newContextTokens: 8_000,
  markId: 'later'
};

describe('rows of what the model does not see any more', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    Dialog.flush();
    page.dispose();
    document.body.innerHTML = '';
  });

  const text = (ts: number) => rows.row(ts).textContent;
  const undo = () => page.button('Undo');
  const dialog = () => document.querySelector('.jp-Dialog');

  it('should say what was kept and dropped, and who wrote the summary', async () => {
    await rows.show({ say: 'condense_context', contextCondense: CONDENSED });
    expect(text(2)).toContain('150K → 9K tokens');
    await rows.click('What was kept, and what was dropped');
    expect(text(2)).toContain('1 of your messages, unchanged');
    expect(text(2)).toContain('Plot the parts');
    expect(text(2)).toContain('2 constraints');
    expect(text(2)).toContain('and 1 more');
    expect(text(2)).toContain('3 file names');
    expect(text(2)).toContain('in place of 40 messages');
    expect(text(2)).toContain('They include 12 tool outputs.');
    expect(text(2)).toContain('141,500 tokens');
    expect(text(2)).toContain('The summary is written by small-1.');
  });

  it('should say that the provider condensed it', async () => {
    await rows.show({
      say: 'condense_context',
      contextCondense: { ...CONDENSED, way: 'remote' }
    });
    await rows.click('What was kept, and what was dropped');
    expect(text(2)).toContain(
      'The provider of small-1 condensed it automatically.'
    );
  });

  it('should show one of an older version, or of another program, as it can', async () => {
    const { cost, prevContextTokens, newContextTokens, summary } = CONDENSED;
    await rows.show({
      say: 'condense_context',
      contextCondense: { cost, prevContextTokens, newContextTokens, summary }
    });
    expect(() => page.button('What was kept, and what was dropped')).toThrow();
    expect(text(2)).toContain('150K → 9K tokens');
  });

  async function preview(change: { stopsTask?: boolean } = {}): Promise<void> {
    const { requestId = '' } = page.sent('previewConversation').at(-1) ?? {};
    await page.settle(() => {
      page.publish({
        type: 'conversationPreview',
        requestId: String(requestId),
        taskId: 't',
        preview: {
          operation: 'undo',
          removed: 0,
          restored: 0,
          toolCalls: 0,
          effects: [],
          moreEffects: 0,
          canBeUndone: false,
          goneOn: false,
          stopsTask: false,
          ...change
        }
      });
      page.answer('previewConversation');
    });
  }

  it('should be undone once the person has seen what that costs', async () => {
    await rows.show({ say: 'condense_context', contextCondense: CONDENSED });
    await rows.click('What was kept, and what was dropped');
    await page.settle(() => undo().click());
    await preview({ stopsTask: true });
    expect(dialog()?.textContent).toContain('about 141,000 tokens longer');
    expect(dialog()?.textContent).toContain('It will be stopped first.');
    expect(page.sent('undoConversation')).toEqual([]);
    await page.settle(() =>
      dialog()?.querySelector<HTMLElement>('.jp-mod-warn')?.click()
    );
    await page.settle();
    expect(page.sent('undoConversation')).toMatchObject([
      { taskId: 't', markId: 'mark' }
    ]);
  });

  it('should say that it is condensed again when that is too much', async () => {
    await rows.show({ say: 'condense_context', contextCondense: CONDENSED });
    page.publish({
      type: 'taskProgress',
      taskId: 't',
      status: 'interactive',
      todos: [],
      messageQueue: [],
      tokenUsage: {
        totalTokensIn: 1,
        totalTokensOut: 1,
        totalCost: 0,
        contextTokens: 9_000
      },
      modelRoom: { contextWindow: 200_000, condenseAt: 150_000 }
    });
    await rows.click('What was kept, and what was dropped');
    await page.settle(() => undo().click());
    await preview();
    expect(dialog()?.textContent).toContain('condensed again');
    expect(dialog()?.textContent).not.toContain('It will be stopped first.');
  });

  it('should offer to undo only the newest, on which the others do not depend', async () => {
    await rows.show(
      { say: 'condense_context', contextCondense: CONDENSED },
      { ts: 3, say: 'sliding_window_truncation', contextTruncation: HIDDEN }
    );
    await rows.click('What was kept, and what was dropped');
    const buttons = page.node.querySelectorAll('.jp-hdspAgent-account-undo');
    expect(buttons).toHaveLength(1);
    expect(rows.row(3).contains(buttons[0])).toBe(true);
    expect(text(3)).toContain('8 older messages');
    expect(text(3)).toContain('−12K tokens');
  });

  it('should say that the newest step was taken back', async () => {
    await rows.show({
      say: 'sliding_window_truncation',
      contextTruncation: { ...HIDDEN, end: 'newest', messagesRemoved: 2 }
    });
    expect(text(2)).toContain('refused the newest step');
    expect(text(2)).toContain('its 2 messages');
  });

  it('should say which outputs were cleared, how much that is, and why', async () => {
    await rows.show({
      say: 'sliding_window_truncation',
      contextTruncation: {
        truncationId: 'cleared-2',
        messagesRemoved: 0,
        prevContextTokens: 60_000,
        newContextTokens: 35_000,
        cleared: {
          reason: 'old',
          outputs: 5,
          tokens: 25_000,
          tools: { run_cells: 3, read_file: 2 }
        }
      }
    });
    expect(text(2)).toContain('5 tool outputs');
    expect(text(2)).toContain('−25K tokens');
    await rows.click('Which outputs, and why');
    expect(text(2)).toContain('run_cells: 3');
    expect(text(2)).toContain('Old or duplicate outputs');
    expect(() => undo()).toThrow();
  });
});

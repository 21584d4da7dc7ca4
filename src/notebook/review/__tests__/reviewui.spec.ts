import type { OpenedNotebook } from '../../__tests__/openednotebook';
import { edit, ReviewedNotebook } from './reviewednotebook';

describe('a review in a notebook', () => {
  let page: ReviewedNotebook;
  let opened: OpenedNotebook;

  beforeEach(async () => {
    page = await ReviewedNotebook.open();
    ({ opened } = page);
  });

  afterEach(() => {
    page.close();
  });

  it('tells the task that changed the cell', async () => {
    await page.actFor('task-1', edit('cell-1', 'b = 20'));
    await page.act(edit('cell-2', 'c = 30'));
    await page.press(1, 'undo');
    await page.press(2, 'undo');
    const [first, second] = opened.client.of('cellReview');
    expect(first.taskId).toBe('task-1');
    expect(second).not.toHaveProperty('taskId');
  });

  it('says what was decided of a task that is gone, or another person’s', async () => {
    await page.actFor('gone', edit('cell-1', 'b = 20'));
    opened.client.refusal = new Error('no such task');
    await page.press(1, 'keep');
    expect(
      opened.client.of('cellReview').map(({ taskId }) => taskId ?? null)
    ).toEqual(['gone', null]);
    // It is decided, even if no server takes it up.
    expect(page.kinds(1)).toEqual([]);
  });

  it('shows what the agent did before the page had the notebook', async () => {
    opened.fill(['a = 10', 'b = 2', 'made']);
    opened.client.answers.set('openNotebooks', {
      unreviewed: {
        [opened.path]: [
          {
            cellId: 'cell-0',
            taskId: 'task-1',
            before: 'a = 1',
            after: 'a = 10'
          },
          { cellId: 'cell-1', before: 'b = 2', after: 'b = 20' },
          { cellId: 'cell-2', after: 'made' },
          {
            cellId: 'gone',
            before: 'was here',
            removed: {
              cell: { cell_type: 'code', id: 'gone', source: 'x' },
              behind: 'cell-1',
              place: 2
            }
          }
        ]
      }
    });
    opened.client.setPhase('reconnecting');
    opened.client.setPhase('open');
    await opened.settle(200);
    expect(page.deletedText(0)).toContain('a = 1');
    expect([0, 1, 2].map(place => page.kinds(place))).toEqual([
      ['edited'],
      ['deleted'],
      ['inserted']
    ]);
    await page.press(0, 'undo');
    expect(opened.sources[0]).toBe('a = 1');
    expect(opened.client.of('cellReview')[0].taskId).toBe('task-1');
    await page.press(2, 'keep');
    opened.client.setPhase('reconnecting');
    opened.client.setPhase('open');
    await opened.settle(200);
    expect(page.kinds(2)).toEqual([]);
    await page.press(1, 'undo');
    expect(opened.sources).toEqual(['a = 1', 'b = 2', 'was here', 'made']);
  });

  it('is one for several views of a notebook', async () => {
    const other = opened.addView();
    await opened.settle();
    await page.act(edit('cell-1', 'b = 20'));
    expect(page.kinds(1, other)).toEqual(['edited']);
    expect(page.deletedText(1, other)).toContain('b = 2');
    await page.press(1, 'keep');
    expect(page.kinds(1, other)).toEqual([]);
    expect(page.deletedText(1, other)).toBe('');
    expect(page.verdicts()).toHaveLength(1);
    other.dispose();
    await page.act(edit('cell-1', 'b = 30'));
    expect(page.kinds(1)).toEqual(['edited']);
  });

  it('marks the cells the agent runs and is going to run', async () => {
    await page.act(edit('cell-1', 'b = 20'));
    await page.work('running', 'cell-1');
    expect(page.node(1).dataset.hdspAgent).toBe('running');
    await page.work('queued', 'cell-0', 'cell-1');
    expect(page.node(0).dataset.hdspAgent).toBe('queued');
    await page.work('queued');
    expect(page.node(0).dataset.hdspAgent).toBeUndefined();
    expect(page.node(1).dataset.hdspAgent).toBe('changed');
  });

  it('leaves nothing behind when it is taken away', async () => {
    await page.act(
      edit('cell-0', 'a = 10'),
      { op: 'deleteCell', cellId: 'cell-1' },
      edit('cell-2', 'c = 30')
    );
    await page.work('running', 'cell-0');
    page.endReview();
    const { node } = opened.panel;
    expect(node.querySelector('[class*="hdspAgent"]')).toBeNull();
    expect(node.querySelector('[data-hdsp-agent]')).toBeNull();
    expect(node.querySelector('.cm-deletedChunk')).toBeNull();
    expect(page.commands.listCommands()).toEqual([]);
    await page.act(edit('cell-0', 'a = 11'));
    expect(page.kinds(0)).toEqual([]);
  });

  it('is forgotten with its notebook', async () => {
    await page.act(edit('cell-0', 'a = 10'));
    const complaint = jest.spyOn(console, 'error');
    opened.panel.dispose();
    opened.model.sharedModel.getCell(0).setSource('still alive');
    await page.work('running', 'cell-0');
    opened.context.dispose();
    await opened.settle();
    expect(complaint).not.toHaveBeenCalled();
    complaint.mockRestore();
  });

  it('knows what was changed before it was there', async () => {
    page.reviewAgain({
      early: [
        {
          panel: opened.panel,
          path: opened.path,
          taskId: null,
          review: true,
          changes: [{ cellId: 'cell-0', before: 'old', after: 'a = 1' }]
        }
      ]
    });
    await opened.settle(200);
    expect(page.deletedText(0)).toContain('old');
  });
});

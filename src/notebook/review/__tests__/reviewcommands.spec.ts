import { CommandIDs } from '../../../ui/commandids';
import type { OpenedNotebook } from '../../__tests__/openednotebook';
import { edit, ReviewedNotebook } from './reviewednotebook';

describe('the commands of a review', () => {
  let page: ReviewedNotebook;
  let opened: OpenedNotebook;

  beforeEach(async () => {
    page = await ReviewedNotebook.open();
    ({ opened } = page);
  });

  afterEach(() => {
    page.close();
  });

  beforeEach(async () => {
    Object.defineProperty(opened.tracker, 'currentWidget', {
      get: () => opened.panel
    });
    await page.act(edit('cell-0', 'a = 10'), edit('cell-2', 'c = 30'));
  });

  it('for the active cell', async () => {
    opened.panel.content.activeCellIndex = 1;
    expect(page.commands.isEnabled(CommandIDs.keepCell)).toBe(false);
    opened.panel.content.activeCellIndex = 0;
    expect(page.commands.isVisible(CommandIDs.keepCell)).toBe(true);
    await page.commands.execute(CommandIDs.keepCell);
    await page.commands.execute(CommandIDs.undoCell, { cellId: 'cell-2' });
    expect(opened.sources).toEqual(['a = 10', 'b = 2', 'c = 3']);
  });

  it('for the cell the context menu was opened at', async () => {
    opened.panel.content.activeCellIndex = 1;
    page.pointed = page.node(2);
    await page.commands.execute(CommandIDs.undoCell, { atPointer: true });
    expect(opened.sources).toEqual(['a = 10', 'b = 2', 'c = 3']);
  });

  it('for the part at the cursor', async () => {
    opened.panel.content.activeCellIndex = 0;
    expect(await page.commands.execute(CommandIDs.undoPart)).toBe(true);
    expect(opened.sources[0]).toBe('a = 1');
    expect(
      await page.commands.execute(CommandIDs.keepPart, { cellId: 'cell-2' })
    ).toBe(true);
    expect(page.verdicts()).toEqual([
      ['cell-0', false, 'hunk'],
      // Nothing is left of it.
      ['cell-2', true, 'whole']
    ]);
    await opened.settle();
    expect(page.commands.isEnabled(CommandIDs.keepPart)).toBe(false);
  });

  it('for the whole notebook', async () => {
    await page.commands.execute(CommandIDs.undoAll, { path: opened.path });
    expect(opened.sources).toEqual(['a = 1', 'b = 2', 'c = 3']);
    expect(page.commands.isEnabled(CommandIDs.keepAll)).toBe(false);
  });

  it('that tell how many changes wait in a notebook', async () => {
    const { path } = opened;
    const count = () => page.commands.dataset(CommandIDs.keepAll, { path });
    expect(count()).toEqual({ count: '2' });
    const told: unknown[] = [];
    page.commands.commandChanged.connect((_, { id }) => told.push(id));
    await page.commands.execute(CommandIDs.keepCell, { cellId: 'cell-2' });
    expect(count()).toEqual({ count: '1' });
    expect(told).toContain(CommandIDs.keepAll);
    expect(
      page.commands.dataset(CommandIDs.keepAll, { path: 'other.ipynb' })
    ).toEqual({ count: '0' });
  });

  it('to go from one change to the next, round the ends', async () => {
    const { content } = opened.panel;
    jest.spyOn(content, 'scrollToCell').mockResolvedValue(undefined);
    content.activeCellIndex = 0;
    await page.commands.execute(CommandIDs.nextChange);
    expect(content.activeCellIndex).toBe(2);
    await page.commands.execute(CommandIDs.nextChange);
    expect(content.activeCellIndex).toBe(0);
    await page.commands.execute(CommandIDs.previousChange);
    expect(content.activeCellIndex).toBe(2);
  });

  it('that describe their arguments', async () => {
    for (const id of page.commands.listCommands()) {
      const { args } = await page.commands.describedBy(id);
      expect(args).toMatchObject({
        properties: { path: { type: 'string' } }
      });
    }
  });
});

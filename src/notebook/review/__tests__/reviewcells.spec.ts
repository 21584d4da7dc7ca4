import { Notification } from '@jupyterlab/apputils';
import type { CodeCell, MarkdownCell } from '@jupyterlab/cells';
import { Widget } from '@lumino/widgets';

import { CommandIDs } from '../../../ui/commandids';
import type { OpenedNotebook } from '../../__tests__/openednotebook';
import { edit, ReviewedNotebook } from './reviewednotebook';

describe('the cells of a review', () => {
  let page: ReviewedNotebook;
  let opened: OpenedNotebook;

  beforeEach(async () => {
    page = await ReviewedNotebook.open();
    ({ opened } = page);
  });

  afterEach(() => {
    page.close();
  });

  it('shows the difference, and what can be done', async () => {
    await page.act(edit('cell-1', 'b = 20'));
    expect(page.kinds(1)).toEqual(['edited']);
    expect(page.deletedText(1)).toContain('b = 2');
    expect(page.kinds(0)).toEqual([]);
    expect(page.node(1).dataset.hdspAgent).toBe('changed');
    expect(
      page
        .node(1)
        .querySelector('.jp-hdspAgent-CellMark')
        ?.getAttribute('title')
    ).toBe('The agent changed this cell');
  });

  it('counts the lines that differ, also as the person types', async () => {
    await page.act(edit('cell-1', 'b = 20\nc = 3'), {
      op: 'insertCell',
      cellId: 'new',
      cellType: 'code',
      source: 'one\ntwo',
      after: 'cell-1'
    });
    expect([page.counts(1), page.counts(2)]).toEqual([['+2 −1'], ['+2 −0']]);
    expect(
      page.node(1).querySelector('.jp-hdspAgent-CellRow-count')
    ).toHaveProperty('title', '2 lines added, 1 removed');
    const row = page.node(1).querySelector('.jp-hdspAgent-CellRow');
    opened.model.sharedModel.getCell(1).setSource('b = 20\nc = 3\nmine');
    await opened.settle();
    expect(page.counts(1)).toEqual(['+3 −1']);
    expect(page.node(1).querySelector('.jp-hdspAgent-CellRow')).toBe(row);
    await page.act({ op: 'deleteCell', cellId: 'cell-0' });
    expect(page.counts(0)).toEqual(['+0 −1', '+3 −1']);
  });

  it('keeps a cell', async () => {
    await page.act(edit('cell-1', 'b = 20'));
    await page.press(1, 'keep');
    expect(page.kinds(1)).toEqual([]);
    expect(page.deletedText(1)).toBe('');
    expect(page.node(1).dataset.hdspAgent).toBeUndefined();
    expect(page.node(1).querySelector('.jp-hdspAgent-CellMark')).toBeNull();
    expect(opened.sources[1]).toBe('b = 20');
    expect(page.verdicts()).toEqual([['cell-1', true, 'whole']]);
  });

  it('takes a cell back', async () => {
    await page.act(edit('cell-1', 'b = 20'));
    await page.press(1, 'undo');
    expect(page.kinds(1)).toEqual([]);
    expect(opened.sources[1]).toBe('b = 2');
    expect(page.verdicts()).toEqual([['cell-1', false, 'whole']]);
  });

  it('says so where it does not take back what the person wrote over', async () => {
    await page.act(edit('cell-1', 'b = 20'));
    opened.model.sharedModel.getCell(1).setSource('b = 20 + mine');
    await page.press(1, 'undo');
    expect(opened.sources[1]).toBe('b = 20 + mine');
    expect(page.kinds(1)).toEqual(['edited']);
    expect(page.verdicts()).toEqual([]);
    const [said] = Notification.manager.notifications;
    expect(said.message).toContain('edited the same lines since');
    expect(said.options.autoClose).toBe(5000);
    Notification.dismiss();
  });

  it('shows the difference to what was before several edits', async () => {
    await page.act(edit('cell-1', 'b = 20'));
    await page.act(edit('cell-1', 'b = 200'));
    expect(page.deletedText(1)).toContain('b = 2');
    expect(page.deletedText(1)).not.toContain('b = 20');
    await page.act(edit('cell-1', 'b = 2'));
    expect(page.kinds(1)).toEqual([]);
    expect(page.deletedText(1)).toBe('');
  });

  it('goes along with what the person types', async () => {
    await page.act(edit('cell-1', 'b = 20'));
    const cell = opened.model.sharedModel.getCell(1);
    cell.updateSource(0, 0, '# mine\n');
    await opened.settle();
    expect(page.deletedText(1)).toContain('b = 2');
    expect(page.kinds(1)).toEqual(['edited']);
    cell.setSource('b = 2');
    await opened.settle();
    expect(page.kinds(1)).toEqual([]);
    expect(page.deletedText(1)).toBe('');
  });

  it('marks new cells, to keep or remove', async () => {
    await page.act({
      op: 'insertCell',
      cellId: 'new',
      after: 'cell-0',
      cellType: 'code',
      source: 'new'
    });
    expect(page.kinds(1)).toEqual(['inserted']);
    expect(page.deletedText(1)).toBe('');
    await page.press(1, 'undo');
    expect(opened.ids).toEqual(['cell-0', 'cell-1', 'cell-2']);
  });

  it('keeps a place for deleted cells, the first one too', async () => {
    await page.act(
      { op: 'deleteCell', cellId: 'cell-0' },
      { op: 'deleteCell', cellId: 'cell-2' }
    );
    expect(page.kinds(0)).toEqual(['deleted', 'deleted']);
    await page.press(0, 'undo');
    expect(opened.sources).toEqual(['a = 1', 'b = 2']);
    expect(page.kinds(0)).toEqual([]);
    expect(page.kinds(1)).toEqual(['deleted']);
    await page.press(1, 'keep');
    expect(page.kinds(1)).toEqual([]);
    expect(page.verdicts()).toEqual([
      ['cell-0', false, 'whole'],
      ['cell-2', true, 'whole']
    ]);
  });

  it('shows nothing where only outputs or metadata changed', async () => {
    await page.act(
      { op: 'setCellMetadata', cellId: 'cell-0', key: 'k', value: 1 },
      { op: 'clearOutputs', cellId: 'cell-1' },
      { op: 'moveCell', cellId: 'cell-2' }
    );
    expect([0, 1, 2].flatMap(place => page.kinds(place))).toEqual([]);
  });

  it('offers to show the text of a rendered Markdown cell', async () => {
    await page.act({
      op: 'changeCellType',
      cellId: 'cell-0',
      cellType: 'markdown'
    });
    const cell = () => opened.panel.content.widgets[0] as MarkdownCell;
    cell().rendered = true;
    await page.act(edit('cell-0', '# Title'));
    const show = () =>
      page.node(0).querySelector<HTMLElement>('[data-action="show"]');
    expect(show()?.hidden).toBe(false);
    await page.press(0, 'show');
    expect(cell().rendered).toBe(false);
    expect(show()?.hidden).toBe(true);
  });

  it('keeps and takes back parts', async () => {
    const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    opened.fill([lines.join('\n')]);
    lines[0] = 'ONE';
    lines[6] = 'SEVEN';
    await page.act(edit('cell-0', lines.join('\n')));
    const buttons = (name: string) =>
      page
        .node(0)
        .querySelectorAll<HTMLElement>(
          `.jp-hdspAgent-hunk-button.jp-mod-${name}`
        );
    expect(buttons('accept')).toHaveLength(2);
    buttons('accept')[0].click();
    await opened.settle();
    expect(buttons('accept')).toHaveLength(1);
    buttons('reject')[0].click();
    await opened.settle();
    expect(opened.sources[0]).toBe('ONE\ntwo\nthree\nfour\nfive\nsix\nseven');
    expect(page.kinds(0)).toEqual([]);
    expect(page.verdicts()).toEqual([
      ['cell-0', true, 'hunk'],
      ['cell-0', false, 'hunk']
    ]);
  });

  it('takes back parts without what the person wrote there', async () => {
    opened.fill(['a\nb\nc']);
    await page.act(edit('cell-0', 'a\nb\nc\nd'));
    const cell = opened.model.sharedModel.getCell(0);
    cell.setSource('a\nb\nc\nd\nmine');
    await opened.settle();
    const undo = () =>
      page
        .node(0)
        .querySelector<HTMLElement>('.jp-hdspAgent-hunk-button.jp-mod-reject')
        ?.click();
    undo();
    await opened.settle();
    expect(opened.sources[0]).toBe('a\nb\nc\nmine');
    expect(Notification.manager.count).toBe(0);
    undo();
    await opened.settle();
    expect(opened.sources[0]).toBe('a\nb\nc\nmine');
    expect(Notification.manager.count).toBe(1);
    Notification.dismiss();
  });

  it('stands between the input and the output, not in the way of Lab', async () => {
    await page.act(edit('cell-1', 'b = 20'));
    const cell = opened.panel.content.widgets[1] as CodeCell;
    const names = [...cell.node.children].map(({ className }) =>
      className.includes('CellRow')
        ? 'row'
        : (/jp-Cell-(input|output)Wrapper/.exec(className)?.[1] ?? '')
    );
    expect(names.filter(name => name !== '')).toEqual([
      'input',
      'row',
      'output'
    ]);
  });

  describe('in a cell that is far away', () => {
    // As the notebook does with cells that leave the view, or come into it.
    const cell = () => opened.panel.content.widgets[1];
    const leave = () => {
      cell().inViewport = false;
      cell().layout?.processParentMessage(Widget.Msg.AfterDetach);
      expect(cell().node.children).toHaveLength(1);
    };
    const enter = async () => {
      cell().layout?.processParentMessage(Widget.Msg.BeforeAttach);
      cell().inViewport = true;
      await opened.settle();
    };
    const parts = () =>
      [...cell().node.children].flatMap(({ className }) => {
        const part = /CellRow|inputWrapper|outputWrapper/.exec(className);
        return part ? [part[0]] : [];
      });

    it('waits until it comes into view', async () => {
      leave();
      await page.act(edit('cell-1', 'b = 20'));
      expect(page.kinds(1)).toEqual([]);
      await enter();
      expect(parts()).toEqual(['inputWrapper', 'CellRow', 'outputWrapper']);
      expect(page.deletedText(1)).toContain('b = 2');
      expect(
        page.node(1).querySelector('.jp-hdspAgent-CellMark')
      ).not.toBeNull();
    });

    it('is there again with it', async () => {
      await page.act(edit('cell-1', 'b = 20'));
      leave();
      await enter();
      expect(parts()).toEqual(['inputWrapper', 'CellRow', 'outputWrapper']);
      expect(page.deletedText(1)).toContain('b = 2');
    });

    it('can be over meanwhile', async () => {
      await page.act(edit('cell-1', 'b = 20'));
      leave();
      await page.commands.execute(CommandIDs.keepAll, { path: opened.path });
      await opened.settle();
      await enter();
      expect(parts()).toEqual(['inputWrapper', 'outputWrapper']);
      expect(page.deletedText(1)).toBe('');
      expect(page.node(1).dataset.hdspAgent).toBeUndefined();
    });
  });
});

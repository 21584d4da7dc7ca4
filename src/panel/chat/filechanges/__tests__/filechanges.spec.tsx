import type { ClineMessage, ClineSayTool } from '../../../../generated/wire';
import { openedDocuments } from '../../../__tests__/openeddocuments';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { ShownRows, USER } from '../../rows/__tests__/shownrows';
import { anItem } from '../../../header/__tests__/conversations';

describe('what the agent changed', () => {
  let rows: ShownRows;
  let page: OpenedPanel;
  let opened: readonly string[];

  beforeEach(() => {
    const documents = openedDocuments();
    ({ opened } = documents);
    rows = new ShownRows(documents);
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  it('should take no room as long as nothing is changed', async () => {
    await rows.show(
      done(2, { tool: 'readFile', path: 'a.py' }),
      { ...edit(3, 'a.py'), isAnswered: undefined },
      { ...edit(4, 'b.py'), isAnswered: false, denied: true },
      { ...edit(5, 'c.py'), failure: 'It is gone.' },
      { ...edit(6, 'd.py'), isAnswered: undefined, partial: true }
    );
    expect(panel()).toBeNull();
    await rows.update({ ...edit(3, 'a.py') });
    expect(panel()?.textContent).toBe('1 file changed +1 −1');
  });

  it('should list each file once, with all its changes', async () => {
    await rows.show(
      done(2, {
        tool: 'newFileCreated',
        path: 'a.py',
        content: 'x = 1\n',
        diffStats: { added: 1, removed: 0 }
      }),
      edit(3, 'a.py'),
      done(4, {
        tool: 'editCells',
        path: 'b.ipynb',
        diffStats: { added: 2, removed: 0 },
        cellEdits: [
          { op: 'insert', cellId: 'c', after: 1, diff: '@@ -0 +1 @@\n+y = 2' }
        ]
      })
    );
    expect(panel()?.textContent).toBe('2 files changed +4 −1');
    await rows.click('2 files changed +4 −1');
    expect(files()).toEqual(['a.py+2 −12 changes', 'b.ipynb+2 −01 change']);
    await rows.click('Changes to a.py');
    expect(lines()).toEqual(['+x = 1', '-x = 1', '+x = 2']);
    await rows.click('Changes to a.py');
    await rows.click('Changes to b.ipynb');
    expect(panel()?.textContent).toContain('New cell below cell 1');
    expect(lines()).toEqual(['+y = 2']);
  });

  it('should list the files of a batch one by one', async () => {
    await rows.show(
      done(2, {
        tool: 'appliedDiff',
        batchDiffs: ['a.py', 'b.py'].map(path => ({
          path,
          key: path,
          changeCount: 1,
          content: `@@ -1 +1 @@\n+in ${path}`,
          diffStats: { added: 1, removed: 0 }
        }))
      })
    );
    await rows.click('2 files changed +2 −0');
    await rows.click('Changes to b.py');
    expect(lines()).toEqual(['+in b.py']);
  });

  it('should open a file by the name it has now, and count it as one', async () => {
    await rows.show(edit(2, 'old.py'), edit(20, 'new.py'));
    await page.settle(() =>
      page.publish({
        type: 'taskHistoryItemUpdated',
        taskHistoryItem: anItem({
          id: 't',
          renames: [{ old: 'old.py', new: 'new.py', ts: 10 }]
        })
      })
    );
    await rows.click('1 file changed +2 −2');
    expect(files()).toEqual(['new.py+2 −22 changes']);
    await page.settle(() =>
      panel()?.querySelector<HTMLElement>('.jp-hdspAgent-place')?.click()
    );
    await page.settle(() => page.answer('findFile', null, true));
    expect(opened).toEqual(['new.py']);
  });

  it('should name in a path what cannot be seen', async () => {
    await rows.show(edit(2, 'a\u202Eyp.sh'));
    await rows.click('1 file changed +1 −1');
    expect(files()[0]).toContain('a⟨U+202E⟩yp.sh');
  });

  it('should take away what is taken back, and bring it again', async () => {
    await rows.show(edit(2, 'a.py'), edit(3, 'b.py'));
    const change = (removed: readonly number[], restored: ClineMessage[]) =>
      page.settle(() =>
        page.publish({
          type: 'conversationChanged',
          taskId: 't',
          removed: removed.map(ts => ({ first: ts, last: ts })),
          restored,
          marks: {}
        })
      );
    await change([3], []);
    expect(panel()?.textContent).toBe('1 file changed +1 −1');
    await change([2], []);
    expect(panel()).toBeNull();
    await change([], [edit(2, 'a.py')]);
    expect(panel()?.textContent).toBe('1 file changed +1 −1');
  });

  it('should say that what is not loaded is not counted, and load it', async () => {
    page.begin({
      currentTaskId: 't',
      hasOlderMessages: true,
      clineMessages: [edit(20, 'a.py')]
    });
    await page.settle();
    const more = () =>
      panel()?.querySelector(
        '[title="Older messages may contain more changes."]'
      );
    expect(more()?.textContent).toBe('1 file changed');
    await rows.click('1 file changed +1 −1');
    const before = page.sent('loadMessages').length;
    expect(panel()?.textContent).toContain('messages that are not loaded');
    await rows.click('Load older messages');
    expect(page.sent('loadMessages').length).toBe(before + 1);
    await page.settle(() => {
      page.publish({
        type: 'messagesPage',
        taskId: 't',
        clineMessages: [USER, edit(2, 'b.py')],
        hasOlderMessages: false
      });
      page.answer('loadMessages');
    });
    expect(files()).toHaveLength(2);
    expect(panel()?.textContent).toMatch(/^2 files changed \+2 −2/);
    expect(panel()?.textContent).not.toContain('not loaded');
    expect(more()).toBeNull();
  });

  function panel(): HTMLElement | null {
    return page.find('.jp-hdspAgent-filechanges');
  }

  function files(): (string | null)[] {
    return page
      .findAll('.jp-hdspAgent-filechanges-file')
      .map(({ textContent }) => textContent);
  }

  function lines(): (string | null)[] {
    return [
      ...(panel()?.querySelectorAll('.jp-hdspAgent-chat-diff-line') ?? [])
    ].map(({ textContent }) => textContent);
  }
});

function done(ts: number, tool: ClineSayTool): ClineMessage {
  return {
    ts,
    type: 'ask',
    ask: 'tool',
    isAnswered: true,
    text: JSON.stringify(tool)
  };
}

function edit(ts: number, path: string): ClineMessage {
  return done(ts, {
    tool: 'appliedDiff',
    path,
    diff: '@@ -1 +1 @@\n-x = 1\n+x = 2',
    diffStats: { added: 1, removed: 1 }
  });
}

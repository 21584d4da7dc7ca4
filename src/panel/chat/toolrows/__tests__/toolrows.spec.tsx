import type { ClineMessage } from '../../../../generated/wire';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { openedDocuments } from '../../../__tests__/openeddocuments';
import { anItem } from '../../../header/__tests__/conversations';
import { ShownRows } from '../../rows/__tests__/shownrows';

describe('rows of tools', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  it('should say what, where, and how much changed, line by line', async () => {
    await rows.show({
      type: 'ask',
      ask: 'tool',
      isAnswered: true,
      text: JSON.stringify({
        tool: 'appliedDiff',
        path: 'a.py',
        diff: '--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2',
        diffStats: { added: 1, removed: 1 }
      })
    });
    expect(rows.row(2).textContent).toContain('Edited a file');
    expect(rows.row(2).textContent).toContain('a.py');
    expect(rows.row(2).textContent).toContain('+1 −1');
    const lines = [
      ...rows.row(2).querySelectorAll('.jp-hdspAgent-chat-diff-line')
    ];
    expect(
      lines.map(line => [line.getAttribute('data-kind'), line.textContent])
    ).toEqual([
      ['removed', '-x = 1'],
      ['added', '+x = 2']
    ]);
  });

  it('should say in words which part of a notebook was read', async () => {
    const read = (reason: string) => ({
      say: 'tool' as const,
      text: JSON.stringify({ tool: 'readNotebook', path: 'a.ipynb', reason })
    });
    await rows.show(
      read('cells'),
      { ts: 3, ...read('outputs: 3-7') },
      { ts: 4, ...read('outline: 0f3a9c1e, load') },
      { ts: 5, ...read('cells: 2') }
    );
    expect(rows.row(5).textContent).toMatch(/Cell 2$/);
    expect(rows.row(4).textContent).toMatch(/a\.ipynb$/);
    expect(rows.row(2).textContent).toMatch(/a\.ipynbAll cells$/);
    expect(rows.row(3).textContent).toMatch(/Cells 3-7, with outputs$/);
  });

  describe('what a search found', () => {
    const search: ClineMessage = {
      ts: 2,
      type: 'ask',
      ask: 'tool',
      isAnswered: true,
      text: JSON.stringify({
        tool: 'codebaseSearch',
        query: 'rents',
        source: 'past'
      })
    };
    const result = (results: object[], query = 'rents'): ClineMessage => ({
      ts: 3,
      type: 'say',
      say: 'codebase_search_result',
      text: JSON.stringify({
        tool: 'codebaseSearch',
        content: { query, results }
      })
    });
    const hit = {
      filePath: 'Old flats',
      score: 0.7,
      startLine: 1,
      endLine: 1,
      codeChunk: 'cheap rents',
      kind: 'conversation',
      source: 'z',
      place: '77',
      ts: 1_000,
      author: 'agent',
      snippet: [
        { text: 'cheap ', found: false },
        { text: 'rents', found: true }
      ]
    };

    it('should be folded in its row, and lead to where it stands', async () => {
      page.dispose();
      const { documents, opened } = openedDocuments();
      rows = new ShownRows({ documents });
      ({ page } = rows);
      const cell = {
        ...hit,
        kind: 'notebook',
        filePath: 'a.ipynb',
        path: 'a.ipynb',
        source: '/work/a.ipynb',
        place: 'c7',
        author: undefined
      };
      await rows.show(
        search,
        result([hit, cell, { ...cell, path: undefined }])
      );
      expect(page.findAll('article')).toHaveLength(2);
      expect(rows.row(2).textContent).toBe(
        'Searched earlier conversations and notebooksrents3 passages found'
      );
      await rows.click('3 passages found');
      const hits = [...rows.row(2).querySelectorAll('li')];
      expect(hits[0].textContent).toContain('Old flatsAgent');
      expect(hits[0].querySelector('mark')?.textContent).toBe('rents');
      // One of another workspace cannot be opened here.
      expect(hits[2].querySelector('button')).toBeNull();
      await rows.click('a.ipynb');
      await page.settle(() => page.answer('findFile', null, true));
      expect(opened).toEqual(['a.ipynb']);
      await rows.click('Old flats');
      await page.settle(() => page.answer('showTaskWithId'));
      expect(page.sent('showTaskWithId')).toMatchObject([{ taskId: 'z' }]);
      expect(page.panel.services.state.wantedMessage).toEqual({
        taskId: 'z',
        ts: 77
      });
    });

    it('should say so where it is nothing', async () => {
      await rows.show(search, result([]));
      expect(rows.row(2).textContent).toContain('Nothing was found.');
    });

    it('should stand alone where its search is not here, also as Roo Code wrote it', async () => {
      const { filePath, score, startLine, endLine, codeChunk } = hit;
      await rows.show(
        result([{ filePath, score, startLine, endLine, codeChunk }], 'code')
      );
      expect(rows.row(3).textContent).toBe('Search resultscode1 passage found');
      await rows.click('1 passage found');
      expect(rows.row(3).textContent).toContain(
        'Old flats, from line 1cheap rents'
      );
    });

    it('should be shown as it is where another version wrote it', async () => {
      await rows.show({ ...result([]), text: 'Nothing suits.' });
      expect(rows.row(3).textContent).toContain('Nothing suits.');
    });
  });

  it('should tell what waits from what is done and what is not', async () => {
    const ask: ClineMessage = {
      ts: 2,
      type: 'ask',
      ask: 'tool',
      text: JSON.stringify({ tool: 'readFile', path: 'a.py' })
    };
    await rows.show(ask);
    expect(rows.row(2).textContent).toContain('Needs approval');
    await rows.update({ ...ask, isAnswered: false });
    expect(rows.row(2).textContent).toContain('Not done');
    await rows.update({ ...ask, isAnswered: false, denied: true });
    expect(rows.row(2).textContent).toContain('Denied');
    await rows.update({
      ...ask,
      isAnswered: false,
      failure: 'No a.py there. Use list_files.'
    });
    expect(rows.row(2).textContent).toContain('Failed');
    expect(rows.row(2).textContent).toMatch(/No a\.py there\.$/);
    await rows.update({ ...ask, isAnswered: true });
    expect(rows.row(2).textContent).toBe('Read a filea.py');
    await rows.update({ ...ask, isAnswered: true, answeredIn: 'Claude Code' });
    expect(rows.row(2).textContent).toContain('Answered in Claude Code');
  });

  it('should tell what was approved and then failed from what is done', async () => {
    const ask: ClineMessage = {
      ts: 2,
      type: 'ask',
      ask: 'tool',
      isAnswered: true,
      text: JSON.stringify({ tool: 'newFileCreated', path: 'a/b.py' })
    };
    await rows.show(ask);
    expect(rows.row(2).textContent).toContain('Created a file');
    await rows.update({ ...ask, failure: 'a is no folder. Use another name.' });
    expect(rows.row(2).textContent).toContain('Create a filea/b.pyFailed');
    expect(rows.row(2).textContent).toContain('a is no folder.');
  });

  it('should lead to what was renamed since, and only to that', async () => {
    page.dispose();
    const { documents, opened } = openedDocuments();
    rows = new ShownRows({ documents });
    ({ page } = rows);
    const read = (ts: number, path: string) => ({
      ts,
      type: 'ask' as const,
      ask: 'tool' as const,
      isAnswered: true,
      text: JSON.stringify({ tool: 'readFile', path, startLine: ts })
    });
    await rows.show(read(2, 'old/a.py'), read(20, 'old/a.py'));
    await page.settle(() =>
      page.publish({
        type: 'taskHistoryItemUpdated',
        taskHistoryItem: anItem({
          id: 't',
          renames: [
            { old: 'old/a.py', new: 'old/b.py', ts: 10 },
            { old: 'old', new: 'new', ts: 11 }
          ]
        })
      })
    );
    expect(rows.row(2).textContent).toContain('new/b.py, from line 2');
    expect(rows.row(20).textContent).toContain('old/a.py, from line 20');
    await rows.click('new/b.py, from line 2');
    await page.settle(() => page.answer('findFile', null, true));
    expect(page.sent('findFile')).toMatchObject([{ path: 'new/b.py' }]);
    expect(opened).toEqual(['new/b.py']);
  });

  it('should open the file, and say when there is none', async () => {
    page.dispose();
    const { documents, opened } = openedDocuments();
    rows = new ShownRows({ documents });
    ({ page } = rows);
    const tool = (path: string) => ({
      type: 'ask' as const,
      ask: 'tool' as const,
      isAnswered: true,
      text: JSON.stringify({ tool: 'readFile', path })
    });
    await rows.show(tool('a.py'), { ...tool('gone.py'), ts: 3 });
    await rows.click('a.py');
    await page.settle(() => page.answer('findFile', null, true));
    expect(opened).toEqual(['a.py']);
    await rows.click('gone.py');
    await page.settle(() => page.answer('findFile', null, false));
    expect(opened).toEqual(['a.py']);
    expect(rows.row(3).textContent).toContain('gone.py no longer exists.');
  });

  it('should show each change of a cell', async () => {
    await rows.show({
      type: 'ask',
      ask: 'tool',
      text: JSON.stringify({
        tool: 'editCells',
        path: 'a.ipynb',
        cellEdits: [
          {
            op: 'edit',
            cellId: 'c',
            number: 2,
            diff: '@@ -1 +1 @@\n-a\n+b',
            added: 1,
            removed: 1
          },
          {
            op: 'insert',
            after: 2,
            cellType: 'markdown',
            diff: '@@ -0,0 +1 @@\n+# T'
          },
          { op: 'delete', number: 4 }
        ]
      })
    });
    expect(rows.row(2).textContent).toContain('Edit cell 2');
    expect(rows.row(2).textContent).toContain('New Markdown cell below cell 2');
    expect(rows.row(2).textContent).toContain('Delete cell 4');
    expect(rows.row(2).querySelectorAll('[data-kind="added"]')).toHaveLength(2);
  });

  it('should show several files at once, each to be unfolded', async () => {
    await rows.show({
      type: 'ask',
      ask: 'tool',
      text: JSON.stringify({
        tool: 'appliedDiff',
        batchDiffs: [
          { key: 'k', path: 'b.py', changeCount: 1, content: '@@ @@\n+new' }
        ]
      })
    });
    expect(rows.row(2).textContent).toContain('Edit several files');
    expect(rows.row(2).textContent).not.toContain('+new');
    page.act(() =>
      rows.row(2).querySelector<HTMLElement>('[aria-expanded]')?.click()
    );
    expect(rows.row(2).textContent).toContain('+new');
  });

  it('should show a plan as a list, with its states in words', async () => {
    await rows.show({
      type: 'ask',
      ask: 'tool',
      isAnswered: true,
      text: JSON.stringify({
        tool: 'updateTodoList',
        content: '[x] one\n[-] two\n[ ] three'
      })
    });
    const items = [...rows.row(2).querySelectorAll('li')];
    expect(items[0]?.querySelector('[dir="auto"]')?.textContent).toBe('one');
    expect(items.map(item => item.textContent)).toEqual([
      '☑Done: one',
      '◐In progress: two',
      '☐To do: three'
    ]);
  });

  it('should warn of what is outside or protected', async () => {
    await rows.show({
      type: 'ask',
      ask: 'tool',
      isAnswered: true,
      isProtected: true,
      text: JSON.stringify({
        tool: 'newFileCreated',
        path: '/x',
        content: 'a',
        isOutsideWorkspace: true
      })
    });
    expect(rows.row(2).textContent).toContain('Outside the workspace');
    expect(rows.row(2).textContent).toContain('Protected: controls the agent');
  });

  it('should name modes and kinds of cells as people know them', async () => {
    await rows.show(
      {
        type: 'ask',
        ask: 'tool',
        isAnswered: true,
        text: JSON.stringify({ tool: 'switchMode', mode: 'architect' })
      },
      {
        ts: 3,
        type: 'ask',
        ask: 'tool',
        isAnswered: true,
        text: JSON.stringify({
          tool: 'editCells',
          path: 'a.ipynb',
          cellEdits: [{ op: 'changeType', number: 2, cellType: 'markdown' }]
        })
      }
    );
    expect(rows.row(2).textContent).toBe('Switched the modePlan');
    expect(rows.row(3).textContent).toContain(
      'Turn cell 2 into a Markdown cell'
    );
  });

  it('should lead to what is remembered once it is, and not before', async () => {
    const ask: ClineMessage = {
      ts: 2,
      type: 'ask',
      ask: 'tool',
      text: JSON.stringify({
        tool: 'remember',
        content: 'Use polars',
        source: 'person'
      })
    };
    await rows.show(ask);
    expect(rows.row(2).textContent).not.toContain('Manage memory');
    await rows.update({ ...ask, isAnswered: false, denied: true });
    expect(rows.row(2).textContent).not.toContain('Manage memory');
    await rows.update({ ...ask, isAnswered: true });
    expect(rows.row(2).textContent).toContain('Remembered');
    await rows.click('Manage memory');
    expect(page.openedSettings).toEqual(['memory']);
  });

  describe('the end of a subtask', () => {
    const ask = (content: string): ClineMessage => ({
      ts: 2,
      type: 'ask',
      ask: 'tool',
      text: JSON.stringify({ tool: 'finishTask', content })
    });

    it('should show the result one is asked to accept, and leave it to the answer then', async () => {
      await rows.show(ask('It is **42**'));
      expect(
        rows.row(2).querySelector('.jp-hdspAgent-markdown')?.textContent
      ).toBe('It is **42**');
      await rows.update({
        ...ask('It is **42**'),
        isAnswered: false,
        denied: true
      });
      expect(rows.row(2).textContent).toContain('It is **42**');
      await rows.update({ ...ask('It is **42**'), isAnswered: true });
      expect(rows.row(2).textContent).toBe('Finished the subtask');
    });

    it('should show the beginning of a long result, and all of it on demand', async () => {
      const points = Array.from(
        { length: 50 },
        (_, index) => `- point ${index}`
      );
      await rows.show(ask(points.join('\n')));
      expect(rows.row(2).textContent).toContain('- point 29');
      expect(rows.row(2).textContent).not.toContain('- point 30');
      await rows.click('Show all (50 lines)');
      expect(rows.row(2).textContent).toContain('- point 49');
    });
  });
});

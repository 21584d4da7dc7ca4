import { expect, OpenNotebook, test } from '../notebooks';
import { LONG_ONLY } from '../longtests';

test('an edit and a run show in the open notebook and are saved', async ({
  agent,
  lab,
  notebooks
}) => {
  const path = 'open.ipynb';
  await notebooks.write(path, [
    { id: 'title', source: '# Sales', type: 'markdown' },
    { id: 'load', source: 'rows = 3\nprint(rows)' },
    { id: 'note', source: 'note = 1' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);

  await agent.start('Load one row more.');
  await agent.read(path);
  await agent.edit(
    path,
    { op: 'edit', cell: 'load', old: 'rows = 3', new: 'rows = 4' },
    { op: 'insert', after: 'load', source: 'print("so far", rows)' }
  );
  await expect(notebook.lines(1)).toHaveText(['rows = 4', 'print(rows)']);
  await expect(notebook.lines(2)).toHaveText(['print("so far", rows)']);

  expect(await agent.run(path, '2-3')).toContain('so far 4');
  await expect(notebook.outputs(1)).toHaveText('4');
  await expect(notebook.count(1)).toHaveText('[1]:');
  await expect(notebook.outputs(2)).toHaveText('so far 4');
  await expect(notebook.count(2)).toHaveText('[2]:');
  await lab.picture('notebook-edited-and-run');

  await notebook.expectSaved();
  const [, load, added] = await notebooks.cells(path);
  expect(load).toMatchObject({ source: 'rows = 4\nprint(rows)' });
  expect(load.execution_count).toBe(1);
  expect(added.outputs).toMatchObject([{ text: 'so far 4\n' }]);

  await notebook.edit(3);
  await lab.page.keyboard.type(' + 1');
  await notebook.save();
  expect(await notebooks.cell(path, 'note')).toMatchObject({
    source: 'note = 1 + 1'
  });
});

test("Ctrl+Z takes back an agent's edit, and Z all that came with it", async ({
  agent,
  lab,
  notebooks
}) => {
  const path = 'undo.ipynb';
  await notebooks.write(path, [
    { id: 'first', source: 'a = 1\nprint(a)' },
    { id: 'second', source: 'b = 2' },
    { id: 'third', source: 'c = 3' }
  ]);
  const { keyboard } = lab.page;
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  await notebook.edit(0);
  await keyboard.type(' # mine');
  await agent.start('Tidy up.');
  await agent.read(path);
  await agent.edit(path, {
    op: 'replace',
    cell: 'first',
    source: 'from math import pi\nprint(pi) # mine'
  });
  await expect(notebook.lines(0)).toHaveText([
    'from math import pi',
    'print(pi) # mine'
  ]);

  await keyboard.press('Control+z');
  await expect(notebook.lines(0)).toHaveText(['a = 1', 'print(a) # mine']);
  await keyboard.press('Control+z');
  await expect(notebook.lines(0)).toHaveText(['a = 1', 'print(a)']);

  await agent.read(path);
  await agent.edit(
    path,
    { op: 'edit', cell: 'first', old: '1', new: '10' },
    { op: 'delete', cell: 'second' },
    { op: 'insert', after: 'third', source: 'd = 4' }
  );
  await expect(notebook.lines(0)).toHaveText(['a = 10', 'print(a)']);
  await expect(notebook.lines(1)).toHaveText(['c = 3']);
  await expect(notebook.lines(2)).toHaveText(['d = 4']);

  await keyboard.press('Escape');
  await keyboard.press('z');
  await expect(notebook.lines(0)).toHaveText(['a = 1', 'print(a)']);
  await expect(notebook.lines(1)).toHaveText(['b = 2']);
  await expect(notebook.lines(2)).toHaveText(['c = 3']);
  await expect(notebook.cell(3)).toHaveCount(0);
  await notebook.save();
});

test('a person goes on typing, and sees no cell move, while the agent edits', async ({
  agent,
  lab,
  notebooks
}) => {
  const path = 'typing.ipynb';
  await notebooks.write(
    path,
    [...Array(40).keys()].map(number => ({
      id: `cell-${number}`,
      source: `x = ${number}\nprint(x)\nprint(x + 1)`
    }))
  );
  const mine = 20;
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  await notebook.cell(mine).scrollIntoViewIfNeeded();
  await notebook.edit(mine);
  const before = await notebook.cell(mine).boundingBox();
  await agent.start('Number the cells.');
  await agent.read(path);

  // They type as long as the agent edits: the view follows it when they pause.
  let text = ' # ';
  await lab.page.keyboard.type(text);
  let isEditing = true;
  const edits = (async () => {
    for (const number of [2, 18, 19, 21, 39]) {
      await agent.edit(path, {
        op: 'edit',
        cell: `cell-${number}`,
        old: `x = ${number}`,
        new: `x = ${number * 100}`
      });
    }
  })().finally(() => {
    isEditing = false;
  });
  while (isEditing) {
    await lab.page.keyboard.type('x', { delay: 100 });
    text += 'x';
  }
  await edits;

  await expect(notebook.lines(mine).last()).toHaveText(`print(x + 1)${text}`);
  await expect(notebook.lines(mine - 1).first()).toHaveText('x = 1900');
  const after = await notebook.cell(mine).boundingBox();
  expect(after?.y).toBeCloseTo(before?.y ?? 0, 0);
  await notebook.save();
  expect(await notebooks.cell(path, `cell-${mine}`)).toMatchObject({
    source: `x = ${mine}\nprint(x)\nprint(x + 1)${text}`
  });
});

test(
  'what a person left unsaved stays, and is saved with the agent’s work',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const path = 'dirty.ipynb';
    await notebooks.write(path, [
      { id: 'load', source: 'rows = 3' },
      { id: 'mine', source: 'note = 1' }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await agent.start('Load one row more.');
    await agent.read(path);
    await notebook.edit(1);
    await lab.page.keyboard.type(' + 1');
    expect(await notebook.isDirty()).toBe(true);

    const refused = await agent.call('edit_cells', {
      path,
      operations: [{ op: 'replace', cell: 'mine', source: 'note = 100' }]
    });
    expect(refused).toContain('note = 1 + 1');
    await agent.edit(path, {
      op: 'edit',
      cell: 'load',
      old: 'rows = 3',
      new: 'rows = 4'
    });

    await expect(notebook.lines(0)).toHaveText(['rows = 4']);
    await expect(notebook.lines(1)).toHaveText(['note = 1 + 1']);
    await notebook.expectSaved();
    expect(await notebooks.cells(path)).toMatchObject([
      { source: 'rows = 4' },
      { source: 'note = 1 + 1' }
    ]);
    await notebook.save();
  }
);

test('two tabs show the same notebook, and neither asks what to keep', async ({
  agent,
  lab,
  newTab,
  notebooks
}) => {
  const path = 'tabs.ipynb';
  await notebooks.write(path, [
    { id: 'load', source: 'rows = 3\nprint(rows)' },
    { id: 'note', source: 'note = 1' }
  ]);
  await lab.visit();
  const first = await OpenNotebook.open(lab, path);
  const second = await OpenNotebook.open(await newTab(), path);
  await agent.start('Load one row more.');
  await agent.read(path);
  await agent.edit(path, {
    op: 'edit',
    cell: 'load',
    old: 'rows = 3',
    new: 'rows = 4'
  });
  expect(await agent.run(path, 'load')).toContain('4');

  for (const notebook of [first, second]) {
    await expect(notebook.lines(0)).toHaveText(['rows = 4', 'print(rows)']);
    await expect(notebook.outputs(0)).toHaveText('4');
    await notebook.expectSaved();
  }
  for (const [notebook, text] of [
    [second, ' # two'],
    [first, ' # one']
  ] as const) {
    await notebook.edit(1);
    await notebook.lab.page.keyboard.type(text);
    await notebook.save();
    await agent.read(path);
    await agent.edit(path, {
      op: 'edit',
      cell: 'load',
      old: 'rows =',
      new: `${text}\nrows =`
    });
    for (const each of [first, second]) {
      await expect(each.lines(0).getByText(text)).toBeVisible();
      await expect(each.lines(1)).toContainText([text]);
      await expect(each.dialog).toHaveCount(0);
    }
  }
});

test(
  'what a person types in another tab while it takes up the agent’s work stays, and so does their place',
  { tag: LONG_ONLY },
  async ({ agent, lab, newTab, notebooks }) => {
    const path = 'meanwhile.ipynb';
    await notebooks.write(path, [
      { id: 'load', source: 'rows = 3' },
      { id: 'gone', source: 'unused = 0' },
      { id: 'mine', source: 'note = 1\nnote' },
      { id: 'last', source: 'last = 1' }
    ]);
    await lab.visit();
    const first = await OpenNotebook.open(lab, path);
    const second = await OpenNotebook.open(await newTab(), path);
    const { page } = second.lab;
    await second.edit(2);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    await agent.start('Tidy up.');
    await agent.read(path);

    let reading = () => {};
    let goOn = () => {};
    const isReading = new Promise<void>(resolve => (reading = resolve));
    const mayGoOn = new Promise<void>(resolve => (goOn = resolve));
    await page.route(
      url => url.pathname.endsWith(path) && url.search.includes('content=1'),
      async route => {
        reading();
        await mayGoOn;
        await route.continue();
      }
    );
    await agent.edit(
      path,
      { op: 'edit', cell: 'load', old: 'rows = 3', new: 'rows = 4' },
      { op: 'delete', cell: 'gone' },
      { op: 'insert', after: 'load', source: 'more = 5' },
      { op: 'insert', after: 'load', source: 'most = 6' },
      { op: 'edit', cell: 'mine', old: '\nnote', new: '\nprint(note)' }
    );
    await isReading;
    await page.keyboard.type(' + 1');
    goOn();

    await expect(second.lines(0)).toHaveText(['rows = 4']);
    await expect(second.lines(1)).toHaveText(['more = 5']);
    await expect(second.lines(2)).toHaveText(['most = 6']);
    await expect(second.lines(3)).toHaveText(['note = 1 + 1', 'print(note)']);
    await page.keyboard.type(' + 2');
    await expect(second.lines(3)).toHaveText([
      'note = 1 + 1 + 2',
      'print(note)'
    ]);
    await page.keyboard.press('Control+z');
    await expect(second.lines(3).first()).not.toHaveText(/2$/);
    await expect(second.lines(3).last()).toHaveText('print(note)');
    await page.keyboard.type(' # mine');
    await second.save();
    const [load, , , mine] = await notebooks.cells(path);
    expect(load).toMatchObject({ source: 'rows = 4' });
    expect(mine.source).toMatch(/^note = 1.* # mine\nprint\(note\)$/);
    await expect(first.dialog).toHaveCount(0);
  }
);

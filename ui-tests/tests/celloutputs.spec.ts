import { Chat } from '../chat';
import { expect, OpenNotebook, test } from '../notebooks';
import { LONG_ONLY } from '../longtests';

test('a DataFrame is a table in the conversation, a plot only a picture, and long output is folded', async ({
  agent,
  lab,
  notebooks
}) => {
  const path = `outputs-${Date.now()}.ipynb`;
  await notebooks.write(path, [
    {
      id: 'table',
      source:
        'import pandas as pd\npd.DataFrame({f"column {n}": range(20) for n in range(12)})'
    },
    {
      id: 'plot',
      source: 'import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.show()'
    },
    { id: 'long', source: 'for n in range(40):\n    print("line", n)' }
  ]);
  await lab.visit();
  await OpenNotebook.open(lab, path);
  await lab.openPanel();
  const chat = new Chat(lab);
  await chat.say('Run it all.');
  await agent.read(path);
  await agent.run(path, 'plot');
  await expect(
    chat.feed.getByRole('img', { name: 'Image 1 of 1' })
  ).toBeVisible();
  await expect(chat.feed).not.toContainText('<Figure');
  await lab.picture('plot');

  await agent.run(path, 'long');
  await expect(chat.feed).toContainText('line 39');
  await expect(chat.feed).not.toContainText('line 27');
  await lab.picture('long');
  await chat.feed.getByRole('button', { name: 'Show all (40 lines)' }).click();
  await expect(chat.feed).toContainText('line 27');
  await chat.feed.evaluate(box => {
    box.scrollTop = box.scrollHeight;
  });

  await agent.run(path, 'table');
  const table = chat.feed.getByRole('group', { name: 'Table' });
  await expect(table.getByRole('table')).toBeVisible();
  await expect(
    table.getByRole('columnheader', { name: 'column 11' })
  ).toBeAttached();
  const all = chat.feed.getByRole('button', { name: 'Show all (21 rows)' });
  await expect(all).toBeVisible();
  await lab.picture('table');
  await all.click();
  await expect(table.getByRole('row')).toHaveCount(21);
  await chat.finish(agent.model);
  expect(lab.errors).toEqual([]);
});

test(
  'a failed cell that is to be fixed is a chip with its traceback inside',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const path = `failed-${Date.now()}.ipynb`;
    await notebooks.write(path, [
      { id: 'first', source: 'a = 1' },
      { id: 'failed', source: 'print(prices)' }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await notebook.edit(1);
    await lab.page.keyboard.press('Control+Enter');
    await expect(notebook.outputs(1)).toContainText('NameError');
    await notebook
      .cell(1)
      .getByRole('group', { name: 'This cell failed' })
      .getByRole('button', { name: 'Fix with agent' })
      .click();
    await agent.model.asked();
    const chat = new Chat(lab);
    const said = chat.messages('You', 'Fix cell 2: NameError');
    await expect(said).toBeVisible();
    await expect(said).not.toContainText('print(prices)');
    await lab.picture('fix-chip');
    await said
      .getByRole('button', {
        name: "Fix cell 2: NameError: name 'prices' is not defined"
      })
      .click();
    await expect(said).toContainText('print(prices)');
    await expect(said).toContainText('Traceback');
    await lab.picture('fix-chip-open');
    expect(lab.errors).toEqual([]);
  }
);

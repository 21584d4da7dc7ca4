import { Chat } from '../chat';
import { expect, OpenNotebook, test } from '../notebooks';

test('a whole task is done without a mouse', async ({
  agent,
  lab,
  notebooks
}) => {
  test.slow();
  const { model } = agent;
  const chat = new Chat(lab);
  const { keyboard } = lab.page;
  const path = 'keyboard.ipynb';
  await notebooks.write(path, [{ id: 'prices', source: 'prices = [3, 4, 5]' }]);
  await agent.api.change({
    alwaysAllowWrite: false,
    alwaysAllowRunCells: false
  });
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  const press = async (name: string) => {
    const button = chat.ask.getByRole('button', { name, exact: true });
    await lab.tabTo(button, 'Shift+Tab');
    // A question that has only just come takes no answer yet.
    await expect(button).toBeEnabled();
    await keyboard.press('Enter');
    // What was pressed is gone; the person can go on writing.
    await expect(chat.field).toBeFocused();
  };

  await keyboard.press('Control+Alt+y');
  await expect(chat.field).toBeFocused();
  await keyboard.type('Print the mean price.');
  await keyboard.press('Enter');
  await agent.read(path);
  await expect(chat.field).toBeFocused();

  await test.step('approve a change, with a word on it', async () => {
    const added = agent.call('edit_cells', {
      path,
      operations: [
        { op: 'insert', after: 'prices', source: 'print(sum(prices) / 3)' }
      ]
    });
    await expect(chat.ask).toContainText('Add a cell?');
    await lab.picture('keyboard-approve');
    await keyboard.type('Fine so.');
    await press('Apply');
    expect(await added).toContain('Fine so.');
    await expect(notebook.lines(1)).toHaveText(['print(sum(prices) / 3)']);
    await expect(chat.field).toHaveValue('');
  });

  await test.step('deny one, and say why', async () => {
    const deleted = agent.call('edit_cells', {
      path,
      operations: [{ op: 'delete', cell: 'prices' }]
    });
    await expect(chat.ask).toContainText('Delete cell 1?');
    await keyboard.type('I need it.');
    await press('Deny');
    expect(await deleted).toContain('I need it.');
    await expect(notebook.lines(0)).toHaveText(['prices = [3, 4, 5]']);
  });

  await test.step('run it', async () => {
    const running = agent.call('run_cells', { path, cells: 'all' });
    await expect(chat.ask).toContainText('Run cells 1, 2?');
    await press('Run');
    expect(await running).toContain('4.0');
    await expect(notebook.outputs(1)).toHaveText('4.0');
  });

  await test.step('choose an answer, and read what was said', async () => {
    await model.order('ask_followup_question', {
      question: 'Anything else?',
      follow_up: [{ text: 'Plot it' }, { text: 'No' }]
    });
    await press('No');
    await model.finish();
    await chat.expectDone();
    await lab.tabTo(chat.feed, 'Shift+Tab');
    await keyboard.press('Alt+ArrowUp');
    await expect(chat.feed.locator('article').last()).toBeFocused();
    await keyboard.press('PageUp');
    await expect(chat.feed.locator('article').last()).not.toBeFocused();
    await expect(chat.feed.locator('article:focus')).toHaveCount(1);
    await lab.picture('keyboard-reading');
  });

  await test.step('find it again, and go back to the notebook', async () => {
    const past = lab.panel.getByRole('button', {
      name: 'Past conversations',
      exact: true
    });
    await lab.tabTo(past, 'Shift+Tab');
    await keyboard.press('Enter');
    const row = lab.history.locator('[data-task]').first();
    await lab.tabTo(row);
    await expect(row).toContainText('Print the mean price.');
    await keyboard.press('Enter');
    await expect(lab.history).toBeHidden();
    await expect(chat.field).toBeFocused();
    await keyboard.press('Escape');
    await expect(notebook.panel.locator(':focus-within').first()).toBeVisible();
  });
  expect(lab.errors).toEqual([]);
});

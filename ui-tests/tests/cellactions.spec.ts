import { Chat } from '../chat';
import { openConsole } from '../console';
import { WATCHABLE } from '../model';
import { expect, OpenNotebook, test } from '../notebooks';
import { runInTerminal } from '../terminal';
import { Timeline } from '../timeline';

const PATH = 'actions.ipynb';

interface IHistory {
  taskHistory: { id: string; task: string }[];
}

test('a cell is improved, and explained, by a menu at it and by the keyboard', async ({
  agent,
  lab,
  notebooks
}) => {
  const { page } = lab;
  const menu = page.getByRole('menu').filter({ hasText: 'Speed Up' });
  await notebooks.write(PATH, [
    { id: 'first', source: 'rows = [1, 2, 3]' },
    { id: 'loop', source: 's = 0\nfor r in rows:\n    s = s + r' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, PATH);

  await test.step('the toolbar of a cell has a menu', async () => {
    await notebook.edit(1);
    await page.keyboard.press('Escape');
    await notebook
      .cell(1)
      .locator('[data-jp-item-name="hdsp-agent-actions"]')
      .click();
    await expect(menu).toBeVisible();
    await expect(
      menu.getByRole('menuitem', { name: 'Rewrite with pandas' })
    ).toBeVisible();
    await lab.picture('cell-actions', ['light', 'dark', 'contrast']);
    await page.keyboard.press('Escape');
    await expect(menu).toHaveCount(0);
  });

  await test.step('what is chosen there is done to this cell', async () => {
    await lab.execute('hdsp-agent:show-cell-actions', { cellId: 'loop' });
    await expect(menu).toBeVisible();
    // Edit by prompt, Explain, Improve.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await agent.model.asked();
    const { taskHistory } = await lab.api.get<IHistory>('history?limit=1');
    agent.task = taskHistory[0].id;
    const asked = JSON.stringify(agent.model.messages);
    expect(asked).toContain('Improve what I name below');
    expect(asked).toContain('for r in rows:');
    expect(asked).not.toContain('Explain what I name');
    await expect(
      new Chat(lab).messages('You', '/improve').getByText('Cell 2')
    ).toBeVisible();
    await agent.read(PATH);
    await agent.edit(PATH, {
      op: 'replace',
      cell: 'loop',
      source: 's = sum(rows)'
    });
    await expect(notebook.lines(1)).toHaveText(['s = sum(rows)']);
    await agent.model.finish('It is one line now.');
    await expect(new Chat(lab).ask).toContainText('The agent is done.');
    await lab.picture('cell-improved');
  });

  await test.step('the context menu has it too', async () => {
    await notebook.lines(0).first().click({ button: 'right' });
    await page.locator('.lm-Menu-item', { hasText: 'Agent Actions' }).hover();
    await menu.getByRole('menuitem', { name: 'Explain', exact: true }).click();
    await agent.model.asked();
    const asked = JSON.stringify(agent.model.messages);
    expect(asked).toContain('Explain what I name below');
    expect(asked).toContain('rows = [1, 2, 3]');
  });
  expect(lab.errors).toEqual([]);
});

test('a command that a person writes is in the menu of cells', async ({
  lab,
  notebooks
}) => {
  const { page, settings } = lab;
  await notebooks.write(PATH, [{ id: 'first', source: 'speed = 3' }]);
  await lab.visit();
  await lab.openSettings('slashCommands');
  await settings.getByRole('button', { name: 'New command…' }).click();
  const form = settings.getByRole('form', { name: 'New command' });
  await form.getByRole('textbox', { name: 'Name' }).fill('check-units');
  await form
    .getByRole('textbox', { name: 'Prompt' })
    .fill('---\ncell: Check the units\n---\nCheck the units of $ARGUMENTS');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(
    settings.getByText('/check-units', { exact: true })
  ).toBeVisible();

  const notebook = await OpenNotebook.open(lab, PATH);
  await notebook.lines(0).first().click({ button: 'right' });
  await page.locator('.lm-Menu-item', { hasText: 'Agent Actions' }).hover();
  await expect(
    page.getByRole('menuitem', { name: 'Check the units' })
  ).toBeVisible();
  await page.keyboard.press('Escape');
});

test('files, selections and what a console printed go into the message', async ({
  agent: _,
  lab,
  notebooks
}) => {
  const { page } = lab;
  const chat = new Chat(lab);
  await notebooks.api.jupyter('PUT', 'contents/units.py', {
    type: 'file',
    format: 'text',
    content: 'KM = 1000\nMILE = 1609\n'
  });
  await chat.open();

  await test.step('from the file browser', async () => {
    await page.sidebar.openTab('filebrowser');
    await page
      .locator('.jp-DirListing-item')
      .filter({ hasText: 'units.py' })
      .click({ button: 'right' });
    await lab.picture('file-menu');
    await page.getByRole('menuitem', { name: 'Add to the Message' }).click();
    await expect(chat.field).toHaveValue('@/units.py ');
    await expect(chat.field).toBeFocused();
  });

  await test.step('from a file: what is selected', async () => {
    await lab.execute('docmanager:open', {
      path: 'units.py',
      factory: 'Editor'
    });
    const editor = page.locator('.jp-FileEditor .cm-content');
    await editor.getByText('MILE').click();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await editor.getByText('MILE').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Add to the Message' }).click();
    await expect(chat.composer.getByText('units.py, line 2')).toBeVisible();
  });

  await test.step('from a console: what ran last', async () => {
    await openConsole(lab);
    await page.keyboard.type('print(6 * 7)');
    await page.keyboard.press('Shift+Enter');
    const output = page.locator('.jp-CodeConsole-content .jp-OutputArea');
    await expect(output).toContainText('42');
    await output.click({ button: 'right' });
    await page
      .getByRole('menuitem', { name: 'Ask the Agent about This' })
      .click();
    await expect(chat.composer.getByText('Console 1')).toBeVisible();
    await lab.picture('added-to-message');
  });
  expect(lab.errors).toEqual([]);
});

test('what a terminal printed goes into the message', async ({
  agent: _,
  lab
}) => {
  const { page, panel } = lab;
  const chat = new Chat(lab);
  const terminal = page.locator('.jp-Terminal');
  const chips = chat.composer.getByRole('list', { name: 'Attachments' });
  const chip = panel.getByRole('button', { name: /^Show Terminal/ });
  const preview = panel.getByRole('group', { name: /^Terminal/ });
  await chat.open();
  await runInTerminal(lab, 'echo hello-from-terminal', 'hello-from-terminal');

  await test.step('added to the message, it is a chip with a preview', async () => {
    await terminal.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Add to the Message' }).click();
    await expect(chips).toContainText('Terminal');
    await chip.hover();
    await expect(preview).toContainText('echo hello-from-terminal');
    await expect(preview).toContainText(/^hello-from-terminal$/m);
    await lab.picture('terminal-added', ['light', 'dark', 'contrast']);
    await chat.field.hover();
    await expect(preview).toHaveCount(0);
    await chips.getByRole('button', { name: /^Remove/ }).click();
    await expect(chips).toHaveCount(0);
  });

  await test.step('to ask about it is the same, in a new conversation', async () => {
    await terminal.click({ button: 'right' });
    await page
      .getByRole('menuitem', { name: 'Ask the Agent about This' })
      .click();
    await expect(chips).toContainText('Terminal');
    await expect(chat.field).toBeFocused();
    await chip.hover();
    await expect(preview).toContainText('hello-from-terminal');
  });
  expect(lab.errors).toEqual([]);
  await page.evaluate(() =>
    window.galata.app.serviceManager.terminals.shutdownAll()
  );
});

test('a cell is changed as one writes in it, by the keyboard alone', async ({
  agent,
  lab,
  notebooks
}) => {
  const { keyboard } = lab.page;
  await notebooks.write(PATH, [
    { id: 'price', source: 'price = 3\ncount = 2' },
    { id: 'other', source: 'total = price * count' }
  ]);
  // What is asked for at the cell needs no further question.
  await lab.api.change({ autoApprovalEnabled: false });
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, PATH);
  const field = notebook.cell(0).getByRole('textbox', { name: /^Change cell/ });
  const status = notebook.cell(0).getByRole('status');

  await test.step('what is written in the cell is done', async () => {
    await notebook.edit(0);
    await keyboard.press('Control+Alt+j');
    await expect(field).toBeFocused();
    await lab.picture('cell-prompt', ['light', 'dark', 'contrast']);
    await keyboard.type('prices in cents');
    await keyboard.press('Enter');
    await agent.model.asked();
    await expect(status).toHaveText('The agent is changing this cell…');
    const { taskHistory } = await lab.api.get<IHistory>('history?limit=1');
    agent.task = taskHistory[0].id;
    expect(agent.model.told).toContain('prices in cents');
    expect(agent.model.told).toContain('count = 2');
    await agent.read(PATH);
    await agent.edit(PATH, {
      op: 'edit',
      cell: 'price',
      old: 'price = 3',
      new: 'price = 300'
    });
    await agent.model.finish('Prices are in cents now.');
    await expect(status).toHaveText('Changed. You can keep or undo it.');
    await expect(notebook.cell(0)).toContainText('price = 300');
    await lab.picture('cell-prompt-changed', ['light', 'dark', 'contrast']);
  });

  await test.step('it is done in another way', async () => {
    await notebook
      .cell(0)
      .getByRole('button', { name: 'Try again' })
      .press('Enter');
    await agent.model.asked();
    await expect(notebook.lines(0).first()).toHaveText('price = 3');
    expect(agent.model.told).toContain('Do it differently: prices in cents');
    await agent.read(PATH);
    const written = notebook
      .cell(0)
      .locator('.jp-hdspAgent-CellPrompt-preview');
    const id = await agent.model.order(
      'edit_cells',
      {
        path: PATH,
        operations: [
          {
            op: 'edit',
            cell: 'price',
            old: 'price = 3',
            new: `price = 3 * 100\n# ${'In cents, so that sums are exact. '.repeat(6)}`
          }
        ]
      },
      WATCHABLE
    );
    // It is seen while it is written.
    await expect(written).toContainText('+price = 3 * 100');
    await lab.picture('cell-prompt-written', ['light', 'dark', 'contrast']);
    await agent.model.resultOf(id);
    await expect(notebook.cell(0)).toContainText('price = 3 * 100');
    await expect(written).toBeEmpty();
    await agent.model.finish('Done.');
    await expect(status).toHaveText('Changed. You can keep or undo it.');
  });

  await test.step('what else it wants to do is asked about', async () => {
    await field.press('Control+a');
    await keyboard.type('and the total');
    await keyboard.press('Enter');
    await agent.model.asked();
    await agent.model.order('edit_cells', {
      path: PATH,
      operations: [
        { op: 'edit', cell: 'other', old: 'total', new: 'total_cents' }
      ]
    });
    await expect(status).toHaveText(
      'The agent needs your answer. Show the conversation.'
    );
    await expect(notebook.lines(1)).toHaveText(['total = price * count']);
    await notebook
      .cell(0)
      .getByRole('button', { name: 'Show conversation' })
      .press('Enter');
    await new Chat(lab).ask.getByRole('button', { name: /^Deny/ }).click();
    await agent.model.asked();
    await agent.model.finish('I left it.');
  });

  await test.step('the change is kept, and the field goes', async () => {
    await expect(status).toHaveText('The agent did not change this cell.');
    await notebook.edit(0);
    await keyboard.press('Control+Alt+Enter');
    await expect(
      notebook.cell(0).getByRole('button', { name: /^Keep/ })
    ).toHaveCount(0);
    await field.press('Escape');
    await expect(field).toHaveCount(0);
    await expect(notebook.lines(0).first()).toHaveText('price = 3 * 100');
  });

  await test.step('there is a checkpoint from before it', async () => {
    await new Timeline(lab).checkpoint('Before the agent changed cells');
  });

  await test.step('one Ctrl+Z takes all of it back', async () => {
    if (await notebook.isShared()) {
      // There the server writes, and Ctrl+Z is for what the person wrote.
      return;
    }
    await notebook.edit(0);
    await keyboard.press('Control+z');
    await expect(notebook.lines(0)).toHaveText(['price = 3', 'count = 2']);
  });
  expect(lab.errors).toEqual([]);
});

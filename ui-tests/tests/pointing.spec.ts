import { readdirSync, rmSync } from 'fs';
import * as path from 'path';

import { expect, test } from '../chat';
import { OpenNotebook } from '../notebooks';
import { LONG_ONLY } from '../longtests';
import { runInTerminal } from '../terminal';

const PATH = 'pointing.ipynb';

test('a message points at a section, a terminal, a checkpoint and a conversation', async ({
  chat,
  lab,
  model,
  notebooks,
  sharedServer
}) => {
  // A file that another story left may be found a moment later, and be the first.
  for (const name of readdirSync(sharedServer.root)) {
    rmSync(path.join(sharedServer.root, name), { recursive: true });
  }
  const { page, panel } = lab;
  const chips = chat.composer.getByRole('list', { name: 'Attachments' });
  const options = panel.getByRole('option');
  const point = async (query: string, option: RegExp, chip = option) => {
    await page.keyboard.type(`@${query}`);
    await expect(options.first()).toContainText(option);
    await page.keyboard.press('Enter');
    await expect(chips).toContainText(chip);
  };
  await notebooks.write(PATH, [
    { id: 'load', type: 'markdown', source: '# Load the data' },
    { id: 'read', source: 'rows = [1, 2, 3]' },
    { id: 'plot', type: 'markdown', source: '# Plots' }
  ]);

  await test.step('another conversation, and a checkpoint', async () => {
    await chat.begin('The palette is zebra.\nIt is for print.');
    await chat.finish(model, 'Noted.');
    await lab.beginAnother();
    const notebook = await OpenNotebook.open(lab, PATH);
    await notebook.edit(1);
    await lab.execute('hdsp-agent:save-checkpoint', { note: 'all is well' });
  });

  await test.step('a terminal has printed something', async () => {
    await runInTerminal(lab, 'echo "it is $((40 + 2))"', 'it is 42');
  });

  await test.step('each is chosen by the keyboard, and is a chip', async () => {
    await lab.openPanel();
    await chat.field.focus();
    await page.keyboard.type('Compare these. ');
    await point('Last', /Last output of/);
    await point('zebra', /The palette is zebra/);
    await point('well', /Checkpoint .*all is well/);
    await lab.execute('docmanager:open', { path: PATH });
    await chat.field.focus();
    await page.keyboard.press('End');
    await point('Load', /Section: Load the data/, /Cell 1/);
    await expect(chips).toContainText('Cell 2');
    await expect(chips).not.toContainText('Cell 3');
    // No checkpoint is saved to count what changed.
    await expect(chips).toContainText(
      /About [\d,]+ tokens, plus what is read when you send$/
    );
  });

  await test.step('a chip shows what is in it', async () => {
    const chip = panel.getByRole('button', { name: /^Show Last output of/ });
    const preview = panel.getByRole('group', { name: /^Last output of/ });
    await chip.hover();
    await expect(preview).toContainText('it is 42');
    await expect(preview).toContainText(/about \d+ tokens/);
    await lab.picture('pointing-chips', ['light', 'dark', 'contrast']);
    await chat.field.hover();
    await expect(preview).toHaveCount(0);
    await panel
      .getByRole('button', { name: /^Show .*The palette is zebra/ })
      .hover();
    await expect(
      panel.getByRole('group', { name: /The palette is zebra/ })
    ).toContainText(/about \d+ tokens/);
    await chip.focus();
    await page.keyboard.press('Enter');
    await expect(preview).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(preview).toHaveCount(0);
    await expect(chip).toBeFocused();
  });

  await test.step('the model is told all of it', async () => {
    await chat.field.focus();
    await page.keyboard.press('Enter');
    await chat.finish(model, 'Compared.');
    const { told } = model;
    expect(told).toContain('it is 42');
    expect(told).toContain('rows = [1, 2, 3]');
    expect(told).toContain('It is for print.');
    expect(told).toMatch(/No file has changed since|What changed in the files/);
    expect(told).not.toContain('Not attached');
    const said = chat.messages('You', 'Compare these.');
    await expect(said).not.toContainText('<attachment');
    await lab.picture('pointing-sent', ['light', 'dark', 'contrast']);
    await said.getByRole('button', { name: 'The palette is zebra' }).click();
    await expect(chat.messages('Agent', 'Noted.')).toBeVisible();
  });
  await page.evaluate(() =>
    window.galata.app.serviceManager.terminals.shutdownAll()
  );
});

test(
  'a variable, a picture of an output and a file are dragged into the message',
  { tag: LONG_ONLY },
  async ({ chat, lab, notebooks }) => {
    const { page } = lab;
    const chips = chat.composer.getByRole('list', { name: 'Attachments' });
    await notebooks.write(PATH, [
      { id: 'x', source: 'answer = 42' },
      {
        id: 'p',
        source:
          'import base64\nfrom IPython.display import Image\n' +
          'Image(base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), width=80, height=80)'
      }
    ]);
    await chat.open();
    const notebook = await OpenNotebook.open(lab, PATH);
    await notebook.edit(0);
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.press('Control+Enter');
    const picture = page.locator('.jp-OutputArea-output img');
    await expect(picture).toBeVisible();
    await lab.openPanel();
    await picture.dragTo(chat.field);
    await expect(chips.getByRole('img', { name: 'Image 1' })).toBeVisible();
    await lab.execute('hdsp-agent:open-variables');
    const view = page.getByRole('region', { name: 'Variables' });
    await view.getByRole('button', { name: /^answer/ }).dragTo(chat.field);
    await expect(chips).toContainText('answer');
    await expect(chat.field).toHaveValue('');
    // On the left there is room for one of both.
    await lab.execute('hdsp-agent:move-panel', { area: 'right' });
    await page.sidebar.openTab('filebrowser');
    await page
      .locator('.jp-DirListing-item')
      .filter({ hasText: PATH })
      .dragTo(chat.field);
    await expect(chat.field).toHaveValue(`@/${PATH} `);
    await lab.execute('hdsp-agent:move-panel', { area: 'left' });
  }
);

test('a message points at a table, and the model is told its columns alone', async ({
  chat,
  lab,
  model,
  notebooks
}) => {
  const { page, panel } = lab;
  await notebooks.write(PATH, [
    {
      id: 'db',
      source:
        'import sqlite3\nshop = sqlite3.connect(":memory:")\n' +
        '_ = shop.execute("create table customers (id integer primary key, name text)")\n' +
        '_ = shop.execute("insert into customers values (1, \'Zoe\')")'
    }
  ]);
  await chat.open();
  const notebook = await OpenNotebook.open(lab, PATH);
  await notebook.edit(0);
  await page.keyboard.press('Control+Enter');
  await expect(notebook.count(0)).toHaveText('[1]:');
  await lab.openPanel();
  await chat.field.focus();
  await page.keyboard.type('Who are they? @customers');
  const option = panel.getByRole('option', { name: 'customers Table in shop' });
  await expect(option).toBeVisible();
  await lab.picture('pointing-table', ['light', 'dark', 'contrast']);
  await page.keyboard.press('Enter');
  await panel
    .getByRole('button', { name: 'Show customers in shop' })
    .press('Enter');
  await expect(
    panel.getByRole('group', { name: /^customers in shop/ })
  ).toContainText('id INTEGER, primary key');
  await chat.field.focus();
  await page.keyboard.press('Enter');
  await chat.finish(model, 'One customer.');
  expect(model.told).toContain('name TEXT');
  expect(model.told).not.toContain('Zoe');
});

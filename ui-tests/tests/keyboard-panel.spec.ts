import type { Locator } from '@playwright/test';

import { Chat } from '../chat';
import type { Lab } from '../lab';
import { expectNames } from '../accessiblenames';
import { expect, OpenNotebook, test } from '../notebooks';
import { Timeline } from '../timeline';
import { LONG_ONLY } from '../longtests';

/**
 * Go to a button with Tab alone, see that it can be seen, and press it.
 */
async function press(
  lab: Lab,
  button: Locator,
  key: 'Tab' | 'Shift+Tab' = 'Tab'
): Promise<void> {
  await lab.tabTo(button, key);
  // What shows only where one points shows where the focus is.
  await expect
    .poll(() =>
      button.evaluate(node => {
        let least = 1;
        for (let at: Element | null = node; at; at = at.parentElement) {
          least = Math.min(least, Number(getComputedStyle(at).opacity));
        }
        return least;
      })
    )
    .toBe(1);
  await expect(button).toBeEnabled();
  await lab.page.keyboard.press('Enter');
}

test('mode, model and approvals are chosen without a mouse', async ({
  agent,
  lab
}) => {
  test.slow();
  const chat = new Chat(lab);
  const { keyboard } = lab.page;
  const { composer } = chat;
  const active = '[role="option"][data-active="true"]';
  await agent.api.change({ autoApprovalEnabled: false });
  await lab.visit();
  await keyboard.press('Control+Alt+y');
  await expect(chat.field).toBeFocused();
  await keyboard.type('Wait for me.');
  await keyboard.press('Enter');
  await agent.model.asked();
  await expect(chat.field).toBeFocused();

  await test.step('a mode from More', async () => {
    const mode = composer.getByRole('button', { name: /^Mode: / });
    await press(lab, mode);
    const list = composer.getByRole('listbox', { name: 'Mode' });
    await expect(list).toBeFocused();
    await press(lab, composer.getByRole('button', { name: 'More' }));
    await expect(list).toBeFocused();
    await expect(
      list.getByRole('group', { name: 'More' }).locator(active)
    ).toHaveCount(1);
    await lab.picture('keyboard-mode');
    await expectNames(lab.panel);
    await keyboard.press('Escape');
    await expect(list).toHaveCount(0);
    await expect(mode).toBeFocused();
  });

  await test.step('a model, by its name', async () => {
    const model = composer.getByRole('button', { name: /^Model: / });
    await press(lab, model);
    const search = composer.getByRole('combobox', { name: 'Search models' });
    await expect(search).toBeFocused();
    await keyboard.type('play');
    await expect(composer.locator(active)).toHaveText(/^played/);
    await keyboard.press('Enter');
    await expect(search).toHaveCount(0);
    await expect(model).toBeFocused();
  });

  await test.step('nothing is allowed on the way to a preset', async () => {
    const approvals = composer.getByRole('button', { name: /\(approvals\)$/ });
    const preset = (name: RegExp) => composer.getByRole('radio', { name });
    await expect(approvals).toHaveAccessibleName('Ask (approvals)');
    await press(lab, approvals);
    await lab.tabTo(preset(/^Ask /));
    for (const name of [/^Edit freely /, /^Edit and run /, /^Everything /]) {
      await keyboard.press('ArrowDown');
      await expect(preset(name)).toBeFocused();
      await expect(preset(name)).not.toBeChecked();
    }
    await expect(lab.page.locator('.jp-Dialog')).toHaveCount(0);
    await expect(approvals).toHaveAccessibleName('Ask (approvals)');
    await keyboard.press('ArrowUp');
    await keyboard.press('ArrowUp');
    await keyboard.press('Space');
    await expect(approvals).toHaveAccessibleName('Edit freely (approvals)');
    await expect(preset(/^Edit freely /)).toBeFocused();

    await keyboard.press('ArrowUp');
    await keyboard.press('ArrowUp');
    await keyboard.press('Enter');
    await expect(preset(/^Custom /)).toBeFocused();
    const box = composer.getByRole('checkbox', {
      name: 'Reading',
      exact: true
    });
    await lab.tabTo(box);
    await expect(box).toBeEnabled();
    await keyboard.press('Space');
    await expect(box).toBeChecked();
    await expect(box).toBeFocused();
    await lab.picture('keyboard-approvals');
    await expectNames(lab.panel);
    await keyboard.press('Escape');
    await expect(approvals).toBeFocused();
  });
  expect(lab.errors).toEqual([]);
});

test(
  'an answer is searched, rated, used and asked for anew without a mouse',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    test.slow();
    const { model } = agent;
    const chat = new Chat(lab);
    const { keyboard } = lab.page;
    const path = 'answer.ipynb';
    await notebooks.write(path, [{ id: 'first', source: 'a = 1' }]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await keyboard.press('Control+Alt+y');
    await expect(chat.field).toBeFocused();
    await keyboard.type('Which library is quick?');
    await keyboard.press('Enter');
    await model.say('It is **polars**:\n\n```python\nimport polars\n```');
    await chat.expectDone();
    const answer = chat.messages('Agent', 'It is polars');
    await expect(
      lab.panel.getByRole('status').filter({ hasText: 'It is polars' })
    ).toHaveText('It is polars:\nimport polars');

    await test.step('code goes into a cell', async () => {
      await press(
        lab,
        answer
          .getByRole('group', { name: 'Code: import polars' })
          .getByRole('button', { name: 'Insert as a new cell below' }),
        'Shift+Tab'
      );
      await expect(notebook.lines(1)).toHaveText(['import polars']);
      await expectSomewhere(lab);
      await keyboard.press('Control+Alt+y');
      await expect(chat.field).toBeFocused();
    });

    await test.step('say what was wrong', async () => {
      const bad = answer.getByRole('button', { name: 'Bad answer' });
      await press(lab, bad, 'Shift+Tab');
      const reason = answer.getByRole('textbox', { name: /^What was wrong/ });
      await expect(reason).toBeFocused();
      await keyboard.press('Escape');
      await expect(bad).toBeFocused();
      await expect(bad).toHaveAttribute('aria-pressed', 'true');
    });

    await test.step('find, and go on at what was found', async () => {
      await keyboard.press('Control+f');
      const field = lab.panel.getByRole('textbox', {
        name: 'Find in conversation'
      });
      await expect(field).toBeFocused();
      await keyboard.type('library');
      await expect(field.locator('..').getByRole('status')).toHaveText(
        '1 of 1 message'
      );
      await press(lab, chat.button('Next result'));
      await expect(chat.button('Next result')).toBeFocused();
      await keyboard.press('Escape');
      await expect(field).toHaveCount(0);
      await expect(chat.messages('You', 'Which library')).toBeFocused();
      // Out of the conversation in one step, whatever is in it.
      await keyboard.press('Control+Home');
      await expect(chat.button('Conversation actions')).toBeFocused();
    });

    await test.step('the menu of the conversation', async () => {
      await keyboard.press('Enter');
      const menu = lab.page.getByRole('menu').filter({ hasText: 'Branch' });
      await expect(menu).toBeVisible();
      await keyboard.press('Escape');
      await expect(menu).toHaveCount(0);
      await expect(chat.button('Conversation actions')).toBeFocused();
    });

    await test.step('try again', async () => {
      await press(lab, answer.getByRole('button', { name: 'Try again' }));
      await expect(answer).toHaveCount(0);
      await expect(chat.field).toBeFocused();
      await model.say('Use pandas.');
      await chat.expectDone();
      await expect(chat.field).toBeFocused();
    });

    await test.step('from one conversation to the other, and close one', async () => {
      await keyboard.press('Control+Alt+y');
      await keyboard.press('Control+Alt+Shift+y');
      await expect(lab.greeting).toBeVisible();
      await expect(chat.field).toBeFocused();
      const tab = chat.tabs.last();
      await lab.tabTo(tab, 'Shift+Tab');
      await keyboard.press('ArrowLeft');
      await expect(chat.tabs.first()).toBeFocused();
      await keyboard.press('Enter');
      await expect(chat.tabs.first()).toHaveAttribute('aria-selected', 'true');
      await expect(chat.tabs.first()).toBeFocused();
      await lab.picture('keyboard-tabs');
      await expectNames(lab.panel);
      await keyboard.press('Delete');
      await expect(lab.greeting).toBeVisible();
      await expectSomewhere(lab);
    });
    expect(lab.errors).toEqual([]);
  }
);

test('what the agent changed is kept, undone and restored without a mouse', async ({
  agent,
  lab,
  notebooks
}) => {
  test.slow();
  const { model } = agent;
  const chat = new Chat(lab);
  const { keyboard } = lab.page;
  const path = 'changes.ipynb';
  await notebooks.write(path, [
    { id: 'load', source: 'rows = 3' },
    { id: 'failed', source: 'rows / 0' }
  ]);
  await agent.api.change({ alwaysAllowRunCells: false });
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  await keyboard.press('Control+Alt+y');
  await expect(chat.field).toBeFocused();
  await keyboard.type('Load one row more.');
  await keyboard.press('Enter');
  await agent.read(path);
  const button = (name: string | RegExp) =>
    chat.ask.getByRole('button', { name });

  await test.step('run what the question names', async () => {
    const running = agent.call('run_cells', { path, cells: 'all' });
    await expect(chat.ask).toContainText('Run cells 1, 2?');
    await expect(
      lab.panel.getByRole('status').filter({ hasText: 'Run cells' })
    ).toHaveCount(1);
    await press(lab, button(/^Run$/), 'Shift+Tab');
    expect(await running).toContain('ZeroDivisionError');
    await expect(chat.field).toBeFocused();
    await expect(
      lab.panel.getByRole('alert').filter({ hasText: 'division' })
    ).toHaveText('Error: ZeroDivisionError: division by zero');
  });

  for (const [name, text] of [
    ['Keep all (2)', '4'],
    ['Undo all', '4']
  ] as const) {
    await test.step(name, async () => {
      const now = name === 'Undo all' ? '5' : text;
      await agent.read(path);
      await agent.edit(
        path,
        {
          op: 'edit',
          cell: 'load',
          old: name === 'Undo all' ? '4' : '3',
          new: now
        },
        { op: 'insert', after: 'failed', source: `print(${now})` }
      );
      await expect(
        notebook.panel.getByRole('button', { name: 'Undo, cell 1' })
      ).toBeVisible();
      await model.finish();
      await chat.expectDone();
      await expectNames(lab.panel);
      await press(lab, button(name), 'Shift+Tab');
      await expect(button(name)).toHaveCount(0);
      await expect(notebook.lines(0)).toHaveText([`rows = ${text}`]);
      // What was pressed is gone; the person can go on writing.
      await expect(chat.field).toBeFocused();
      await keyboard.type('Once more.');
      await keyboard.press('Enter');
      await model.asked();
    });
  }

  await test.step('the status bar leads to the question', async () => {
    await model.order('ask_followup_question', {
      question: 'Green or black?',
      follow_up: [{ text: 'Green' }]
    });
    await expect(chat.ask).toContainText('question for you');
    const item = lab.page.getByRole('button', {
      name: /^Agent: Waiting for you/
    });
    await press(lab, item);
    await expect(chat.messages('Question', 'Green or black?')).toBeFocused();
    await keyboard.press('Control+End');
    await expect(chat.feed.locator(':focus')).toHaveCount(0);
    await press(lab, button(/^Green$/));
    await expect(chat.field).toBeFocused();
    await model.finish();
    await chat.expectDone();
  });

  await test.step('the time line, and what a restore would do', async () => {
    const timeline = new Timeline(lab);
    await timeline.open();
    const rows = timeline.view.locator('.jp-hdspAgent-timeline-open');
    await lab.tabTo(rows.first());
    await keyboard.press('ArrowRight');
    await expect(rows.first()).toHaveAttribute('aria-expanded', 'true');
    const restore = timeline.view.getByRole('button', {
      name: 'Restore to before this step…'
    });
    await press(lab, restore);
    await expect(timeline.dialog).toBeVisible();
    await expect(timeline.dialog.locator(':focus')).toHaveCount(1);
    await lab.picture('keyboard-restore');
    await expectNames(timeline.view);
    await expectNames(timeline.dialog);
    await keyboard.press('Escape');
    await expect(timeline.dialog).toHaveCount(0);
    await expect(restore).toBeFocused();
    await keyboard.press('Escape');
    await expect(rows.first()).toBeFocused();
    await expect(rows.first()).toHaveAttribute('aria-expanded', 'false');
  });

  await test.step('fix a cell', async () => {
    await lab.execute('docmanager:open', { path });
    const fix = notebook.panel.getByRole('button', {
      name: 'Fix with agent, cell 2'
    });
    await fix.focus();
    await keyboard.press('Enter');
    await expect(
      lab.panel.getByRole('button', { name: /^Fix cell 2: ZeroDivisionError/ })
    ).toBeVisible();
    await expect(chat.field).toBeFocused();
    await lab.picture('keyboard-fix');
    await expectNames(lab.panel);
  });
  expect(lab.errors).toEqual([]);
});

/**
 * The focus is nowhere near the top of the page.
 */
async function expectSomewhere(lab: Lab): Promise<void> {
  await expect
    .poll(() =>
      lab.page.evaluate(
        () =>
          document.activeElement !== null &&
          document.activeElement !== document.body
      )
    )
    .toBe(true);
}

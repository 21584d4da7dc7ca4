import type { Locator } from '@playwright/test';

import { Chat } from '../chat';
import type { Lab } from '../lab';
import { expect, test } from '../notebooks';
import { LONG_ONLY } from '../longtests';

const TASKS = [
  'Plot the prices of tea',
  'Clean the table of visitors',
  'Count the words of the novel'
];

test.beforeEach(async ({ agent, lab }) => {
  const chat = new Chat(lab);
  await chat.open();
  for (const text of TASKS) {
    await chat.say(text);
    await agent.model.finish();
    await chat.expectDone();
    await lab.beginAnother();
  }
});

test.afterEach(({ lab }) => {
  expect(lab.errors).toEqual([]);
});

test('a past conversation is found by what was said, renamed, kept as a favorite and gone on with', async ({
  lab
}) => {
  test.slow();
  const rows = await openHistory(lab);
  await expect(rows).toHaveText([...TASKS].reverse().map(asPattern));
  await lab.picture('history');

  const search = lab.history.getByRole('searchbox', {
    name: 'Search conversations, notebooks and memory'
  });
  await search.fill('visitors');
  await expect(rows).toHaveText([asPattern(TASKS[1])]);
  await expect(rows.getByText('visitors', { exact: true })).toBeVisible();
  await lab.picture('history-search');

  await lab.history
    .getByRole('button', { name: `Actions for “${TASKS[1]}”` })
    .click();
  await lab.page
    .getByRole('menuitem', { name: 'Rename Conversation…' })
    .click();
  const dialog = lab.page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Who came');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await expect(rows).toHaveText([/^Who came/]);

  const favorite = lab.history.getByRole('button', {
    name: 'Favorite: “Who came”'
  });
  await favorite.click();
  await expect(favorite).toHaveAttribute('aria-pressed', 'true');
  await search.fill('');
  await expect(rows).toHaveCount(3);
  await lab.history.getByRole('button', { name: 'Favorites only' }).click();
  await expect(rows).toHaveText([/^Who came/]);

  await rows.click();
  const chat = new Chat(lab);
  await expect(chat.feed).toContainText(TASKS[1]);
  await expect(chat.tabs.filter({ hasText: 'Who came' })).toBeVisible();
  await chat.button('Details of this conversation').click();
  await expect(
    lab.panel.getByRole('region', { name: 'This conversation' })
  ).toContainText('Who came');
  await lab.picture('history-opened');
});

test(
  'one looks at the conversations of one folder',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    test.slow();
    const { taskHistory } = await lab.api.get<{
      taskHistory: { id: string; task: string }[];
    }>('history?limit=100');
    const visitors = taskHistory.find(({ task }) => task === TASKS[1]);
    await lab.api.place(visitors!.id, '/srv/shared/projects/visitors');
    const rows = await openHistory(lab);
    await expect(rows).toHaveCount(3);
    const filter = lab.history.getByRole('button', {
      name: 'Filter by folder, notebook and date'
    });
    await filter.click();
    const folder = lab.history.getByRole('combobox', { name: 'Folder' });
    await expect(folder.getByRole('option')).toHaveText([
      'Every folder',
      /\(2\)$/,
      '/srv/shared/projects/visitors (1)'
    ]);
    await folder.selectOption('/srv/shared/projects/visitors');
    await expect(rows).toHaveText([asPattern(TASKS[1])]);
    await expect(filter).toHaveAttribute('aria-pressed', 'true');
    await lab.picture('history-folder');
    await folder.selectOption('');
    await expect(rows).toHaveCount(3);
  }
);

test(
  'several conversations are deleted at once, and stay deleted',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    test.slow();
    const rows = await openHistory(lab);
    for (const text of TASKS.slice(0, 2)) {
      await lab.history
        .getByRole('checkbox', { name: `Select “${text}”` })
        .check();
    }
    await lab.picture('history-selected');
    await lab.history
      .getByRole('button', { name: 'Delete 2 conversations…' })
      .click();
    const dialog = lab.page.getByRole('dialog');
    await expect(dialog).toContainText('deleted for good');
    await lab.picture('history-delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();

    await expect(rows).toHaveText([asPattern(TASKS[2])]);
    await lab.reload();
    await lab.openPanel();
    await expect(await openHistory(lab)).toHaveText([asPattern(TASKS[2])]);
  }
);

test('what was used is plotted by model, and said in a table', async ({
  lab
}) => {
  test.slow();
  await openHistory(lab);
  await lab.history.getByRole('button', { name: 'Usage' }).click();
  const usage = lab.history.getByRole('region', { name: 'Usage' });
  await expect(
    usage.getByRole('img', { name: 'Tokens by day and model' })
  ).toBeVisible();
  await expect(usage.getByRole('list')).toHaveText('played');
  await lab.picture('statistics');

  await usage
    .getByRole('combobox', { name: 'Value to plot' })
    .selectOption('Requests');
  await usage.getByText('As a table').click();
  const table = usage.getByRole('table', { name: 'Requests by day and model' });
  await expect(table.getByRole('columnheader')).toHaveText(['Day', 'played']);
  // More than one row when a day ended meanwhile.
  await expect
    .poll(async () =>
      (await table.getByRole('cell').allTextContents())
        .map(Number)
        .reduce((sum, one) => sum + one, 0)
    )
    .toBe(3);
  await lab.picture('statistics-table');

  await lab.page.keyboard.press('Escape');
  await expect(lab.history).toBeHidden();
});

/**
 * Show past conversations; the buttons that open them.
 */
async function openHistory(lab: Lab): Promise<Locator> {
  await lab.panel
    .getByRole('button', { name: 'Past conversations', exact: true })
    .click();
  await expect(
    lab.history.getByRole('heading', { name: 'Past conversations' })
  ).toBeFocused();
  return lab.history.locator('[data-task]');
}

function asPattern(title: string): RegExp {
  return new RegExp(`^${title}`);
}

import type { Locator } from '@playwright/test';

import { expect, test } from '../chat';
import { OpenNotebook } from '../notebooks';
import { LONG_ONLY } from '../longtests';

function tool(message: Locator, name: string): Locator {
  return message
    .getByRole('group', { name: 'Answer actions' })
    .getByRole('button', { name, exact: true });
}

test('an answer is rated, copied, and tried again', async ({
  chat,
  context,
  lab,
  model
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => lab.page.evaluate(() => navigator.clipboard.readText());
  await chat.begin('Which library is quick?');
  await chat.finish(model, 'Use **pandas**.');
  const answer = chat.messages('Agent', 'pandas');

  await test.step('the buttons come when one points at the answer', async () => {
    await chat.field.hover();
    await expect(tool(answer, 'Try again').locator('..')).toHaveCSS(
      'opacity',
      '0'
    );
    await answer.hover();
    await expect(tool(answer, 'Try again').locator('..')).toHaveCSS(
      'opacity',
      '1'
    );
    await lab.picture('answer-tools');
  });

  await test.step('copy', async () => {
    await tool(answer, 'Copy as Markdown').click();
    await expect.poll(copied).toBe('Use **pandas**.');
    await lab.execute('hdsp-agent:copy-conversation');
    await expect.poll(copied).toContain('## Agent');
    expect(await copied()).toContain('Which library is quick?');
  });

  await test.step('a bad answer, and why', async () => {
    await answer.hover();
    await tool(answer, 'Bad answer').click();
    const reason = answer.getByRole('textbox', {
      name: 'What was wrong? (optional)'
    });
    await expect(reason).toBeFocused();
    await reason.fill('It is not the quickest.');
    await lab.picture('answer-reason');
    await reason.press('Enter');
    await expect(reason).toHaveCount(0);
    await expect(tool(answer, 'Bad answer')).toHaveAttribute(
      'aria-pressed',
      'true'
    );
    await expect(tool(answer, 'Bad answer')).toBeFocused();
  });

  await test.step('it is there after the page is loaded again', async () => {
    await chat.reload();
    await expect(tool(answer, 'Bad answer')).toHaveAttribute(
      'aria-pressed',
      'true'
    );
  });

  await test.step('try again, without a question', async () => {
    await answer.hover();
    await tool(answer, 'Try again').click();
    await expect(answer).toHaveCount(0);
    expect(model.told).not.toContain('pandas');
    await chat.finish(model, 'Use **polars**.');
    await expect(chat.messages('Agent', 'polars')).toBeInViewport();
    await expect(chat.messages('You', 'Which library')).toBeVisible();
    await lab.picture('answer-again');
  });

  await test.step('and undo that', async () => {
    await chat.undoBar
      .getByRole('button', { name: 'Undo', exact: true })
      .click();
    // The second answer is newer.
    await expect(chat.dialog).toContainText('The conversation has continued.');
    await chat.dialog.getByRole('button', { name: 'Undo' }).click();
    await expect(answer).toBeVisible();
    await expect(chat.messages('Agent', 'polars')).toHaveCount(0);
    await expect(tool(answer, 'Bad answer')).toHaveAttribute(
      'aria-pressed',
      'true'
    );
  });
});

test('the numbers of an answer lead to the outputs they come from', async ({
  chat,
  lab,
  model,
  notebooks
}) => {
  const { page } = lab;
  await notebooks.write('numbers.ipynb', [
    { id: 'title', type: 'markdown', source: '# Sales' },
    { id: 'mean', source: 'print("mean", 2469 / 200)' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, 'numbers.ipynb');
  await notebook.edit(1);
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('mean 12.345')).toBeVisible();
  await lab.openPanel();
  await chat.say('What is the mean of the 77.5 thousand rows?');
  await chat.finish(
    model,
    'The mean is 12.35, of 77.5 thousand; the sum is 999.'
  );
  const answer = chat.messages('Agent', 'The mean is');
  await answer.hover();
  await tool(answer, 'Check the numbers').click();
  const numbers = answer.getByRole('group', { name: 'Numbers of this answer' });
  await expect(numbers.getByRole('listitem')).toHaveText([
    '12.35 Output of cell 2',
    '77.5 thousand Only in your messages',
    '999 Not found'
  ]);
  await lab.picture('answer-numbers', ['light', 'dark', 'contrast']);
  await notebook.cell(0).click();
  await numbers.getByRole('button', { name: 'Output of cell 2' }).click();
  await expect(notebook.cell(1)).toHaveClass(/jp-mod-active/);
});

test(
  'an answer that wrote a file asks before it is tried again',
  { tag: LONG_ONLY },
  async ({ chat, lab, model }) => {
    await lab.api.change({
      autoApprovalEnabled: true,
      alwaysAllowWrite: true
    });
    await chat.begin('Write the notes down.');
    await model.asked();
    await model.call('write_to_file', { path: 'notes.md', content: 'a\n' });
    // It announces more, so that the turn goes on.
    await model.say('The notes are **written**. Last of all:');
    await chat.finish(model, 'All is **done**.');

    await test.step('not where nothing was done', async () => {
      const done = chat.messages('Agent', 'All is done.');
      await done.hover();
      await tool(done, 'Try again').click();
      await expect(done).toHaveCount(0);
      await model.call('write_to_file', { path: 'more.md', content: 'b\n' });
      await chat.finish(model, 'Now it is **done**.');
    });

    await test.step('but where a file would be left behind', async () => {
      const written = chat.messages('Agent', 'The notes are written.');
      await written.hover();
      await tool(written, 'Try again').click();
      await expect(chat.dialog).toContainText(
        'Discard this answer and try again?'
      );
      await expect(chat.dialog).toContainText('more.md');
      await lab.picture('answer-again-question');
      await chat.dialog.getByRole('button', { name: 'Cancel' }).click();
      await expect(written).toBeVisible();
    });
  }
);

test('code goes into the file in front, at the cursor', async ({
  chat,
  lab,
  model
}) => {
  await lab.api.jupyter('PUT', 'contents/load.py', {
    type: 'file',
    format: 'text',
    content: 'before\n'
  });
  await chat.begin('How do I load it?');
  await chat.finish(model, 'So:\n\n```python\nload()\n```');
  const insert = chat.button('Insert into the open file');
  await expect(chat.button('Copy this code')).toHaveCSS('opacity', '0');
  await expect(insert).toHaveCount(0);
  await lab.execute('docmanager:open', { path: 'load.py' });
  const editor = lab.page.locator('.jp-FileEditor .cm-content');
  await expect(editor).toHaveText(/before/);
  await expect(insert).toHaveCount(1);
  await chat.messages('Agent', 'So:').locator('pre').hover();
  await expect(insert).toHaveCSS('opacity', '1');
  await lab.picture('code-tools-file');
  await insert.click();
  await expect(editor).toHaveText(/load\(\)\s*before/);
});

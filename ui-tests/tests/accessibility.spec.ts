import { said } from '../agentapi';
import { Chat } from '../chat';
import { expect, test } from '../notebooks';
import { LONG_ONLY } from '../longtests';

/**
 * The colours are looked at in high contrast, too.
 */
const ALL = ['light', 'dark', 'contrast'] as const;

test(
  'axe finds nothing in the settings, and in the panel without a conversation',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    test.slow();
    const line = await lab.holdTheLine();
    await lab.visit();
    await lab.openPanel();
    await lab.picture('empty-panel', ALL);

    await lab.openSettings('models');
    await lab.settings
      .getByRole('combobox', { name: 'Provider' })
      .selectOption('Anthropic');
    await expect(
      lab.settings.getByRole('textbox', { name: 'Anthropic API key' })
    ).toBeVisible();
    await lab.picture('profiles', ALL);
    for (const section of ['keys', 'transfer']) {
      await lab.openSettings(section);
      await lab.picture(`section-${section}`, ALL);
    }

    // What is found stands unfolded, whatever group it belongs to.
    await lab.settings.getByRole('searchbox').fill('e');
    await expect(
      lab.settings.getByRole('spinbutton', { name: 'Largest image (MB)' })
    ).toBeVisible();
    const limit = lab.settings.getByRole('spinbutton', {
      name: 'Time limit of a shell command (s)'
    });
    await limit.fill('-1');
    await expect(limit).toHaveAttribute('aria-invalid', 'true');
    await lab.picture('everything', ALL);

    await lab.api.publish(said(Date.now(), 'A message.'), {
      type: 'noticesUpdated',
      notices: [
        {
          id: 'of-the-tests',
          level: 'error',
          code: 'of_the_tests',
          message: 'A notice.',
          params: {}
        }
      ]
    });
    await expect(lab.panel).toContainText('A notice.');
    await lab.openSettings('approvals');
    await line.cut();
    await expect(lab.banner).toBeVisible();
    await lab.picture('banner', ALL);
  }
);

test('everything works without a mouse', async ({ lab }) => {
  const { keyboard } = lab.page;
  await lab.visit();

  await keyboard.press('Control+Alt+y');
  await expect(
    lab.page.locator('.jp-hdspAgent-Panel:focus-within')
  ).toBeVisible();
  await lab.tabTo(
    lab.setup.getByRole('button', { name: 'All model and key settings' })
  );
  await keyboard.press('Enter');
  await expect(
    lab.settings.getByRole('searchbox', { name: 'Search settings' })
  ).toBeFocused();

  await lab.tabTo(lab.settings.getByRole('button', { name: 'Approvals' }));
  await keyboard.press('Enter');
  await lab.tabTo(
    lab.settings.getByRole('switch', { name: 'Reading', exact: true })
  );
  await keyboard.press('Space');
  await expect.poll(() => lab.api.setting('alwaysAllowReadOnly')).toBe(true);

  await lab.tabTo(
    lab.settings.getByRole('button', { name: 'Models and keys' }),
    'Shift+Tab'
  );
  await keyboard.press('Enter');
  await lab.tabTo(lab.settings.getByRole('combobox', { name: 'Provider' }));
  await keyboard.type('Anthropic');
  const key = lab.settings.getByRole('textbox', { name: 'Anthropic API key' });
  await lab.tabTo(key);
  await keyboard.type('sk-ant-of-the-keyboard');
  await keyboard.press('Enter');
  await expect(key).toHaveValue('');
  await expect(key).toHaveAccessibleDescription(/…oard/);
  await expect(key).toBeFocused();

  await keyboard.press('Control+Alt+y');
  await expect(new Chat(lab).field).toBeFocused();
});

test('changes of the connection are read aloud', async ({ lab }) => {
  const line = await lab.holdTheLine();
  await lab.visit();
  await lab.openPanel();
  await expect(lab.announced).toHaveText('HDSP Agent: Connected');
  const status = lab.panel.getByRole('status').first();
  await status.evaluate(node => {
    const said: string[] = [];
    Object.assign(window, { said });
    new MutationObserver(() => said.push(node.textContent ?? '')).observe(
      node,
      { characterData: true, childList: true, subtree: true }
    );
  });

  await line.cut();
  await expect(lab.banner).toContainText('Retrying in');
  line.mend();
  await lab.expectConnected();

  const said = await lab.page.evaluate(
    () => (window as unknown as { said: string[] }).said
  );
  expect(said[0]).toBe('HDSP Agent: Reconnecting…');
  expect(said.at(-1)).toBe('HDSP Agent: Connected');
  // A page that takes its time is offline in between; no try is told of.
  expect(said.slice(1, -1)).toEqual(
    said.length > 2 ? [expect.stringMatching(/^HDSP Agent: Offline/)] : []
  );
});

test('axe finds nothing in a conversation with rows of all kinds, and a question', async ({
  agent,
  lab,
  notebooks
}) => {
  // Nine states in three themes.
  test.slow();
  const { model } = agent;
  const chat = new Chat(lab);
  const path = 'rows.ipynb';
  await notebooks.write(path, [
    { id: 'load', source: 'rows = 3' },
    { id: 'failed', source: 'rows / 0' }
  ]);
  await agent.api.change({
    alwaysAllowExecute: true,
    allowedCommands: ['echo']
  });
  await lab.visit();
  await lab.openPanel();
  await chat.field.fill('Load one row more.');
  await chat.field.press('Enter');
  await agent.read(path);
  await agent.edit(
    path,
    { op: 'edit', cell: 'load', old: '3', new: '4' },
    { op: 'insert', after: 'load', source: 'print(rows)' }
  );
  await agent.run(path, 'all');
  await model.call('execute_command', { command: 'echo of the shell' });
  await model.call('update_todo_list', {
    todos: '[x] Load\n[-] Run\n[ ] Tell'
  });
  await model.call('read_file', { path: 'not-there.txt' });
  await lab.picture('conversation', ALL);
  await model.order('ask_followup_question', {
    question: 'What comes **next**?\n\n```python\nprint(rows)\n```',
    follow_up: [{ text: 'Plot it' }, { text: 'Nothing' }]
  });
  await expect(chat.ask).toContainText('question for you');
  await lab.picture('conversation-question', ALL);

  await lab.panel
    .getByRole('button', { name: 'Details of this conversation' })
    .click();
  await lab.picture('conversation-details', ALL);
  await chat.ask.getByRole('button', { name: 'Nothing', exact: true }).click();
  await agent.api.change({ alwaysAllowExecute: false });
  await model.order('execute_command', { command: 'pip install it' });
  await expect(chat.ask).toContainText('Run this command?');
  await chat.ask.getByRole('button', { name: 'Approve always…' }).click();
  await lab.picture('conversation-approval', ALL);
  await lab.page.keyboard.press('Escape');
  await chat.ask.getByRole('button', { name: 'Deny' }).click();
  await model.finish();
  await expect(chat.ask).toContainText('The agent is done.');
  await lab.picture('conversation-done', ALL);

  await lab.panel
    .getByRole('button', { name: 'Past conversations', exact: true })
    .click();
  await expect(lab.history).toContainText('Load one row more.');
  await lab.history.getByRole('button', { name: /^Filter by folder/ }).click();
  await lab.picture('history', ALL);
  await lab.history.getByRole('button', { name: 'Usage' }).click();
  await expect(lab.history.getByRole('img')).toBeVisible();
  await lab.history.getByText('As a table').click();
  await lab.picture('statistics', ALL);
  expect(lab.errors).toEqual([]);
});

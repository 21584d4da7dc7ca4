import * as path from 'path';

import { expectNames } from '../accessiblenames';
import type { Lab } from '../lab';
import { expect, test } from '../mcpprogram';
import { OpenNotebook, untilSignal } from '../notebooks';
import { Timeline } from '../timeline';
import { LONG_ONLY } from '../longtests';

const ALL = ['light', 'dark', 'contrast'] as const;
const AGENT = 'Claude Code';
const NOTEBOOK = 'analysis.ipynb';

/**
 * Where other agents connect.
 */
function endpoint(lab: Lab): string {
  return `${lab.api.url}/hdsp-agent/mcp`;
}

/**
 * What stands above the conversation of another agent.
 */
function header(lab: Lab) {
  return lab.panel.getByRole('region', { name: 'This conversation' });
}

test(
  'an agent is connected by what the page says',
  { tag: LONG_ONLY },
  async ({ chat: _, lab, sharedServer, startProgram }) => {
    test.slow();
    await lab.visit();
    await lab.execute('hdsp-agent:connect-agent');
    const lever = lab.settings.getByRole('switch', {
      name: 'Let other agents work in your notebooks'
    });
    await expect(lever).not.toBeChecked();
    await lab.picture('other-agents-off');
    await lever.click();
    const program = lab.settings.getByRole('combobox', { name: 'Program' });
    await expect(program.getByRole('option')).toHaveText([
      'Claude Code',
      'Codex',
      'Cursor',
      'VS Code',
      'Gemini CLI',
      'opencode',
      'Copilot CLI'
    ]);
    await lab.settings
      .getByRole('button', { name: 'Test the connection' })
      .click();
    await expect(lab.settings).toContainText('The connection works.');
    await lab.picture('other-agents-connect', ALL);
    await expectNames(lab.settings);

    await program.selectOption('Cursor');
    const text = lab.settings
      .getByRole('group', { name: /mcp\.json$/ })
      .first();
    const { mcpServers } = JSON.parse(await text.innerText()) as {
      mcpServers: Record<string, { command: string; args: string[] }>;
    };
    const [{ command, args }] = Object.values(mcpServers);
    const cursor = await startProgram('Cursor', {
      command,
      // As Cursor does it.
      args: args.map(arg =>
        arg.replace('${workspaceFolder}', sharedServer.root)
      ),
      cwd: sharedServer.root,
      env: {
        PATH: `${path.resolve(__dirname, '../../.venv/bin')}:${process.env.PATH}`,
        JUPYTER_RUNTIME_DIR: path.join(sharedServer.folder, 'runtime')
      }
    });
    expect(cursor.tools).toContain('edit_cells');
    const item = lab.settings.getByRole('listitem', {
      name: 'Cursor',
      exact: true
    });
    await expect(item).toContainText('2.1');
    await expect(item).toContainText('Idle');
    await lab.picture('other-agents-connected', ALL);
    await item
      .getByRole('combobox', { name: 'Without asking' })
      .selectOption('Edit freely');
    await expect(item).toContainText('Asks before it runs code.');
    await item
      .getByRole('combobox', { name: 'Without asking' })
      .selectOption('Ask');
    // To choose for an agent that is gone already is an error.
    await expect(item).toContainText('Asks before anything else.');
    await item.getByRole('button', { name: 'Disconnect… Cursor' }).click();
    await lab.page
      .getByRole('dialog')
      .getByRole('button', { name: 'Disconnect' })
      .click();
    await expect(lab.settings).toContainText('No agent is connected.');
  }
);

test(
  'connecting works without a mouse',
  { tag: LONG_ONLY },
  async ({ lab }) => {
    const { keyboard } = lab.page;
    await lab.visit();
    await lab.execute('hdsp-agent:connect-agent');
    const lever = lab.settings.getByRole('switch', {
      name: 'Let other agents work in your notebooks'
    });
    await lab.tabTo(lever);
    await keyboard.press('Space');
    await expect(lever).toBeChecked();
    await lab.tabTo(lab.settings.getByRole('combobox', { name: 'Program' }));
    await keyboard.type('Codex');
    await lab.tabTo(
      lab.settings.getByRole('radio', {
        name: 'On the machine Jupyter runs on'
      })
    );
    await keyboard.press('ArrowDown');
    await expect(lab.settings).toContainText('HDSP_AGENT_TOKEN');
    const copy = lab.settings
      .getByRole('button', { name: /^Cop(y|ied): / })
      .filter({ visible: true })
      .first();
    await lab.tabTo(copy);
    await keyboard.press('Enter');
    await expect(copy).toHaveText('Copied');
    const tried = lab.settings.getByRole('button', {
      name: 'Test the connection'
    });
    await lab.tabTo(tried);
    await keyboard.press('Enter');
    await expect(lab.settings).toContainText('The connection works.');
    await expect(tried).toBeFocused();
  }
);

test(
  'where the administrator lets no agent in, the page says so',
  { tag: LONG_ONLY },
  async ({ lab, startServer }) => {
    const server = await startServer({
      args: ['--HdspAgentApp.allow_mcp_server=False']
    });
    await lab.visit(server.url);
    await lab.execute('hdsp-agent:connect-agent');
    const lever = lab.settings.getByRole('switch', {
      name: 'Let other agents work in your notebooks'
    });
    await expect(lever).toBeDisabled();
    await expect(lever).not.toBeChecked();
    await expect(lab.settings).toContainText('Set by your administrator');
    await lab.picture('other-agents-forbidden');
  }
);

test('what another agent does is asked, and approved, denied, answered and stopped', async ({
  chat,
  lab,
  notebooks,
  startProgram
}) => {
  test.slow();
  const question = lab.panel.getByRole('group', {
    name: `${AGENT} is waiting for you`
  });
  await notebooks.write(NOTEBOOK, [
    { id: 'load', source: 'rows = 3' },
    { id: 'wait', source: untilSignal('never') }
  ]);
  await lab.api.change({ mcpServerEnabled: true });
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, NOTEBOOK);
  const claude = await startProgram(AGENT, endpoint(lab));
  const read = await claude.call('read_notebook', {
    path: NOTEBOOK,
    view: 'cells'
  });
  expect(read.text).toContain('rows = 3');

  await test.step('who does not see the panel is told, and led there', async () => {
    const edited = claude.call('edit_cells', {
      path: NOTEBOOK,
      operations: [{ op: 'edit', cell: 'load', old: '3', new: '4' }]
    });
    const note = lab.page.locator('.jp-toast-button', { hasText: 'Show' });
    await expect(lab.page.getByText(`${AGENT} is waiting`)).toBeVisible();
    await lab.picture('other-agent-asks-elsewhere');
    await note.click();
    await expect(question).toContainText('Edit cell 1?');
    await expect(header(lab)).toContainText(
      `${AGENT} is waiting for you in ${NOTEBOOK}`
    );
    await lab.picture('other-agent-asks', ALL);
    await expectNames(lab.panel);
    await chat.button('Apply').click();
    expect((await edited).isError).toBe(false);
    await expect(notebook.lines(0)).toHaveText(['rows = 4']);
    await expect(header(lab)).toContainText(
      `${AGENT} is connected to ${NOTEBOOK}`
    );
  });

  await test.step('denied, it is told so, and nothing runs', async () => {
    const run = claude.call('run_cells', { path: NOTEBOOK, cells: ['load'] });
    await expect(question).toContainText('Run cell 1?');
    await chat.button('Deny').click();
    const { isError, text } = await run;
    expect(isError).toBe(true);
    expect(text.toLowerCase()).toContain('denied');
    await expect(notebook.count(0)).toHaveText('[ ]:');
  });

  await test.step('what one writes goes along with its next result', async () => {
    await chat.field.fill('Please use polars.');
    await chat.field.press('Enter');
    await expect(lab.panel).toContainText(
      `1 message waits for the next step of ${AGENT}`
    );
    await lab.picture('other-agent-told');
    const { text } = await claude.call('list_kernels', {});
    expect(text).toContain('Please use polars.');
    await expect(chat.messages('You', 'Please use polars.')).toBeVisible();
  });

  await test.step('allowed for all its conversations, an edit is not asked', async () => {
    await chat.button('Ask (approvals)').click();
    await lab.panel.getByRole('radio', { name: /^Edit freely/ }).click();
    await expect(lab.panel).toContainText('In this conversation: Edit freely.');
    await lab.panel
      .getByRole('combobox', { name: 'Applies to' })
      .selectOption(`All conversations of ${AGENT}`);
    await expect(lab.panel).toContainText(
      `In all conversations of ${AGENT}: Edit freely.`
    );
    await lab.picture('other-agent-approvals');
    await lab.page.keyboard.press('Escape');
    const edit = { op: 'edit', cell: 'load', old: '4', new: '5' };
    const edited = await claude.call('edit_cells', {
      path: NOTEBOOK,
      operations: [edit]
    });
    expect(edited.isError).toBe(false);
    await expect(notebook.lines(0)).toHaveText(['rows = 5']);
  });

  await test.step('taken back from the panel, its edits are gone', async () => {
    const line = new Timeline(lab);
    const before = await line.checkpoint('Before the agent changed cells');
    await line.action(before, 'Restore').click();
    await line.accept('Restore');
    await expect(line.bar).toContainText('Restored:');
    await expect(notebook.lines(0)).toHaveText(['rows = 3']);
    await expect(header(lab)).toContainText(
      `${AGENT} is connected to ${NOTEBOOK}`
    );
  });

  await test.step('stopped, its cell is interrupted', async () => {
    const run = claude.call('run_cells', { path: NOTEBOOK, cells: ['wait'] });
    await chat.button('Run').click();
    await expect(header(lab)).toContainText(
      `${AGENT} is working on ${NOTEBOOK}`
    );
    await expect(notebook.count(1)).toHaveText('[*]:');
    await lab.picture('other-agent-works');
    await chat.button('Stop').click();
    expect((await run).isError).toBe(true);
    await expect(notebook.outputs(1)).toContainText('KeyboardInterrupt');
  });

  await test.step('it is found among past conversations by its name', async () => {
    await claude.dispose();
    await chat.button('Past conversations').click();
    const entry = chat.history.getByRole('button', { name: new RegExp(AGENT) });
    await expect(entry.first()).toBeVisible();
    await expect(entry.first()).toContainText(NOTEBOOK);
    await lab.picture('other-agent-past');
  });
});

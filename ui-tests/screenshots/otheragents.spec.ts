import * as path from 'path';

import { expect, test } from '../mcpprogram';
import { OpenNotebook } from '../notebooks';

const ROOT = path.resolve(__dirname, '../..');
const ASSETS = path.join(ROOT, 'docs/assets');
const NOTEBOOK = 'rain.ipynb';

test('how another agent is connected', async ({
  chat: _,
  lab,
  sharedServer
}) => {
  const { folder, root } = sharedServer;
  // The picture is of nobody's machine.
  await lab.page.route(/\/hdsp-agent\/api\/mcp\/server(\?|$)/, async route => {
    const response = await route.fetch();
    const body = (await response.text())
      .replaceAll(` --runtime-dir ${path.join(folder, 'runtime')}`, '')
      .replaceAll(path.join(ROOT, '.venv'), '/home/anna/jupyter')
      .replaceAll(root, '/home/anna/work');
    await route.fulfill({ response, body });
  });
  await lab.api.change({ mcpServerEnabled: true });
  await lab.visit();
  await lab.page.sidebar.close('left');
  await lab.execute('hdsp-agent:connect-agent');
  await expect(
    lab.settings.getByRole('button', { name: 'Test the connection' })
  ).toBeVisible();
  await lab.page.mouse.move(0, 0);
  await lab.settings.screenshot({
    path: path.join(ASSETS, 'other-agents.png'),
    animations: 'disabled'
  });
});

test('another agent asks', async ({ chat, lab, notebooks, startProgram }) => {
  await notebooks.write(NOTEBOOK, [
    { id: 'title', source: '# Rain per month', type: 'markdown' },
    { id: 'data', source: 'rain = [78, 64, 59, 51, 48, 44]' },
    { id: 'mean', source: 'sum(rain) / len(rains)' }
  ]);
  await lab.api.change({ mcpServerEnabled: true });
  await chat.open();
  await lab.page.sidebar.setWidth(430, 'left');
  await OpenNotebook.open(lab, NOTEBOOK);
  const program = await startProgram(
    'Claude Code',
    `${lab.api.url}/hdsp-agent/mcp`
  );
  await program.call('read_notebook', { path: NOTEBOOK, view: 'cells' });
  const edited = program.call('edit_cells', {
    path: NOTEBOOK,
    operations: [{ op: 'edit', cell: 'mean', old: 'rains', new: 'rain' }]
  });
  await lab.page.locator('.jp-toast-button', { hasText: 'Show' }).click();
  const question = lab.panel.getByRole('group', {
    name: 'Claude Code is waiting for you'
  });
  await expect(question).toContainText('Edit cell 3?');
  await expect(question.locator('[aria-disabled="true"]')).toHaveCount(0);
  await lab.page.mouse.move(0, 0);
  await lab.page.screenshot({
    path: path.join(ASSETS, 'other-agent-asks.png'),
    animations: 'disabled'
  });
  await chat.button('Deny').click();
  await edited;
});

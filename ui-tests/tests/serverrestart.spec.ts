import { AgentApi } from '../agentapi';
import { Chat } from '../chat';
import type { Lab } from '../lab';
import {
  AgentAtWork,
  expect,
  Notebooks,
  OpenNotebook,
  test,
  untilSignal
} from '../notebooks';
import { Timeline, valueOf } from '../timeline';
import { LONG_ONLY } from '../longtests';

const path = 'prices.ipynb';
const notice = (notebook: OpenNotebook) =>
  notebook.panel.locator('.jp-hdspAgent-KernelNotice');
const row = (notebook: OpenNotebook, index: number) =>
  notebook.cell(index).getByRole('group', { name: 'Changed by the agent' });
const count = (notebook: OpenNotebook, index: number) =>
  row(notebook, index).locator('.jp-hdspAgent-CellRow-count');

test('a person goes on in a notebook whose server was killed', async ({
  lab,
  model,
  request,
  startServer
}) => {
  test.slow();
  const server = await startServer();
  const api = new AgentApi(request, server.url);
  const notebooks = new Notebooks(api);
  const agent = new AgentAtWork(api, model);
  await agent.prepare();
  await notebooks.write(path, [
    { id: 'load', source: 'rows = [3, 4, 5]' },
    { id: 'mean', source: 'total = sum(rows)\nmean = total / 3' },
    { id: 'part', source: 'a = 1\nb = 2\nc = 3' },
    { id: 'gone', source: 'rows.clear()' }
  ]);
  await lab.visit(server.url);
  await lab.openPanel();
  const notebook = await OpenNotebook.open(lab, path);
  await closeWhatLabSays(lab, notebook);
  await notebook.edit(0);
  await lab.page.keyboard.press('Control+Enter');
  await expect(notebook.count(0)).toHaveText('[1]:');
  await notebook.save();
  await lab.execute('hdsp-agent:save-checkpoint', { path });
  await new Chat(lab).say('Tidy up.');
  await agent.read(path);
  await agent.edit(
    path,
    {
      op: 'replace',
      cell: 'mean',
      source: 'total = sum(rows)\nmean = total / len(rows)\nprint(mean)'
    },
    { op: 'replace', cell: 'part', source: 'a = 10\nb = 2\nc = 30' },
    { op: 'delete', cell: 'gone' }
  );
  await expect(count(notebook, 1)).toHaveText('+2 −1');
  await expect(count(notebook, 2)).toHaveText('+2 −2');
  // The first part is kept; the second waits.
  await notebook.cell(2).locator('button[name="accept"]').first().click();
  await expect(count(notebook, 2)).toHaveText('+1 −1');
  const deleted = notebook.panel.getByRole('group', {
    name: /^Cell deleted by the agent/
  });
  await expect(deleted).toBeVisible();
  const files = lab.panel.locator('.jp-hdspAgent-filechanges');
  await expect(files).toContainText('+4 −4');

  await server.kill();
  await server.start();
  await reconnect(lab);

  await expect(notice(notebook)).toContainText('its variables are gone');
  await expect.poll(() => valueOf(notebook, 'rows')).toContain('rows');
  await expect(count(notebook, 1)).toHaveText('+2 −1');
  await expect(count(notebook, 2)).toHaveText('+1 −1');
  await expect(files).toContainText('+4 −4');
  await lab.picture('kernel-restarted', ['light', 'dark', 'contrast']);
  const line = new Timeline(lab);
  await notice(notebook)
    .getByRole('button', { name: 'Restore variables…' })
    .click();
  await expect(line.dialog).toContainText('rows');
  await lab.picture('restore-variables-after-restart');
  await line.accept('Restore');
  await expect.poll(() => valueOf(notebook, 'rows')).toBe('[3, 4, 5]');
  await expect(notice(notebook)).toHaveCount(0);

  await lab.reload();
  const again = await OpenNotebook.open(lab, path);
  await expect(count(again, 1)).toHaveText('+2 −1');
  await expect(count(again, 2)).toHaveText('+1 −1');
  await expect(deleted).toBeVisible();
  await expect(notice(again)).toHaveCount(0);
  expect(await valueOf(again, 'rows')).toBe('[3, 4, 5]');
  await row(again, 1).getByRole('button', { name: 'Undo' }).click();
  await expect(again.lines(1)).toHaveText([
    'total = sum(rows)',
    'mean = total / 3'
  ]);
  await row(again, 2).getByRole('button', { name: 'Undo' }).click();
  await expect(again.lines(2)).toHaveText(['a = 10', 'b = 2', 'c = 3']);
  await again.panel
    .getByRole('group', { name: 'Cell deleted by the agent' })
    .getByRole('button', { name: 'Undo' })
    .click();
  await expect(again.lines(3)).toHaveText(['rows.clear()']);
  await agent.close();
});

test(
  'a notebook without a kernel gets none, and one where nothing ran says nothing',
  { tag: LONG_ONLY },
  async ({ lab, request, startServer }) => {
    test.slow();
    const server = await startServer();
    const notebooks = new Notebooks(new AgentApi(request, server.url));
    for (const name of ['none.ipynb', 'idle.ipynb']) {
      await notebooks.write(name, [{ id: 'only', source: 'a = 1' }]);
    }
    await lab.visit(server.url);
    await lab.openPanel();
    const notebook = await OpenNotebook.open(lab, 'none.ipynb');
    await closeWhatLabSays(lab, notebook);
    await lab.execute('kernelmenu:shutdown');
    await expect(notebook.panel.getByText('No Kernel')).toBeVisible();
    await OpenNotebook.open(lab, 'idle.ipynb');

    await server.stop();
    await server.start();
    await reconnect(lab);

    await expect(async () => {
      expect(await valueOf(notebook, '1 + 1')).toBe('2');
    }).toPass();
    await expect(notice(notebook)).toHaveCount(0);
    await lab.execute('docmanager:open', { path: 'none.ipynb' });
    await expect(notebook.panel.getByText('No Kernel')).toBeVisible();
  }
);

test(
  'the clock of a running cell stands still offline, and goes on from the truth',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    test.slow();
    await notebooks.write('slow.ipynb', [
      { id: 'slow', source: `${untilSignal('slow')}\nprint("done")` }
    ]);
    const line = await lab.holdTheLine();
    await lab.page.clock.install();
    await lab.visit();
    await lab.openPanel();
    await OpenNotebook.open(lab, 'slow.ipynb');
    await new Chat(lab).say('Run it.');
    const running = agent.run('slow.ipynb', 'slow');
    const clock = lab.panel.locator('.jp-hdspAgent-chat-badge', {
      hasText: 'Running for'
    });
    await expect(clock).toBeVisible();

    await line.cut();
    await expect(lab.banner).toBeVisible();
    const stopped = await clock.textContent();
    await lab.page.clock.fastForward('05:00');
    await expect(clock).toHaveText(stopped ?? '');
    await lab.picture('clock-offline');

    line.mend();
    await lab.expectConnectedAgain();
    await expect(clock).not.toHaveText(stopped ?? '');
    await expect(clock).not.toContainText('5 min');
    await notebooks.signal('slow');
    expect(await running).toContain('done');
    await expect(clock).toHaveCount(0);
  }
);

/**
 * Find the server again at once. Lab draws cells in steps, which a test's clock
 * would hold up.
 */
async function reconnect(lab: Lab): Promise<void> {
  await lab.execute('hdsp-agent:reconnect');
  await lab.expectConnected();
}

/**
 * Lab says itself that the server is gone, unless it is back before it looks.
 */
async function closeWhatLabSays(
  lab: Lab,
  notebook: OpenNotebook
): Promise<void> {
  await lab.page.addLocatorHandler(
    notebook.dialog.getByText('Server Connection Error'),
    () => notebook.dialog.getByRole('button').click()
  );
}

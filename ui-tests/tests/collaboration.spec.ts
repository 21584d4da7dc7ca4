import { AgentApi } from '../agentapi';
import {
  AgentAtWork,
  expect,
  Notebooks,
  OpenNotebook,
  test,
  untilSignal
} from '../notebooks';
import { collaboration } from '../server';

test('in a notebook shared in real time, the agent edits and runs as in any other', async ({
  lab,
  model,
  request,
  startServer
}) => {
  test.slow();
  const server = await startServer({ env: collaboration() });
  const api = new AgentApi(request, server.url);
  const notebooks = new Notebooks(api);
  const agent = new AgentAtWork(api, model);
  await agent.prepare();
  const path = 'shared.ipynb';
  await notebooks.write(path, [
    {
      id: 'load',
      source: `rows = 3\nprint(rows)\n${untilSignal('seen')}\nprint("end")`
    },
    { id: 'mine', source: 'note = 1' }
  ]);
  await lab.visit(server.url);
  const notebook = await OpenNotebook.open(lab, path);
  expect(await notebook.isShared()).toBe(true);
  await notebook.edit(1);
  await lab.page.keyboard.type(' # mine');

  await agent.start('Load one row more.');
  expect(await agent.read(path)).toContain('note = 1 # mine');
  await agent.edit(path, {
    op: 'edit',
    cell: 'load',
    old: 'rows = 3',
    new: 'rows = 4'
  });
  await expect(notebook.lines(0).first()).toHaveText('rows = 4');
  await expect(notebook.lines(1)).toHaveText(['note = 1 # mine']);

  const running = agent.run(path, 'load');
  await expect(notebook.outputs(0)).toHaveText('4');
  await lab.page.goto('about:blank');
  await notebooks.signal('seen');
  expect(await running).toContain('end');
  await expect
    .poll(() => notebooks.cells(path))
    .toMatchObject([
      { execution_count: 1, outputs: [{ text: '4\nend\n' }] },
      { source: 'note = 1 # mine' }
    ]);

  // Lab opens what was open before.
  await lab.page.goto(`${server.url}/lab`);
  const again = await OpenNotebook.open(lab, path);
  await expect(again.outputs(0)).toHaveText(/4\s+end/);
  await expect(again.count(0)).toHaveText('[1]:');
  await expect(again.lines(0).first()).toHaveText('rows = 4');
  await expect(again.dialog).toHaveCount(0);
  await agent.close();
});

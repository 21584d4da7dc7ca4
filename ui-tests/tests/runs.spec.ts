import { AgentApi } from '../agentapi';
import { IS_LONG, LONG_ONLY } from '../longtests';
import {
  AgentAtWork,
  expect,
  Notebooks,
  OpenNotebook,
  test,
  untilSignal
} from '../notebooks';

/**
 * How many lines of a thousand characters a cell prints.
 */
const FLOOD = IS_LONG ? 100_000 : 15_000;

test('a run outlives the tab, and a new tab shows all of it', async ({
  agent,
  lab,
  newTab,
  notebooks
}) => {
  const path = 'outlived.ipynb';
  await notebooks.write(path, [
    {
      id: 'long',
      source: [
        'print("first")',
        untilSignal('closed'),
        'print("second")',
        untilSignal('reopened'),
        'print("third")'
      ].join('\n')
    },
    { id: 'next', source: 'print("next")' }
  ]);
  await lab.visit();
  const before = await OpenNotebook.open(lab, path);
  await agent.start('Run it all.');
  const running = agent.run(path, 'all');
  await expect(before.outputs(0)).toHaveText('first');
  const other = await newTab();

  await lab.page.close({ runBeforeUnload: true });
  await notebooks.signal('closed');
  const after = await OpenNotebook.open(other, path);
  await expect(after.outputs(0)).toHaveText(/first\s+second/);
  await notebooks.signal('reopened');

  expect(await running).toContain('third');
  await expect(after.outputs(0)).toHaveText(/first\s+second\s+third/);
  await expect(after.outputs(1)).toHaveText('next');
  await expect(after.count(0)).toHaveText('[1]:');
  await after.expectSaved();
  expect(await notebooks.printed(path, 'long')).toBe('first\nsecond\nthird\n');
  expect(await notebooks.printed(path, 'next')).toBe('next\n');
  await after.save();
});

test(
  'a run without any tab ends up in the file',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const path = 'unseen.ipynb';
    await notebooks.write(path, [
      {
        id: 'long',
        source: `print("first")\n${untilSignal('unseen')}\nprint("second")`
      }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await agent.start('Run it.');
    const running = agent.run(path, 'long');
    await expect(notebook.outputs(0)).toHaveText('first');

    await lab.page.goto('about:blank');
    await notebooks.signal('unseen');

    expect(await running).toContain('second');
    expect(await notebooks.cell(path, 'long')).toMatchObject({
      execution_count: 1,
      outputs: [{ text: 'first\nsecond\n' }]
    });
  }
);

test(
  'an open notebook points to its checkpoints once it is saved anyway, and is clean until then',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const path = 'pointers.ipynb';
    await notebooks.write(path, [
      { id: 'first', source: 'rows = [3]' },
      { id: 'second', source: 'columns = [4]' },
      { id: 'mine', source: 'note = 1' }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await agent.start('Run it.');
    const pointer = async (id: string) =>
      (await notebooks.cell(path, id))?.metadata?.hdsp_checkpoint;
    await agent.run(path, 'first');
    await agent.run(path, 'second');
    // What the first run left behind came with the second one's outputs.
    await expect
      .poll(() => pointer('first'))
      .toMatchObject({ variables: ['rows'] });
    expect(await pointer('second')).toBeUndefined();
    expect(await notebook.isDirty()).toBe(false);

    await agent.read(path);
    expect(await notebook.isDirty()).toBe(false);
    await notebook.edit(2);
    await lab.page.keyboard.type(' + 1');
    await notebook.save();
    await expect
      .poll(() => pointer('second'))
      .toMatchObject({ variables: ['columns', 'rows'] });
    await notebook.edit(2);
    await lab.page.keyboard.press('Control+z');
    await expect(notebook.lines(2)).toHaveText(['note = 1']);
    await lab.page.keyboard.press('Escape');
    await lab.page.keyboard.press('z');
    await notebook.save();
    expect(await pointer('second')).toMatchObject({
      variables: ['columns', 'rows']
    });
  }
);

test('a kernel that is killed in a cell is told of, and the next run works', async ({
  agent,
  lab,
  notebooks
}) => {
  const path = 'killed.ipynb';
  await notebooks.write(path, [
    {
      id: 'pid',
      source: `import os\nprint("pid", os.getpid())\n${untilSignal('never')}`
    },
    { id: 'next', source: 'print("alive")' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  // Lab's own word on a kernel that died; a kernel that is back at once is none to it.
  await lab.page.addLocatorHandler(
    notebook.dialog.getByRole('button', { name: 'Ok' }),
    button => button.click()
  );
  await agent.start('Run it.');
  const running = agent.run(path, 'pid', 'next');
  await expect(notebook.outputs(0)).toHaveText(/pid \d+/);
  const said = await notebook.outputs(0).textContent();
  process.kill(Number(said?.match(/\d+/)?.[0]), 'SIGKILL');

  expect(await running).toMatch(/died|dead|killed/i);
  expect(await notebooks.printed(path, 'pid')).toMatch(/^pid \d+\n/);

  expect(await agent.run(path, 'next')).toContain('alive');
  await expect(notebook.outputs(1)).toHaveText('alive');
  await expect(notebook.count(1)).toHaveText('[1]:');
  await notebook.save();
});

test(
  'a notebook that is renamed in a run goes on under its new name',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const path = 'old-name.ipynb';
    const renamed = 'new-name.ipynb';
    await notebooks.write(path, [
      {
        id: 'long',
        source: `print("first")\n${untilSignal('renamed')}\nprint("second")`
      }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await agent.start('Run it.');
    await agent.read(path);
    const running = agent.run(path, 'long');
    await expect(notebook.outputs(0)).toHaveText('first');

    await notebook.rename(renamed);
    await notebooks.signal('renamed');

    expect(await running).toContain('second');
    await expect(notebook.outputs(0)).toHaveText(/first\s+second/);
    await notebook.expectSaved();
    expect(await notebooks.printed(renamed, 'long')).toBe('first\nsecond\n');
    expect(await notebooks.exists(path)).toBe(false);
    await agent.edit(renamed, {
      op: 'edit',
      cell: 'long',
      old: 'first',
      new: 'FIRST'
    });
    await expect(notebook.lines(0).first()).toHaveText('print("FIRST")');
    expect(await notebooks.exists(path)).toBe(false);
    await notebook.save();
  }
);

test('images are in the notebook and before the model, and widgets are alive', async ({
  agent,
  lab,
  notebooks
}) => {
  test.slow();
  const path = 'pictures.ipynb';
  await notebooks.write(path, [
    {
      id: 'plot',
      source: [
        '%matplotlib inline',
        'import matplotlib.pyplot as plt',
        'plt.plot([1, 3, 2])',
        'plt.show()'
      ].join('\n')
    },
    {
      id: 'slider',
      source: [
        'import ipywidgets',
        "slider = ipywidgets.IntSlider(description='Rows', value=3)",
        'slider'
      ].join('\n')
    },
    { id: 'value', source: 'print(slider.value)' }
  ]);
  await lab.visit();
  const notebook = await OpenNotebook.open(lab, path);
  await agent.start('Plot it.');
  await agent.run(path, 'plot', 'slider');

  await expect(notebook.outputs(0).getByRole('img')).toBeVisible();
  expect(agent.model.images.at(-1)).toMatch(/^data:image\/png;base64,/);
  const slider = notebook.outputs(1).getByRole('slider');
  await expect(slider).toBeVisible();
  await lab.picture('notebook-image-and-widget');

  await slider.focus();
  await slider.press('ArrowRight');
  await expect(notebook.outputs(1)).toContainText('4');
  expect(await agent.run(path, 'value')).toContain('4');
  await expect(slider).toBeVisible();
  await notebook.save();
  expect(
    (await notebooks.cell(path, 'plot'))?.outputs?.[0].data
  ).toHaveProperty('image/png');
});

test(
  'a flood of prints hurts neither server nor tab',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    test.slow();
    const path = 'flood.ipynb';
    const line = 'x'.repeat(999);
    await notebooks.write(path, [
      {
        id: 'flood',
        source: [
          "line = 'x' * 999",
          `for number in range(${FLOOD}):`,
          '    print(line)',
          "print('the end')"
        ].join('\n')
      },
      { id: 'next', source: 'print("next")' }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await agent.start('Run it.');
    const running = agent.run(path, 'flood');
    await expect(notebook.outputs(0)).toContainText(line);
    let isRunning = true;
    void running.finally(() => (isRunning = false));
    let answers = 0;
    while (isRunning) {
      await lab.api.jupyter('GET', 'status');
      await lab.page.evaluate(
        () => new Promise(resolve => requestAnimationFrame(resolve))
      );
      answers++;
    }

    expect(await running).toContain('the end');
    // Both answered while it ran, and not only once it was over.
    expect(answers).toBeGreaterThan(3);
    await expect(notebook.outputs(0)).toContainText('the end');
    const shown = await notebook.outputs(0).textContent();
    expect(shown?.length).toBeLessThan(1_000_000);
    await notebook.expectSaved();
    expect((await notebooks.printed(path, 'flood')).length).toBeLessThan(
      1_000_000
    );
    expect(await agent.run(path, 'next')).toContain('next');
    await notebook.save();
  }
);

test('a task whose server is restarted in a run goes on, and nothing is lost', async ({
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
  const path = 'restarted.ipynb';
  await notebooks.write(path, [
    {
      id: 'long',
      source: `print("first")\n${untilSignal('restarted')}\nprint("second")`
    },
    { id: 'mine', source: 'note = 1' }
  ]);
  await lab.page.clock.install();
  await lab.visit(server.url);
  await lab.openPanel();
  const notebook = await OpenNotebook.open(lab, path);
  await agent.start('Run it.');
  const running = agent.run(path, 'long');
  await expect(notebook.outputs(0)).toHaveText('first');
  await notebook.edit(1);
  await lab.page.keyboard.type(' # mine');

  // Lab says this itself, unless the server is back before it looks.
  await lab.page.addLocatorHandler(
    notebook.dialog.getByText('Server Connection Error'),
    () => notebook.dialog.getByRole('button').click()
  );
  await server.stop();
  await server.start();
  await lab.expectConnectedAgain();
  await agent.resume();

  expect(await running).toMatch(/stop|interrupt|restart/i);
  expect(await notebooks.printed(path, 'long')).toContain('first\n');
  await expect(notebook.outputs(0)).toContainText('first');
  await expect(notebook.lines(1)).toHaveText(['note = 1 # mine']);
  await notebooks.signal('restarted');
  expect(await agent.run(path, 'long')).toContain('second');
  await expect(notebook.outputs(0)).toHaveText(/first\s+second/);
  await notebook.expectSaved();
  await notebook.save();
  expect(await notebooks.cells(path)).toMatchObject([
    { outputs: [{ text: 'first\nsecond\n' }] },
    { source: 'note = 1 # mine' }
  ]);
  await agent.close();
});

test(
  'what the agent prints into an output widget is shown in the widget',
  { tag: LONG_ONLY },
  async ({ agent, lab, notebooks }) => {
    const path = 'widget.ipynb';
    await notebooks.write(path, [
      {
        id: 'made',
        source: 'from ipywidgets import Output\nout = Output()\nout'
      },
      {
        id: 'filled',
        source: 'with out:\n    print("inside")\nprint("outside")'
      }
    ]);
    await lab.visit();
    const notebook = await OpenNotebook.open(lab, path);
    await agent.start('Run it.');
    await agent.run(path, 'made');
    await agent.run(path, 'filled');

    const widget = notebook
      .outputs(0)
      .locator('.jupyter-widgets .jp-OutputArea');
    await expect(widget).toHaveText('inside');
    await expect(notebook.outputs(1)).toHaveText('outside');
  }
);

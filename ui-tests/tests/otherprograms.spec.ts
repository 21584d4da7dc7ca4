import type { Lab } from '../lab';
import { IS_LONG } from '../longtests';
import { expect, test as chatTest } from '../chat';
import { OpenNotebook } from '../notebooks';
import type { ISnippet } from '../otherprograms';
import { OTHER_PROGRAMS, Place } from '../otherprograms';
import { ProgramModel } from '../programmodel';
import { Timeline } from '../timeline';

const NOTEBOOK = 'sales.ipynb';
const ADDED = 'total = rows * 2';
const ADD = {
  tool: 'edit_cells',
  args: {
    path: NOTEBOOK,
    operations: [{ op: 'insert', after: 'load', source: ADDED }]
  }
};

interface IFixtures {
  /**
   * Where programs run that last as long as the test.
   */
  place: Place;

  /**
   * The model of those programs.
   */
  programModel: ProgramModel;
}

const test = chatTest.extend<IFixtures>({
  place: async ({ sharedServer }, use, info) => {
    const place = new Place(info.outputPath('home'), sharedServer.root);
    await use(place);
    place.dispose();
  },

  // eslint-disable-next-line no-empty-pattern -- Playwright reads from the pattern what a fixture needs.
  programModel: async ({}, use) => {
    const model = await ProgramModel.start([
      { tool: 'read_notebook', args: { path: NOTEBOOK, view: 'cells' } },
      ADD,
      ADD
    ]);
    await use(model);
    await model.dispose();
  }
});

test.skip(!IS_LONG, 'The programs are more than a gigabyte: make test-long.');

/**
 * Let other agents in, and look up what to paste for one.
 */
async function connecting(lab: Lab, name: string): Promise<ISnippet> {
  await lab.execute('hdsp-agent:connect-agent');
  await lab.settings
    .getByRole('switch', { name: 'Let other agents work in your notebooks' })
    .click();
  await lab.settings
    .getByRole('combobox', { name: 'Program' })
    .selectOption(name);
  const text = lab.settings
    .getByRole('group', { name: 'Connect an agent' })
    .locator('.jp-hdspSettings-prompt')
    .first();
  return {
    label: (await text.getAttribute('aria-label')) ?? '',
    text: await text.innerText()
  };
}

for (const { name, toolName, use } of OTHER_PROGRAMS) {
  test(`${name} adds a cell to an open notebook, is denied, approved and undone`, async ({
    chat,
    lab,
    notebooks,
    place,
    programModel
  }) => {
    test.slow();
    const question = lab.panel.getByRole('group', {
      name: `${name} is waiting for you`
    });
    const told = (step: number) => programModel.results[step] ?? '';
    programModel.nameOf = toolName;
    await notebooks.write(NOTEBOOK, [{ id: 'load', source: 'rows = 3' }]);
    await lab.visit();
    const snippet = await connecting(lab, name);
    const notebook = await OpenNotebook.open(lab, NOTEBOOK);
    const said = use(place, snippet, programModel);

    await test.step('denied, nothing is changed, and its model is told so', async () => {
      const note = lab.page.locator('.jp-toast-button', { hasText: 'Show' });
      // Whatever keeps it from asking is in what it says.
      await Promise.race([
        note.click(),
        said.then(text => Promise.reject(new Error(`It ended: ${text}`)))
      ]);
      await expect(question).toContainText('Add a cell?');
      await expect(chat.feed).toContainText(ADDED);
      await lab.picture(`${name}-asks`);
      expect(told(0)).toContain('rows = 3');
      await chat.button('Deny').click();
      await expect.poll(() => told(1).toLowerCase()).toContain('denied');
      await expect(notebook.cell(1)).toHaveCount(0);
    });

    await test.step('approved, the cell is in the open notebook', async () => {
      await expect(question).toContainText('Add a cell?');
      await chat.button('Apply').click();
      await expect(notebook.lines(1)).toHaveText([ADDED]);
      expect(await said).toContain('All is done.');
      expect(told(2)).toContain(`Changed ${NOTEBOOK}`);
      await lab.picture(`${name}-added`);
    });

    await test.step('undone from the panel, the cell is gone', async () => {
      const line = new Timeline(lab);
      const before = await line.checkpoint('Before the agent changed cells');
      await line.action(before, 'Restore').click();
      await line.accept('Restore');
      await expect(line.bar).toContainText('Restored:');
      await expect(notebook.cell(1)).toHaveCount(0);
      await expect(
        lab.panel.getByRole('region', { name: 'This conversation' })
      ).toContainText(/(is connected to|worked on) sales\.ipynb/);
      await expect(chat.button('Stop')).toHaveCount(0);
      await lab.picture(`${name}-undone`);
    });
  });
}

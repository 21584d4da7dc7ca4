import { expect, test } from '../chat';
import { Notebooks } from '../notebooks';

test.beforeEach(async ({ lab }) => {
  await lab.api.forgetMemory();
  await new Notebooks(lab.api).write('flats.ipynb', [
    { id: 'title', type: 'markdown', source: '# Flats' },
    { id: 'colors', source: "palette = 'zebra'" }
  ]);
});

test.afterEach(({ lab }) => lab.api.forgetMemory());

test('what was said, remembered and written is found again, by the agent and by the person', async ({
  chat,
  lab,
  model
}) => {
  test.slow();
  const { history } = lab;

  await test.step('something is said, something is remembered', async () => {
    await chat.begin('Remember which palette I want.');
    await model.order('remember', { text: 'Zebra is for the printed plots' });
    await chat.answer('Remember this', 'Remember');
    await chat.finish(model, 'The zebra palette is used for all plots.');
    await expect(chat.feed).not.toContainText('From memory and search');
    await lab.api.updateSearch();
  });

  await test.step('the agent searches; its row has what it found', async () => {
    await lab.beginAnother();
    await chat.say('Plot the flats.');
    await model.order('search_tasks', { query: 'zebra' });
    await chat.answer(
      'Search your conversations and notebooks for “zebra”?',
      'Approve'
    );
    const row = chat.messages('Tool', 'zebra');
    await expect(row).toHaveCount(1);
    const fold = row.getByRole('button', { name: /passages found$/ });
    await fold.click();
    await expect(row.getByRole('listitem').first()).toBeVisible();
    await expect(row.locator('mark').first()).toHaveText(/zebra/i);
    await lab.picture('recall-search-row');
    await fold.click();
    await chat.expectAtEnd();
  });

  await test.step('the answer says what it was given for', async () => {
    await chat.finish(model, 'Plotted.');
    await chat
      .button(
        /^From memory and search: 1 note, \d+ conversations?, \d+ notebooks?/
      )
      .click();
    const answer = chat.messages('Agent', 'Plotted.');
    await expect(
      answer.getByRole('list', { name: 'Given to the model' })
    ).toContainText('Zebra is for the printed plots');
    await lab.picture('recall-used');
    await answer
      .getByRole('list', { name: 'Read by the agent' })
      .getByRole('button', { name: 'flats.ipynb' })
      .click();
    await expect(
      lab.page.locator('.jp-Notebook .jp-Cell.jp-mod-active')
    ).toContainText('zebra');
    await chat.button('Zebra is for the printed plots').click();
    await expect(lab.settings).toContainText('Zebra is for the printed plots');
  });

  await test.step('the palette leads to a search of everything', async () => {
    await lab.execute('hdsp-agent:search', { query: 'zebra' });
    const field = history.getByRole('searchbox', {
      name: 'Search conversations, notebooks and memory'
    });
    await expect(field).toBeFocused();
    await expect(field).toHaveValue('zebra');
    await expect(
      history.getByRole('list', { name: 'In memory' }).getByRole('listitem')
    ).toHaveText([/Zebra is for the printed plots/]);
    await expect(
      history
        .getByRole('list', { name: 'In notebooks' })
        .locator('mark')
        .first()
    ).toHaveText('zebra');
    await expect(
      history.getByRole('list', { name: 'In conversations' })
    ).toContainText('The zebra palette is used for all plots.');
    await lab.picture('recall-history');
  });

  await test.step('the keys lead from one to the next, and to where it stands', async () => {
    const found = history
      .getByRole('list', { name: 'In conversations' })
      .getByRole('button');
    await found.first().focus();
    await lab.page.keyboard.press('ArrowDown');
    await lab.page.keyboard.press('Home');
    await expect(found.first()).toBeFocused();
    await found.filter({ hasText: 'used for all plots' }).press('Enter');
    await expect(
      chat.messages('Agent', 'The zebra palette is used for all plots.')
    ).toBeFocused();
    await lab.picture('recall-opened');
  });

  await test.step('where nothing is found, words say so', async () => {
    await lab.execute('hdsp-agent:search', { query: 'photosynthesis' });
    await expect(history).toContainText(
      'Nothing matches in conversations, notebooks or memory.'
    );
    await lab.picture('recall-nothing');
  });
});

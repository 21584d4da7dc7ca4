import { expect, test } from '../chat';

/**
 * How many tools the model calls in one answer, and how often it answers.
 */
const CALLS = 30;
const ANSWERS = 8;

test('a long conversation opens at its end, scrolls up to its beginning, and is found', async ({
  chat,
  lab,
  model
}) => {
  // Hundreds of tools run, one after the other.
  test.setTimeout(600_000);
  await lab.api.change({
    autoApprovalEnabled: true,
    alwaysAllowReadOnly: true
  });
  await chat.begin('Look for the pangolin in every folder.');
  for (let answer = 0; answer < ANSWERS; answer++) {
    await model.beginAll(
      Array.from({ length: CALLS }, (_, call) => ({
        name: 'search_files',
        args: { path: '.', regex: `pangolin-${answer}-${call}` }
      }))
    );
  }
  await chat.finish(model, 'It was in the last folder.');
  await chat.reload();

  await test.step('it opens at the end', async () => {
    await expect(
      chat.messages('Agent', 'It was in the last folder.')
    ).toBeInViewport();
    await chat.expectAtEnd();
  });

  await test.step('only a part of it is on the page', async () => {
    expect(await chat.feed.getByRole('article').count()).toBeLessThan(80);
  });

  await test.step('one scrolls up through older messages', async () => {
    const first = chat.messages('You', 'Look for the pangolin');
    await chat.feed.hover();
    await expect(async () => {
      await lab.page.mouse.wheel(0, -3_000);
      await expect(first).toBeInViewport({ timeout: 200 });
    }).toPass({ intervals: [50], timeout: 120_000 });
    await lab.picture('chat-long');
  });

  await test.step('and back to the newest', async () => {
    await chat.button('To the newest message').click();
    await expect(
      chat.messages('Agent', 'It was in the last folder.')
    ).toBeInViewport();
    await chat.expectAtEnd();
  });

  await test.step('the search in past conversations finds it', async () => {
    await chat.button('New conversation').first().click();
    await expect(chat.feed).toHaveCount(0);
    await chat.button('Past conversations').click();
    const search = chat.history.getByRole('searchbox', {
      name: 'Search conversations, notebooks and memory'
    });
    await search.fill('no such words');
    const rows = chat.history
      .getByRole('list', { name: 'Conversations' })
      .getByRole('listitem');
    await expect(rows).toHaveCount(0);
    await search.fill('pangolin');
    await expect(rows).toHaveCount(1);
    await expect(rows).toContainText('done');
    await lab.picture('chat-history');
    await rows.getByRole('button', { name: /^Look for the pangolin/ }).click();
    await expect(
      chat.messages('Agent', 'It was in the last folder.')
    ).toBeInViewport();
  });
});
